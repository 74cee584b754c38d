"""Search by the user: `stet.search`, `workspace/symbol`, `stet.reindex`, through a real server."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.editor_documents import to_path
from tests.support.search_index import settled

pytestmark = pytest.mark.asyncio(loop_scope="module")

CANARY = "canary-7b2e"
APP = '''"""The application."""


class Timeout(Exception):
    """Something took too long."""


def retry_request(url):
    """Ask a server again when it does not answer, waiting longer each time."""
    emoji = "😀"
    return url
'''
FILES = {
    "src/app.py": APP,
    "src/shapes.py": "def circle_area(radius):\n    return 3.14 * radius**2\n",
    "notes/garden.md": "# Garden\n\n## Tomatoes\n\nWater the tomatoes in the evening.\n",
    "notes/bad.md": "# Escape\n\nThe \x1b[8mhidden\x07 marmalade.\n",
    ".gitignore": "out/\n",
    "out/made.md": f"tomatoes {CANARY}\n",
    ".env": f"TOMATOES={CANARY}\n",
}
INVALID = -32602


async def names(editor: FakeEditor, *arguments: object) -> list[str]:
    """Return the files found, the best first."""
    found = await editor.command("stet.search", *arguments)
    return [hit["uri"].rpartition("/")[2] for hit in found]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def editor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FakeEditor]:
    """Start an editor whose server has its index."""
    root = tmp_path_factory.mktemp("search") / "ws"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    async with FakeEditor.start(root, client="helix") as editor:
        await editor.command("stet.reindex", {"rebuild": False})
        assert (await settled(editor))["state"] == "ready"
        yield editor


async def test_it_is_reported_that_symbols_can_be_asked_for(editor: FakeEditor) -> None:
    assert editor.result.capabilities.workspace_symbol_provider is not None


async def test_a_question_is_answered_with_places_the_best_first(editor: FakeEditor) -> None:
    found = await editor.command("stet.search", "ask a server", "again", {"limit": 3})
    first = found[0]
    assert {name: first[name] for name in ("uri", "range", "title", "lexicalRank")} == {
        "uri": editor.uri("src/app.py"),
        "range": {
            "start": {"line": 7, "character": 0},
            "end": {"line": 11, "character": 0},
        },
        "title": "retry_request",
        "lexicalRank": 1,
    }
    assert '"""Ask a server again' in first["excerpt"]
    assert first["why"]
    assert set(first) == {
        "uri", "range", "title", "score", "excerpt", "excerptLine", "lexicalRank", "vectorRank", "why",
    }  # fmt: skip
    scores = [hit["score"] for hit in found]
    assert scores == sorted(scores, reverse=True)


async def test_nothing_that_may_not_be_shown_is_found_and_nothing_acts(editor: FakeEditor) -> None:
    assert CANARY not in str(await editor.command("stet.search", "tomatoes"))
    assert CANARY not in str(await editor.command("stet.search", CANARY))
    [first, *_] = await editor.command("stet.search", "marmalade")
    assert "The \\x1b[8mhidden\\x07 marmalade." in first["excerpt"]


async def test_folder_and_limit_narrow_the_answer(editor: FakeEditor) -> None:
    assert set(await names(editor, "water", {"folder": "src"})) <= {"app.py", "shapes.py"}
    assert len(await names(editor, "the garden", {"limit": 1})) == 1


