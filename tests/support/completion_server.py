"""A loopback completion server, and an editor that asks for inline completions."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.openai_server import End, OpenAIServer, Reply, Scripted

PATHS = ("/infill", "/completions")
AUTOMATIC, INVOKED = (
    lsp.InlineCompletionTriggerKind.Automatic,
    lsp.InlineCompletionTriggerKind.Invoked,
)


def completion_server(*replies: Scripted) -> OpenAIServer:
    """Make a server that answers requests to `/infill` and `/completions`."""
    return OpenAIServer(replies, paths=PATHS)


def infill(*pieces: str, end: End = End.EOF) -> Reply:
    """Make an answer as llama.cpp streams it."""
    events: list[Mapping[str, Any]] = [{"content": piece, "stop": False} for piece in pieces]
    if end is End.EOF:
        events.append({"content": "", "stop": True})
    return Reply(events, end=end)


class ServerThread:
    """A completion server in a thread of its own, beside tests that block."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self.server = completion_server()
        self._run(self.server.__aenter__())

    def add(self, *replies: Scripted) -> None:
        self.loop.call_soon_threadsafe(self.server.add, *replies)

    def close(self) -> None:
        self._run(self.server.__aexit__(None, None, None))
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def _run(self, work: Coroutine[Any, Any, object]) -> None:
        asyncio.run_coroutine_threadsafe(work, self.loop).result()


@asynccontextmanager
async def completing_editor(
    root: Path, server: OpenAIServer, *, client: str = "vscode", **settings: Any
) -> AsyncIterator[FakeEditor]:
    """Start an editor whose user has completions of this server on."""
    completion = {"enabled": True, "baseUrl": server.base_url, **settings.pop("completion", {})}
    given = {"completion": completion, **settings}
    async with FakeEditor.start(root, client=client, settings=given) as editor:
        await editor.command("stet.proposals")  # after the settings are read
        yield editor


async def complete(
    editor: FakeEditor, name: str, before: str, *, kind: lsp.InlineCompletionTriggerKind = INVOKED
) -> list[str]:
    """Return the texts that are offered after the text `before` of a document."""
    return [str(item.insert_text) for item in await items(editor, name, before, kind=kind)]


async def items(
    editor: FakeEditor, name: str, before: str, *, kind: lsp.InlineCompletionTriggerKind = INVOKED
) -> list[lsp.InlineCompletionItem]:
    """Return the completions that are offered after the text `before` of a document."""
    found = await editor.text_document_inline_completion_async(params(editor, name, before, kind))
    assert isinstance(found, lsp.InlineCompletionList)
    return list(found.items)


def params(
    editor: FakeEditor,
    name: str,
    before: str,
    kind: lsp.InlineCompletionTriggerKind = INVOKED,
    selected: lsp.SelectedCompletionInfo | None = None,
) -> lsp.InlineCompletionParams:
    """Make the parameters of a request after the text `before` of a document."""
    place = editor.range_of(name, before).end
    document = lsp.TextDocumentIdentifier(editor.uri(name))
    return lsp.InlineCompletionParams(lsp.InlineCompletionContext(kind, selected), document, place)
