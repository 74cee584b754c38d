"""A small language server that behaves as Stet does on the wire: what the headless client needs.

Its one argument chooses a fault: `plain`, `noisy` (half a megabyte on stderr), `stale` (edits for
an older version), `dead` (never starts). Its one hunk replaces the first five columns of the
document opened last.
"""

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

RANGE = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 5))


class TinyServer(LanguageServer):
    """The whole server."""

    def __init__(self) -> None:
        super().__init__("tiny", "1")
        self.how = "plain"
        self.uri = ""
        self.hunk = "pending"
        self.turn = "running"
        self.kept: list[asyncio.Task[None]] = []

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        self.kept.append(asyncio.get_running_loop().create_task(work))


server = TinyServer()


@server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
def opened(ls: TinyServer, params: lsp.DidOpenTextDocumentParams) -> None:
    ls.uri = params.text_document.uri


@server.command("stet.ask")
def ask(ls: TinyServer, *_: Any) -> dict[str, Any]:
    ls.keep(work(ls))
    return {"turn": "t1"}


async def work(ls: TinyServer) -> None:
    if ls.how == "noisy":
        sys.stderr.write("x" * 500_000)
    token = "a-token"
    await asyncio.wrap_future(ls.work_done_progress.create(token))
    ls.work_done_progress.begin(token, lsp.WorkDoneProgressBegin(title="Asking"))
    ls.work_done_progress.report(token, lsp.WorkDoneProgressReport(message="round 1"))
    ls.turn = "completed"
    ls.work_done_progress.end(token, lsp.WorkDoneProgressEnd(message="done"))


@server.command("stet.turn")
def turn(ls: TinyServer, *_: Any) -> dict[str, Any]:
    return {"turn": "t1", "state": ls.turn, "answer": {"type_name": ["kept", None]}}


@server.command("stet.proposals")
def proposals(ls: TinyServer, *_: Any) -> list[dict[str, Any]]:
    return [{"hunk": "h1", "uri": ls.uri, "state": ls.hunk, "reason": "version"}]


@server.command("stet.accept")
def accept(ls: TinyServer, *_: Any) -> dict[str, Any]:
    ls.keep(apply(ls))
    return {"hunks": ["h1"], "refused": []}


async def apply(ls: TinyServer) -> None:
    version = ls.workspace.get_text_document(ls.uri).version or 0
    target = lsp.OptionalVersionedTextDocumentIdentifier(
        uri=ls.uri, version=version - (ls.how == "stale")
    )
    edit = lsp.WorkspaceEdit(
        document_changes=[lsp.TextDocumentEdit(target, [lsp.TextEdit(RANGE, "HELLO")])]
    )
    result = await ls.workspace_apply_edit_async(lsp.ApplyWorkspaceEditParams(edit, "Accept"))
    came_back = ls.workspace.get_text_document(ls.uri).source
    ls.hunk = "accepted" if result.applied and came_back.startswith("HELLO") else "conflict"
    ls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(ls.uri, []))


@server.command("stet.configuration")
async def configuration(ls: TinyServer, *_: Any) -> Any:
    items = [lsp.ConfigurationItem(section="stet"), lsp.ConfigurationItem(section="other")]
    return await ls.workspace_configuration_async(lsp.ConfigurationParams(items))


@server.command("stet.die")
def die(*_: Any) -> None:
    sys.stderr.write("the disk is full\n\n")
    sys.stderr.close()
    sys.exit(3)


if __name__ == "__main__":
    server.how = sys.argv[1]
    if server.how == "dead":
        sys.exit("no model, no server")
    server.start_io()
