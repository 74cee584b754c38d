"""A server with the wire protocol only: documents to read back, and commands that misbehave.

Run as a script: `python -I tests/support/wire_server.py [SECONDS]`, the time for answers to edits.
"""

import asyncio
import logging
import sys
import threading
import zlib

from lsprotocol import types as lsp

from stet.lsp import convert
from stet.lsp.connection.protocol import StetLanguageServer
from stet.lsp.editor_client import APPLY_SECONDS, Client
from stet.lsp.lsp_errors import ContentModified, InvalidParams, RequestFailed
from stet.lsp.routing import Router
from stet.lsp.server import serve_session
from stet.observability.log_handlers import StderrHandler
from stet.text.buffer import TextBuffer
from stet.workspace.workspace import FULL_TEXT


class WireDocuments:
    """The document store: one buffer per URI."""

    def __init__(self, server: StetLanguageServer) -> None:
        self._server = server
        self.buffers: dict[str, TextBuffer] = {}

    def open(self, params: lsp.DidOpenTextDocumentParams, lines: list[str] | None = None) -> None:
        self.buffers[params.text_document.uri] = TextBuffer(params.text_document.text)

    def changed_on_disk(self, params: object) -> None:
        """Do nothing: there is no disk."""

    def change(self, params: object) -> None:
        modification = convert.change_modification(params)
        buffer = self.buffers.get(modification.uri)
        if buffer is None:
            raise InvalidParams(f"{modification.uri!r} is not open")
        encoding = self._server.encoding
        for edit in modification.edits:
            if edit.start_line == FULL_TEXT:
                _ = buffer.replace_all(edit.text)
            else:
                _ = buffer.splice(
                    edit.start_line,
                    edit.start_units,
                    edit.end_line,
                    edit.end_units,
                    edit.text,
                    encoding,
                )

    def close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        self.buffers.pop(params.text_document.uri, None)


class WireState:
    """The state of the handlers."""

    def __init__(self, apply_seconds: float = APPLY_SECONDS) -> None:
        self.server = StetLanguageServer("wire", "1")
        self.client = Client(self.server, apply_seconds)
        self.documents = WireDocuments(self.server)
        self.text_sync = self.documents
        self.server.state = lambda: self
        self.outcomes: list[str] = []


def text(world: WireState, params: object) -> object:
    """Answer `test/text`: the text of a document."""
    uri = params["uri"]  # type: ignore[index]
    buffer = world.documents.buffers.get(uri)
    return None if buffer is None else buffer.text


def crc(world: WireState, params: object) -> int:
    """Answer `test/crc`: a checksum of a document's text."""
    uri = params["uri"]  # type: ignore[index]
    return zlib.crc32(world.documents.buffers[uri].text.encode("utf-8", "surrogatepass"))


def state(world: WireState, params: object) -> dict[str, object]:
    """Answer `test/state`: the stored documents, and the results of commands."""
    protocol = world.server.protocol
    return {
        "futures": len(protocol._request_futures),
        "resultTypes": len(protocol._result_types),
        "tokens": len(world.server.work_done_progress.tokens),
        "tasks": len(world.server.tasks),
        "outcomes": world.outcomes,
        "encoding": world.server.encoding,
        "editor": world.server.editor.name,
    }


def broken(world: WireState, params: object) -> object:
    """Answer `test/broken`: raise an exception, or return a value that is no JSON."""
    if params == {"how": "answer"}:
        return {"set": {1, 2}}
    raise ZeroDivisionError("a bug")


def noted(world: WireState, params: object) -> None:
    """Handle `$/test/note`: record the parameters of a custom notification."""
    if params == "boom":
        raise ZeroDivisionError("a bug in a notification")
    world.outcomes.append(repr(params))


def refuse(world: WireState, arguments: tuple[object, ...]) -> object:
    """Answer `wire.refuse`: with each kind of refusal."""
    kinds = {"params": InvalidParams, "failed": RequestFailed, "modified": ContentModified}
    raise kinds[str(arguments[0])]("Refused, and this is why.")


def echo(world: WireState, arguments: tuple[object, ...]) -> object:
    """Answer `wire.echo`: the arguments as they arrived."""
    return list(arguments)


def apply(world: WireState, arguments: tuple[object, ...]) -> object:
    """Answer `wire.apply`: reply, then send an edit, then record its outcome in `test/state`."""
    uri, seen = str(arguments[0]), arguments[1]
    world.server.tasks.start(_apply(world, uri, seen if isinstance(seen, int) else None), "apply")
    return {"sent": True}


async def _apply(world: WireState, uri: str, version: int | None) -> None:
    start = lsp.Position(0, 0)
    edits = [lsp.TextEdit(lsp.Range(start, start), "applied ")]
    outcome = await world.client.apply_edit("test", uri, version, edits)
    world.outcomes.append(f"{outcome.applied} {outcome.reason}".strip())
    world.client.show_message("outcome")


