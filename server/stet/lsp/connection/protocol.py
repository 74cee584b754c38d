"""The framework's server with Stet's changes: every departure from pygls, each with its reason.

pygls provides the types, the capability builder, the registration of handlers and the requests to
the editor. Stet itself reads messages (`stdio`), dispatches them (`StetProtocol.receive`) and
stores the text (`TextSync`): pygls rebuilds the whole document for every keystroke and splits lines
at characters that do not end a line. Public hooks are used if they exist (`converter_factory`,
`report_server_error`, `lsp_method`); the docstrings of the two overridden private methods have the
reason.

The converter from JSON does not record the path of the value that it converts: its generated code
is then a third of the size; generating it takes a tenth of the time to the answer of `initialize`.
A message that it refuses is converted again by a detailed converter, for the error message.
"""

import asyncio
import json
import logging
import uuid
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future
from difflib import get_close_matches
from enum import Enum
from functools import cache
from typing import Any

from attrs import asdict, fields_dict
from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError
from lsprotocol import converters
from lsprotocol import types as lsp
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.lsp.server import LanguageServer
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
    LanguageServerProtocol,
    lsp_method,
)

from stet.lsp.capabilities import ClientCapabilities, resolve_capabilities
from stet.lsp.connection.stdio import FrameReader, Lifetime
from stet.lsp.lsp_errors import InvalidParams
from stet.lsp.routing import ConnectionState, PendingReply, TextReceiver, notify_handler
from stet.lsp.tasks import Tasks
from stet.text.encoding import Encoding

log = logging.getLogger(__name__)