async def test_the_folder_may_be_the_root_by_any_of_its_names(editor: FakeEditor) -> None:
    source = to_path(editor.uri("src"))
    assert source is not None
    root = source.parent
    everything = await names(editor, "water")
    assert everything[0] == "garden.md"
    for name in (".", "./", root.name, str(root), f"{root}/"):
        assert await names(editor, "water", {"folder": name}) == everything
    assert await names(editor, "water", {"folder": f"{root}/notes"}) == ["garden.md"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "stet.search needs 'query'"),
        ({"query": "  "}, "stet.search needs 'query'"),
        ({"query": "x" * 1001}, "'query' has 1,001 characters; the maximum is 1,000"),
        ({"query": "x", "limit": 0}, "'limit' must be a whole number from 1 to 200, not 0"),
        ({"query": "x", "limit": 201}, "'limit' must be a whole number from 1 to 200, not 201"),
        ({"query": "x", "limit": True}, "'limit' must be a whole number from 1 to 200, not True"),
        ({"query": "x", "folder": "nope"}, "There is no folder 'nope' in the workspace."),
        ({"query": "x", "folder": "../.."}, "contains `..`"),
        ({"query": "x", "folders": "a"}, "did you mean 'folder'?"),
    ],
)
async def test_what_is_wrong_with_a_question_is_reported(
    editor: FakeEditor, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(JsonRpcException, match=re.escape(message)) as refused:
        await editor.command("stet.search", arguments)
    assert refused.value.code == INVALID


async def test_unsaved_text_is_found_at_its_position(editor: FakeEditor) -> None:
    uri = editor.open("src/shapes.py")
    editor.change(uri, "def circle", "def lighthouse():\n    return 1\n\n\ndef circle")
    [first, *_] = await editor.command("stet.search", "lighthouse")
    assert (first["uri"], first["range"]["start"]["line"]) == (uri, 0)
    editor.close(uri)
    assert "shapes.py" not in await names(editor, "lighthouse", {"limit": 1})


async def symbols(editor: FakeEditor, query: str) -> list[Any]:
    found = await editor.workspace_symbol_async(lsp.WorkspaceSymbolParams(query))
    return list(found or ())


@pytest.mark.parametrize("query", ["", "retry_request", "?", "? ", "?x", " ?tomatoes"])
async def test_without_a_question_there_are_no_symbols(editor: FakeEditor, query: str) -> None:
    assert await symbols(editor, query) == []


async def test_a_question_to_the_symbols_is_answered_with_titles_and_places(
    editor: FakeEditor,
) -> None:
    first, *_ = await symbols(editor, "?when do I water tomatoes")
    assert (first.name, first.kind) == ("Tomatoes", lsp.SymbolKind.String)
    assert (first.location.uri, first.location.range.start.line) == (
        editor.uri("notes/garden.md"), 2,
    )  # fmt: skip
    assert first.container_name.startswith("notes/garden.md (")
    first, *_ = await symbols(editor, "?ask a server again")
    assert (first.name, first.kind) == ("retry_request", lsp.SymbolKind.Function)


async def test_of_many_questions_in_a_row_every_one_is_answered_and_the_last_in_full(
    editor: FakeEditor,
) -> None:
    question = "?when do I water tomatoes"
    typed = [question[:n] for n in range(1, len(question) + 1)]
    answers = await asyncio.gather(*(symbols(editor, text) for text in typed))
    assert answers[-1][0].name == "Tomatoes"
    assert answers[:2] == [[], []]


async def test_the_index_is_made_anew_and_shows_how_far_it_is(editor: FakeEditor) -> None:
    _ = await settled(editor)
    answer = await editor.command("stet.reindex")
    assert (await editor.command("stet.status"))["index"]["state"] in ("starting", "building")
    token = answer["progressToken"]
    await editor.wait_until(lambda: editor.progress_of(token)[-1:] and _is_end(editor, token))
    begin, *_, end = editor.progress_of(token)
    assert (begin.title, begin.cancellable) == ("Stet: indexing", False)
    assert end.message == "5 files"
    assert await settled(editor) == {
        "state": "ready", "files": 5, "total": 5, "chunks": 8, "message": None,
    }  # fmt: skip


def _is_end(editor: FakeEditor, token: str) -> bool:
    return getattr(editor.progress_of(token)[-1], "kind", "") == "end"


async def test_without_a_folder_there_is_nothing_to_index_and_it_is_reported(
    tmp_path: Path,
) -> None:
    async with FakeEditor.start(None) as alone:
        with pytest.raises(JsonRpcException, match="Nothing to index"):
            await alone.command("stet.reindex")
        assert await alone.command("stet.search", "anything") == []
        assert (await alone.command("stet.status"))["index"]["state"] == "off"
