"""The path of a message to a handler: the verbs of the routing table, and the error boundary.

- `mutates`: a notification changes the state. A plain `def`, run at once, in message order, no I/O.
- `reads`: a request is answered from state within milliseconds.
- `reads_or_waits`: a request that is nearly always answered from state.
- `reads_async`: a request that is answered by a coroutine, which ends if the editor cancels the
  request.
- `command`: `workspace/executeCommand`. A plain `def` that checks its arguments, passes the work to
  `Tasks` and returns: the reply is sent before the work begins. If its answer needs the disk, it
  returns a coroutine that reads the disk in a worker thread; other messages are handled meanwhile.

No error crosses the boundary. Until the server is ready, commands are queued in order
(`Readiness`).

Handlers are bound by closures whose first parameter is called `ls`: the framework examines the
names and annotations of registered functions (a `functools.partial` would be called with the wrong
arguments).

A handler of a `LazyModule` is imported when the first handler of its module is called: the editor
waits for the answer to `initialize`, which needs only the names.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from inspect import iscoroutine
from time import perf_counter
from typing import Any, Generic, Protocol, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from stet.lsp.lsp_errors import InternalError, RequestFailed

READY_SECONDS = 10.0
"""The time limit for a command to wait for the state of earlier runs."""


class Readiness(asyncio.Event):
    """The event that settings are read and proposals, chats and presets of earlier runs are
    restored.
    """

    def __init__(self) -> None:
        super().__init__()
        self._n_waiting = 0

    def enqueue(self) -> "WaitTurn | None":
        """Return a function that waits until a command may run, or None if it may run at once.

        Call the function once. Commands run in the order of these calls.
        """
        if self.is_set() and not self._n_waiting:
            return None
        self._n_waiting += 1
        return self._wait_turn

    async def _wait_turn(self) -> None:
        """Wait until a queued command may run.

        Raises:
            RequestFailed: If the server is not ready in time.
        """
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self.wait()
        except TimeoutError:
            raise RequestFailed(
                f"Stet did not load earlier proposals and chats within {READY_SECONDS:g} s; "
                "nothing was changed. Try again in a moment; see its log for details."
            ) from None
        finally:
            self._n_waiting -= 1


WaitTurn = Callable[[], Awaitable[None]]


class LazyModule:
    """A module that is imported when one of its functions is called first."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Callable[..., object]:
        """Return a function that calls the function named `attribute`; each call looks up the
        name.
        """

        def call(*arguments: object, **named: object) -> object:
            return getattr(import_module(self._name), attribute)(*arguments, **named)

        return call


def lazy_modules(package: str, *names: str) -> tuple[LazyModule, ...]:
    """Return the modules with these names in `package`."""
    return tuple(LazyModule(f"{package}.{name}") for name in names)


log = logging.getLogger(__name__)

SLOW_SECONDS = 0.05
"""The duration of a handler above which it is logged, as all other messages wait for it."""

State = TypeVar("State")
Params = TypeVar("Params")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class PendingReply:
    """An answer of a command that must be awaited, once, at the boundary.

    Attributes:
        name: The name of the command.
        work: The coroutine that returns the answer.
        stops: Whether the work is cancelled when the editor cancels the request.
    """

    name: str
    work: Coroutine[Any, Any, object]
    stops: bool

    async def wait(self) -> object:
        """Wait for the answer.

        Raises:
            JsonRpcException: The error for the editor; see `boundary`.
        """
        with boundary(self.name):
            return await self.work

    def close(self) -> None:
        """Close the work if it was never started."""
        self.work.close()


class TextReceiver(Protocol):
    """The receiver of texts and disk events, which bypass the routing table for speed."""

    def open(self, params: lsp.DidOpenTextDocumentParams, lines: list[str] | None = None) -> None:
        """Handle an opened document; `lines` are the lines of its text, if they are known."""

    def change(self, params: object) -> None:
        """Handle a changed document; `params` is unchecked JSON."""

    def close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """Handle a closed document."""

    def changed_on_disk(self, params: object) -> None:
        """Handle files that changed on the disk; `params` is unchecked JSON."""


class ConnectionState(Protocol):
    """The part of the state of a server that its connection needs."""

    @property
    def text_sync(self) -> TextReceiver:
        """The receiver of the texts."""