# The errors that a conversion from or to JSON can raise.
MALFORMED = (
    ArithmeticError,
    AttributeError,
    BaseValidationError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class SessionPhase(Enum):
    """The phase of a session."""

    NEW = "new"
    RUNNING = "running"
    SHUT_DOWN = "shut down"


class StetProtocol(LanguageServerProtocol):
    """The messages of one session."""

    _server: "StetLanguageServer"

    def __init__(self, server: "StetLanguageServer", converter: Converter) -> None:
        super().__init__(server, converter)
        self.phase = SessionPhase.NEW

    def _text_sync(self) -> TextReceiver:
        """Return the receiver of document texts. Errors other than `LspError` count as bugs."""
        return self._server.state().text_sync

    # --- from the editor ------------------------------------------------------------------------

    def receive(self, body: bytes) -> bool:
        """Handle one message, and raise no error. Return False if the message is not JSON.

        pygls's own loop ends at the first incomplete message, does not answer a request that it
        can't convert, and takes any object with a `jsonrpc` key inside the parameters for a
        message.
        """
        if self._server.lifetime.is_over:
            return True
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            self._refuse(None, JsonRpcParseError(f"The message is not valid JSON: {error}"))
            return False
        try:
            self._dispatch(message)
        except JsonRpcException as error:
            self._refuse(message, error)
        return True

    def _dispatch(self, message: object) -> None:
        if not isinstance(message, dict):
            raise JsonRpcInvalidRequest("A message must be one object; LSP has no batches.")
        method = message.get("method")
        if message.get("jsonrpc") != self.VERSION:
            raise JsonRpcInvalidRequest('A message needs `"jsonrpc": "2.0"`.')
        if method is None:
            self._resolve_answer(message)
        elif not isinstance(method, str):
            raise JsonRpcInvalidRequest(f"A method must be a string, not {method!r}.")
        elif "id" in message:
            self._dispatch_request(method, message)
        else:
            self._dispatch_notification(method, message)

    def _dispatch_request(self, method: str, message: dict[str, Any]) -> None:
        if not _is_id(message["id"]):
            raise JsonRpcInvalidRequest("A request id must be an integer or a string.")
        if self.phase is SessionPhase.SHUT_DOWN:
            raise JsonRpcInvalidRequest(f"{method} was sent after `shutdown`.")
        if self.phase is SessionPhase.NEW and method != lsp.INITIALIZE:
            raise JsonRpcServerNotInitialized(f"{method} was sent before `initialize`.")
        if self.phase is SessionPhase.RUNNING and method == lsp.INITIALIZE:
            raise JsonRpcInvalidRequest("`initialize` can be sent only once.")
        if not self._knows(method):
            raise JsonRpcMethodNotFound(f"Stet does not support {method!r}.")
        kind = self.get_message_type(method) or JsonRPCRequestMessage
        request = self._structured(method, message, kind)
        if not hasattr(request, "id"):
            raise JsonRpcInvalidRequest(f"{method} is a notification and must have no id.")
        self.handle_message(request)

    def _dispatch_notification(self, method: str, message: dict[str, Any]) -> None:
        if self.phase is not SessionPhase.RUNNING and method != lsp.EXIT:
            log.warning("%s ignored: the session is %s", method, self.phase.value)
        elif method == lsp.TEXT_DOCUMENT_DID_CHANGE:
            notify_handler(method, lambda: self._text_sync().change(message.get("params")))
        elif method == lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES:
            notify_handler(method, lambda: self._text_sync().changed_on_disk(message.get("params")))
        elif method == lsp.CANCEL_REQUEST or self._knows(method):
            if method == lsp.INITIALIZED and message.get("params") is None:
                # The protocol requires parameters, but not all clients send them.
                message = {**message, "params": {}}
            kind = self.get_message_type(method) or JsonRPCNotification
            notice = self._structured(method, message, kind)
            if method == lsp.CANCEL_REQUEST and not _is_id(notice.params.id):
                raise JsonRpcInvalidRequest(f"{method} is not a request.")
            self.handle_message(notice)
        else:
            log.debug("%s ignored: unknown", method)

    def _resolve_answer(self, message: dict[str, Any]) -> None:
        """Resolve the future of a request that Stet has sent.

        pygls never resolves the future if the result has the wrong shape (such as `result: null`
        for `workspace/applyEdit`); here this is an error like any other.
        """
        if not _is_id(message.get("id")) or not message.keys() & {"result", "error"}:
            raise JsonRpcInvalidRequest("The message is neither a request nor a response.")
        # pygls also stores the editor's requests among the futures, under the editor's ids.
        is_ours = message["id"] in self._result_types
        kind = self._result_types.pop(message["id"], None)
        future = self._request_futures.pop(message["id"], None) if is_ours else None
        if future is None or future.done():
            log.debug("an answer that nobody waits for was ignored")
            return
        error = message.get("error")
        if error is not None:
            future.set_exception(_as_exception(error))
            return
        try:
            kind = kind or JsonRPCResponseMessage
            result = self._structured("The answer", message, kind).result
        except InvalidParams as wrong:
            future.set_exception(wrong)
        else:
            future.set_result(result)

    def _structured(self, what: str, message: dict[str, Any], kind: type) -> Any:
        """Return `message` converted to `kind`; `what` is its name in an error.

        Raises:
            InvalidParams: If the message is malformed; the error has the paths of wrong values.
        """
        try:
            return self._converter.structure(message, kind)
        except MALFORMED as error:
            reasons = _reasons(message, kind, error)
            raise InvalidParams(f"{what} is malformed: {reasons}") from error

    def _knows(self, method: str) -> bool:
        return method in self.fm.builtin_features or method in self.fm.features

    def _refuse(self, message: object, error: JsonRpcException) -> None:
        """Answer a message that can't be handled; a notification gets no answer."""
        request = message if isinstance(message, dict) else {}
        # The error's message may quote the editor's, so it is logged at DEBUG only.
        log.warning("a message was refused: %s (%d)", type(error).__name__, error.code)
        log.debug("it was refused because: %s", error.message)
        if "method" in request and "id" not in request:
            return
        # Written by hand: pygls leaves out an id of null, and JSON-RPC requires it here.
        msg_id = request["id"] if "method" in request and _is_id(request["id"]) else None
        fault = {"code": error.code, "message": error.message}
        self._write(json.dumps({"jsonrpc": self.VERSION, "id": msg_id, "error": fault}))

    # --- to the editor --------------------------------------------------------------------------

    async def ask(self, method: str, params: object, seconds: float, msg_id: str = "") -> Any:
        """Send a request to the editor and wait for the answer, at most `seconds`.

        pygls itself waits without a limit and never discards a request that is not answered.

        Raises:
            TimeoutError: If the editor does not answer in time.
            JsonRpcException: If the answer is an error, or malformed.
        """
        msg_id = msg_id or str(uuid.uuid4())
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()

        def resolve(received: Future[Any]) -> None:
            if answer.done():
                return
            if error := received.exception():
                answer.set_exception(error)
            else:
                answer.set_result(received.result())
            # Let the caller handle the answer before a later message is read.
            self._server.input.hold()
            loop.call_soon(self._server.input.release)

        try:
            async with asyncio.timeout(seconds):
                self.send_request(method, params, msg_id=msg_id).add_done_callback(resolve)
                return await answer
        except TimeoutError:
            raise TimeoutError(f"The editor did not respond within {seconds:g} s.") from None
        finally:
            self._request_futures.pop(msg_id, None)
            self._result_types.pop(msg_id, None)

    def _send_data(self, data: Any) -> None:
        """Write one message.

        Overridden because pygls logs every message at INFO, and does not answer a request whose
        result can't be converted to JSON.
        """
        # A result of a command is JSON: the converter would walk through it.
        plain = asdict(data, recurse=False) if type(data) is JsonRPCResponseMessage else data
        try:
            body = json.dumps(plain, default=self._serialize_message)
        except MALFORMED:
            log.exception("a message could not be written as JSON")
            if not hasattr(data, "result"):
                return
            fault = JsonRpcInternalError("Stet's response could not be encoded as JSON.")
            answer = lsp.ResponseErrorMessage(id=data.id, error=fault.to_response_error())
            body = json.dumps(answer, default=self._serialize_message)
        self._write(body)

    def _write(self, body: str) -> None:
        """Write one body, which is ASCII: its length in bytes is its length in characters."""
        if self.writer is None:
            log.error("a message could not be sent: there is no connection")
            return
        try:
            self.writer.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode("ascii"))
        except OSError as error:
            log.warning("the editor is gone: %s", error)
            self._server.lifetime.end()

    def _execute_handler(
        self,
        msg_id: str | int,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """Run a handler as pygls does, then discard its future.

        Overridden because pygls never discards the futures of notifications that a generator
        handles and of the steps of commands. It also does not read the error of a command that was
        cancelled meanwhile, which asyncio then reports as a bug.
        """

        def forget(future: Future[Any]) -> None:
            self._request_futures.pop(msg_id, None)
            if not future.cancelled():
                future.exception()

        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        if (future := self._request_futures.get(msg_id)) is not None:
            future.add_done_callback(forget)

    # --- built-in methods -----------------------------------------------------------------------

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(
        self, params: lsp.InitializeParams
    ) -> Generator[Any, Any, lsp.InitializeResult]:
        """Record the editor, then let pygls choose the encoding and build the capabilities."""
        self._server.editor = resolve_capabilities(params)
        self._server.initialize_params = params
        result = yield from super().lsp_initialize(params)
        result.capabilities.experimental = self._server.experimental
        result.capabilities.inline_completion_provider = self._server.editor.inline_completion_fixed
        self.phase = SessionPhase.RUNNING
        if params.process_id is not None:
            self._server.lifetime.end_with(params.process_id)
        return result

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        """Store the text, though not in pygls's store; hold messages while a long one is split."""
        from stet.text.large_document import LARGE  # not needed before `initialize` is answered

        if len(params.text_document.text) < LARGE:
            notify_handler(lsp.TEXT_DOCUMENT_DID_OPEN, lambda: self._text_sync().open(params))
            return
        self._server.input.hold()
        work = self._server.tasks.spawn(self._open_long(params), "opening a very long text")
        work.add_done_callback(lambda _: self._server.input.release())

    async def _open_long(self, params: lsp.DidOpenTextDocumentParams) -> None:
        from stet.text.lines import split_lines

        lines = await asyncio.to_thread(split_lines, params.text_document.text)
        notify_handler(lsp.TEXT_DOCUMENT_DID_OPEN, lambda: self._text_sync().open(params, lines))

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """Close the document in Stet's store, not in pygls's."""
        notify_handler(lsp.TEXT_DOCUMENT_DID_CLOSE, lambda: self._text_sync().close(params))

    @lsp_method(lsp.WORKSPACE_EXECUTE_COMMAND)
    def lsp_workspace__execute_command(
        self, params: lsp.ExecuteCommandParams
    ) -> Generator[Any, Any, Any]:
        """Call the command with its arguments unchanged.

        pygls matches arguments against the handler's signature, and its errors suggest no names.
        """
        handler = self.fm.commands.get(params.command)
        if handler is None:
            near = get_close_matches(params.command, self.fm.commands, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InvalidParams(f"Unknown command {params.command!r}.{hint}")
        answer = yield handler, tuple(params.arguments or ()), None
        # The handler was called in message order; only its answer may take longer.
        if not isinstance(answer, PendingReply):
            return answer
        msg_id = self.msg_id if answer.stops else None
        request = None if msg_id is None else self._request_futures.get(msg_id)
        try:
            return (yield _await_answer, (answer, request), None)
        finally:
            answer.close()  # a shutdown may have prevented the start of its work

    @lsp_method(lsp.SHUTDOWN)
    def lsp_shutdown(self, *params: Any) -> None:  # type: ignore[override]
        """Cancel all work and answer at once.

        pygls iterates over its futures while cancelling them changes the dictionary (pygls#606),
        and then answers the request with an error.
        """
        if (handler := self.fm.features.get(lsp.SHUTDOWN)) is not None:
            handler(*params)
        self._server.tasks.cancel()
        for future in list(self._request_futures.values()):
            future.cancel()
        self.phase = SessionPhase.SHUT_DOWN

    @lsp_method(lsp.EXIT)
    def lsp_exit(self, *params: Any) -> None:  # type: ignore[override]  # noqa: ARG002
        """End the session; pygls would call `sys.exit` in the handler of the message."""
        self._server.lifetime.end()


class StetLanguageServer(LanguageServer):
    """A language server on standard input and output.

    Attributes:
        state: A function that returns the `ServerState`, created by the first call; set before
            serving.
        input: The source of messages; set when serving begins.
        closing: A function that is called at the end of the run, to close resources that outlive
            tasks.
        experimental: The experimental capabilities to announce, as plain JSON.
        editor: The capabilities of the editor; known from `initialize` on.
        initialize_params: The parameters of `initialize`.
        tasks: All background work.
        lifetime: The duration of the run.
    """

    protocol: StetProtocol

    def __init__(self, name: str, version: str) -> None:
        # pygls logs whole messages at INFO and refusals with a traceback; all errors that matter
        # reach `report_server_error` or are logged here.
        logging.getLogger("pygls").setLevel(logging.CRITICAL)
        super().__init__(
            name, version, protocol_cls=StetProtocol, converter_factory=build_converter
        )
        self.state: Callable[[], ConnectionState]
        self.input: FrameReader
        self.initialize_params: lsp.InitializeParams
        self.experimental: object = None
        self.closing: Callable[[], Awaitable[None]] | None = None
        self.editor = ClientCapabilities()
        self.tasks = Tasks()
        self.lifetime = Lifetime()

    @property
    def encoding(self) -> Encoding:
        """The negotiated position encoding; known from `initialize` on, for its handler too.

        Raises:
            RuntimeError: Before `initialize`.
        """
        chosen = self.workspace.position_encoding or lsp.PositionEncodingKind.Utf16
        return Encoding(lsp.PositionEncodingKind(chosen).value)

    def report_server_error(self, error: Exception, source: object) -> None:  # noqa: ARG002
        """Log the error of a built-in handler; pygls would show it to the user."""
        if isinstance(error, JsonRpcInternalError) or not isinstance(error, JsonRpcException):
            log.error("a built-in handler failed", exc_info=error)


async def _await_answer(answer: PendingReply, request: Future[Any] | None) -> Any:
    """Wait for a command's answer. If `request` is cancelled, cancel the wait: pygls would let the
    work continue.
    """
    task = asyncio.current_task()
    if request is not None and task is not None:
        request.add_done_callback(lambda _: request.cancelled() and task.cancel())
    return await answer.wait()


@cache
def build_converter(*, detailed: bool = False) -> Converter:
    """Return a converter that leaves the parameters of methods outside the protocol as plain JSON.

    pygls converts them to named tuples, renames keys that are no identifiers, and drops
    `type_name`.

    Args:
        detailed: Whether errors contain the path of the wrong value.
    """
    converter = converters.get_converter(Converter(detailed_validation=detailed))
    for plain in (JsonRPCRequestMessage, JsonRPCNotification, JsonRPCResponseMessage):
        converter.register_structure_hook(plain, _unchanged)
    return converter


def _unchanged(message: dict[str, Any], kind: type) -> Any:
    """Return a message whose fields are the JSON values; None for a missing field."""
    return kind(**{name: message.get(name) for name in fields_dict(kind)})


def _reasons(message: dict[str, Any], kind: type, error: Exception) -> str:
    """Return what is wrong with `message` and where; `error` is raised by the plain converter."""
    try:
        build_converter(detailed=True).structure(message, kind)
    except BaseValidationError as found:
        return "; ".join(transform_error(found)[:3])
    except MALFORMED as found:
        return str(found)
    return str(error)


def _as_exception(error: object) -> JsonRpcException:
    """Return the exception for the error part of an answer of any shape."""
    if not isinstance(error, dict):
        return JsonRpcException(str(error))
    code, message = error.get("code"), error.get("message")
    return JsonRpcException(
        str(message or "no reason given"), code if isinstance(code, int) else None
    )


def _is_id(value: object) -> bool:
    """Return whether `value` may be the id of a request."""
    return isinstance(value, str | int) and not isinstance(value, bool)
