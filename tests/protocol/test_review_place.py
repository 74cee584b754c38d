"""A question asked from the review page is about the lines that the page shows under the cursor."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, scripted

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
EDITS = (("five", "5\nV"), ("nine", "nine\nten"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of two files with the same text."""
    folder = tmp_path / "ws"
    folder.mkdir()
    for name in ("a.py", "b.py"):
        (folder / name).write_text(TEXT)
    return folder


@asynccontextmanager
async def reviewing(
    root: Path, tmp_path: Path, style: str = "margin", client: str = "neovim"
) -> AsyncIterator[tuple[FakeEditor, str]]:
    """Start an editor in a.py and open the page of two hunks in b.py; yield both."""
    env = scripted(tmp_path, calls(*(edit("b.py", *change) for change in EDITS)), done())
    settings = {"edit": {"reviewStyle": style}}
    async with FakeEditor.start(root, env=env, settings=settings, client=client) as editor:
        await run(editor, "Change", uri=editor.open("b.py"))
        editor.open("a.py")
        editor.select("a.py", "two")
        page = (await editor.command("stet.review"))["uri"]
        await editor.wait_until(lambda: [one for one in editor.shown_documents if one.uri == page])
        editor.open(page)
        yield editor, page


async def asked_about(editor: FakeEditor, **arguments: Any) -> str:
    """Return the file and lines that a question is about, as a model sees them: `a.py 2`."""
    answer = await editor.command("stet.showContext", {"prompt": "Why?", **arguments})
    sections = {part["name"]: part["text"] for part in answer["sections"]}
    selected = re.search(
        r'path="(.*?)" lines="(.*?)"', sections.get("manually_added_selection", "")
    )
    if selected:
        return f"{selected[1]} {selected[2]}"
    file = re.search(r"Path: (.*)\n", sections["current_file"])
    line = re.search(r"\nLine: (\d+)\n", sections["current_file"])
    assert file is not None
    return f"{file[1]} {line[1] if line else '-'}"


async def places(editor: FakeEditor, page: str, *needles: str) -> dict[str, str]:
    """Return the subject of a question for each of these lines of the page."""
    return {
        needle: await asked_about(editor, **line_of(editor, page, needle)) for needle in needles
    }


def line_of(editor: FakeEditor, page: str, needle: str) -> dict[str, Any]:
    """Return the place of a bare cursor on the only line of the page with `needle`."""
    start = editor.range_of(page, needle).start
    place = {"line": start.line, "character": start.character}
    return {"uri": page, "range": {"start": place, "end": place}}


PLACES = {
    "diff --git": 5,
    "@@ h1": 5,
    " three": 3,
    "-five": 5,
    "+5": 5,
    "+V": 5,
    " six": 6,
    " nine": 9,
    "+ten": 9,
}


async def test_every_line_of_the_page_is_a_place(root: Path, tmp_path: Path) -> None:
    async with reviewing(root, tmp_path) as (editor, page):
        assert await places(editor, page, *PLACES) == {
            needle: f"b.py {line}" for needle, line in PLACES.items()
        }
        assert await places(editor, page, "# Stet review") == {"# Stet review": "a.py 2-2"}
        editor.change("b.py", "one\n", "zero\none\n")
        assert await places(editor, page, *PLACES) == {
            needle: f"b.py {line + 1}" for needle, line in PLACES.items()
        }
        assert await places(editor, page, "# Stet review") == {"# Stet review": "a.py 2-2"}


async def test_a_page_that_was_edited_shows_the_same_places(root: Path, tmp_path: Path) -> None:
    async with reviewing(root, tmp_path) as (editor, page):
        editor.change(page, "+5\n+V\n", "+a\n+b\n+c\n+d\n")
        for needle, place in (("+c", "b.py 5"), (" seven", "b.py 7"), (" nine", "b.py 9")):
            assert await asked_about(editor, **line_of(editor, page, needle)) == place


async def test_a_selection_on_the_page_is_one_of_the_file(root: Path, tmp_path: Path) -> None:
    async with reviewing(root, tmp_path) as (editor, page):
        editor.select(page, " four\n-five\n+5\n")
        assert await asked_about(editor) == "b.py 4-5"
        first = line_of(editor, page, "-five")["range"]["start"]["line"] + 1
        assert await asked_about(editor, uri=page, **{"from": first, "to": first + 3}) == "b.py 5-6"


@pytest.mark.parametrize("client", ["neovim", "vscode", "helix", "eglot"])
async def test_without_a_place_it_is_where_the_user_is(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with reviewing(root, tmp_path, client=client) as (editor, page):
        assert await asked_about(editor) == "a.py 2-2"
        editor.select(page, "-five")
        assert await asked_about(editor) == "b.py 5-5"
        editor.select("a.py", "three")
        assert await asked_about(editor) == "a.py 3-3"
        editor.focus(page)
        assert await asked_about(editor) == "b.py 5-5"
        editor.focus("a.py")
        assert await asked_about(editor) == "a.py 3-3"
        editor.focus(page)
        editor.close(page)
        assert await asked_about(editor) == "a.py 3-3"


async def test_an_editor_that_only_asks_where_the_cursor_rests_is_understood(
    root: Path, tmp_path: Path
) -> None:
    async with reviewing(root, tmp_path) as (editor, page):
        editor.focus("b.py")
        place = editor.range_of(page, " six").start
        identifier = lsp.TextDocumentIdentifier(page)
        params = lsp.DocumentHighlightParams(identifier, place)
        assert await editor.text_document_document_highlight_async(params) is None
        assert await asked_about(editor) == "b.py 6"


async def test_where_hunks_are_in_the_text_as_blocks_the_place_is_the_same(
    root: Path, tmp_path: Path
) -> None:
    async with reviewing(root, tmp_path, style="inline") as (editor, page):
        assert await places(editor, page, *PLACES) == {
            needle: f"b.py {line}" for needle, line in PLACES.items()
        }