class Router(Generic[State]):
    """The registry that binds handlers to one server and its state."""

    def __init__(
        self,
        server: LanguageServer,
        state: Callable[[], State],
        line_up: Callable[[State], WaitTurn | None] = lambda _: None,
    ) -> None:
        """Create a router without handlers.

        Args:
            server: The server that dispatches messages.
            state: A function that returns the state; called for every message, so it must be fast.
            line_up: A function that adds a command to the queue; see `Readiness.enqueue`.
        """
        self._server = server
        self._state = state
        self._line_up = line_up
        self._commands: dict[str, Callable[..., object]] = {}

    def mutates(
        self, method: str, handler: Callable[[State, Params], None], options: object | None = None
    ) -> None:
        """Register the handler of a notification; its errors are only logged."""

        def handle(ls: LanguageServer, params: Any) -> None:  # noqa: ARG001 - pygls passes itself by this name
            notify_handler(method, handler, self._state(), params)

        self._server.feature(method, options)(handle)

    def reads(
        self, method: str, handler: Callable[[State, Params], object], options: object | None = None
    ) -> None:
        """Register the handler of a request; its errors become JSON-RPC errors."""

        def handle(ls: LanguageServer, params: Any) -> object:  # noqa: ARG001 - pygls passes itself by this name
            return call_handler(method, handler, self._state(), params)

        self._server.feature(method, options)(handle)

    def reads_or_waits(
        self,
        method: str,
        handler: Callable[[State, Params], Awaitable[object] | object],
        options: object | None = None,
    ) -> None:
        """Register the handler of a request whose answer may need a coroutine.

        The handler is called in message order. If it returns a coroutine, the request is answered
        with the coroutine's result; other messages are handled meanwhile.
        """

        def handle(ls: LanguageServer, params: Any) -> Generator[Any, Any, object]:  # noqa: ARG001 - pygls passes itself by this name
            result = call_handler(method, handler, self._state(), params)
            if not iscoroutine(result):
                return result
            later = PendingReply(method, result, stops=False)
            try:
                return (yield later.wait, (), None)
            finally:
                later.close()  # a shutdown may have prevented the start of the work

        self._server.feature(method, options)(handle)

    def reads_async(
        self, method: str, handler: Callable[[State, Params], Awaitable[object]]
    ) -> None:
        """Register the handler of a request that is answered when its awaitable is done."""

        async def handle(ls: LanguageServer, params: Any) -> object:  # noqa: ARG001 - pygls passes itself by this name
            with boundary(method):
                return await handler(self._state(), params)

        self._server.feature(method)(handle)

    def command(
        self,
        name: str,
        handler: Callable[[State, tuple[object, ...]], object],
        *,
        stops: bool = False,
        at_once: bool = False,
    ) -> None:
        """Register a command; the handler gets the arguments as the editor sent them.

        If the handler returns a coroutine, the command is answered with the coroutine's result. The
        handler itself is finished before the next message is handled.

        Args:
            name: The name of the command.
            handler: The function that is called.
            stops: Whether the work is cancelled when the editor cancels the request: only for a
                command that changes nothing.
            at_once: Whether the handler is also called before the server is ready.
        """

        def handle(ls: LanguageServer, *arguments: object) -> object:  # noqa: ARG001 - pygls passes itself by this name
            state = self._state()
            if not at_once and (wait_turn := self._line_up(state)) is not None:
                work = call_in_turn(
                    wait_turn, lambda: call_handler(name, handler, state, arguments)
                )
                return PendingReply(name, work, stops)
            result = call_handler(name, handler, state, arguments)
            return PendingReply(name, result, stops) if iscoroutine(result) else result

        self._server.command(name)(handle)
        self._commands[name] = handle

    async def run_command(self, name: str, arguments: tuple[object, ...]) -> object:
        """Run a registered command, as if the editor had sent it, and return its answer.

        Raises:
            KeyError: If there is no such command.
            JsonRpcException: The error for the client; see `boundary`.
        """
        answer = self._commands[name](self._server, *arguments)
        return await answer.wait() if isinstance(answer, PendingReply) else answer


def call_handler(name: str, handler: Callable[..., Result], *arguments: object) -> Result:
    """Call a handler at the boundary.

    Raises:
        JsonRpcException: The error for the editor; see `boundary`.
    """
    started = perf_counter()
    try:
        with boundary(name):
            return handler(*arguments)
    finally:
        if (seconds := perf_counter() - started) > SLOW_SECONDS:
            log.info("%s took %.0f ms", name, seconds * 1000)


async def call_in_turn(wait_turn: WaitTurn, call: Callable[[], object]) -> object:
    """Wait until a queued command may run, call it, and return its answer."""
    await wait_turn()
    result = call()
    return await result if iscoroutine(result) else result


@contextmanager
def boundary(name: str) -> Iterator[None]:
    """Turn the errors of the `with` block into errors for the editor.

    Raises:
        JsonRpcException: The error for the editor: an `LspError` as it was raised; any other error
            is a bug, is logged, and becomes an `InternalError`.
    """
    try:
        yield
    except JsonRpcException:
        raise
    except Exception as error:  # the boundary: one bug must not end the session
        log.exception("%s failed", name)
        raise InternalError(
            f"{name} failed: internal error in Stet ({type(error).__name__}); see its log."
        ) from error


def notify_handler(name: str, handler: Callable[..., object], *arguments: object) -> None:
    """Call the handler of a notification; errors are only logged, as there is no answer."""
    try:
        call_handler(name, handler, *arguments)
    except InternalError:
        return  # `boundary` has logged the error
    except JsonRpcException as error:
        # The error's message may quote the notification, so it is logged at DEBUG only.
        log.warning("%s ignored: %s", name, type(error).__name__)
        log.debug("it was ignored because: %s", error.message)