def create(world: WireState, arguments: tuple[object, ...]) -> object:
    """Answer `wire.create`: create a file through the editor."""
    world.server.tasks.start(_create(world, str(arguments[0])), "create")
    return {}


async def _create(world: WireState, uri: str) -> None:
    outcome = await world.client.create_file("test", uri, "created\n")
    world.outcomes.append(f"{outcome.applied} {outcome.reason}".strip())
    world.client.show_message("outcome")


def configure(world: WireState, arguments: tuple[object, ...]) -> object:
    """Answer `wire.configure`: ask for the settings."""
    world.server.tasks.start(_configure(world), "configure")
    return {}


async def _configure(world: WireState) -> None:
    values = await world.client.fetch_configuration("stet")
    world.outcomes.append(repr(values[0] if values else None))
    world.client.show_message("outcome")


def show(world: WireState, arguments: tuple[object, ...]) -> object:
    """Answer `wire.show`: open a document."""
    world.server.tasks.start(_show(world, str(arguments[0])), "show")
    return {}


async def _show(world: WireState, uri: str) -> None:
    world.outcomes.append(repr(await world.client.show_document(uri)))
    world.client.show_message("outcome")


def work(world: WireState, arguments: tuple[object, ...]) -> object:
    """Answer `wire.work`: report progress that ends, or that waits to be cancelled."""
    progress = world.client.progress("Working", on_cancel=lambda: progress.end("stopped"))
    if arguments != ("wait",):
        progress.report("half", 50)
        progress.end("done")
    return {"token": progress.token}


def hang(world: WireState, arguments: tuple[object, ...]) -> object:
    """Answer `wire.hang`: start work that never ends, and (`stubborn`) ignores its cancellation; a
    hanging thread, or one that the shutdown waits for (`closing`)."""
    if arguments == ("closing",):
        world.server.closing = _never_closed
        return {}
    if arguments == ("thread",):
        world.server.tasks.start(asyncio.to_thread(threading.Event().wait), "thread")
        return {}
    world.server.tasks.start(_hang(stubborn="stubborn" in arguments), "hang")
    return {}


async def _never_closed() -> None:
    await asyncio.to_thread(threading.Event().wait)


async def _hang(*, stubborn: bool) -> None:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if not stubborn:
                raise


async def wait(world: WireState, arguments: tuple[object, ...]) -> None:
    """Answer `wire.wait` and `wire.stop`: never answer, and record the cancellation."""
    world.outcomes.append(f"{arguments[0]} waits")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        world.outcomes.append(f"{arguments[0]} stopped")
        raise


async def waiting(world: WireState, params: object) -> None:
    """Answer `test/wait`: the same as a request."""
    await wait(world, ("request",))


def flood_log(world: WireState, arguments: tuple[object, ...]) -> object:
    """Answer `wire.flood`: write more to stderr than any pipe holds."""
    for number in range(2000):
        logging.getLogger("flood").warning("%06d %s", number, "x" * 500)
    return {"flooded": True}


def flood_output(world: WireState, arguments: tuple[object, ...]) -> object:
    """Answer `wire.floodOutput`: write more to stdout than any pipe holds."""
    for _ in range(1000):
        world.client.show_message("x" * 1000)
    return {"flooded": True}


def printed(world: WireState, arguments: tuple[object, ...]) -> object:
    """Answer `wire.print`: print text, which must not reach the editor's side of the protocol."""
    print("a stray line", flush=True)  # noqa: T201
    return {}


def build(world: WireState) -> StetLanguageServer:
    """Build the server with all handlers."""
    route = Router(world.server, lambda: world)
    route.reads("test/text", text)
    route.reads("test/crc", crc)
    route.reads("test/state", state)
    route.reads("test/broken", broken)
    route.reads_async("test/wait", waiting)
    route.command("wire.wait", wait)
    route.command("wire.stop", wait, stops=True)
    route.mutates("$/test/note", noted)
    for name, handler in {
        "wire.refuse": refuse,
        "wire.echo": echo,
        "wire.apply": apply,
        "wire.create": create,
        "wire.configure": configure,
        "wire.show": show,
        "wire.work": work,
        "wire.hang": hang,
        "wire.flood": flood_log,
        "wire.floodOutput": flood_output,
        "wire.print": printed,
    }.items():
        route.command(name, handler)
    return world.server


def main() -> int:
    """Serve on standard input and output."""
    logging.basicConfig(level=logging.INFO, handlers=[StderrHandler()])
    return serve_session(build(WireState(*map(float, sys.argv[1:]))))


if __name__ == "__main__":
    sys.exit(main())
