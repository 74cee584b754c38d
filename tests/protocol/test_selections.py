"""All selections are sent, with the line of the caret and the visible part of a large file."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.live_turns import scripted
from tests.support.restarts import ready

LINES = "".join(f"line {n}\n" for n in range(1, 3001))
Place = tuple[int, int]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.md").write_text("one two\nthree \U0001f600 four\nfive six\n")
    (folder / "large.md").write_text(LINES)
    return folder


def place(at: Place) -> dict[str, int]:
    return {"line": at[0], "character": at[1]}


def select(
    editor: FakeEditor,
    uri: str,
    *selections: tuple[Place, Place],
    visible: tuple[int, int] | None = None,
) -> None:
    """Report selections, the main one first: pairs of anchor and active end; and visible lines."""
    params = {
        "textDocument": {"uri": uri},
        "selections": [{"anchor": place(a), "active": place(b)} for a, b in selections],
    }
    if visible is not None:
        params["visibleRange"] = {
            "start": place((visible[0], 0)),
            "end": place((visible[1], 0)),
        }
    editor.protocol.notify("$/stet/didChangeSelection", params)


async def shown(editor: FakeEditor, **arguments: object) -> dict[str, str]:
    await ready(editor)
    answer = await editor.command("stet.showContext", {"prompt": "Why?", **arguments})
    return {part["name"]: part["text"] for part in answer["sections"]}


def lines_of(sections: dict[str, str]) -> tuple[str, str, str]:
    """Return the line, its content, and the shown lines, as the context has them."""
    found = {
        line.partition(": ")[0]: line.partition(": ")[2]
        for line in sections["current_file"].splitlines()
    }
    return found.get("Line", ""), found.get("Line Content", ""), found["Lines"].partition(" ")[0]


@pytest.mark.parametrize("client", ["vscode", "neovim"])
async def test_all_selections_are_sent_in_the_order_of_the_text(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=scripted(tmp_path)) as editor:
        uri = editor.open("a.md")
        wide = 3 if editor.encoding == "utf-16" else 5 if editor.encoding == "utf-8" else 2
        four = ((1, 6 + wide), (1, 10 + wide))
        select(editor, uri, four, ((0, 4), (0, 7)), ((2, 0), (2, 0)), ((2, 8), (2, 5)))
        sections = await shown(editor)
        assert sections["manually_added_selection"] == "\n".join(
            f'<manually_added_selection path="a.md" lines="{line}-{line}">\n{text}\n'
            "</manually_added_selection>"
            for line, text in ((1, "two"), (2, "four"), (3, "six"))
        )
        assert lines_of(sections)[0] == "2"


@pytest.mark.parametrize(
    ("anchor", "active", "line", "content"),
    [
        ((0, 4), (2, 4), "3", "`five six`"),
        ((2, 4), (0, 4), "1", "`one two`"),
        ((0, 0), (1, 0), "2", "`three \U0001f600 four`"),
        ((1, 0), (0, 0), "1", "`one two`"),
        ((1, 2), (1, 2), "2", "`three \U0001f600 four`"),
        ((0, 0), (3, 0), "4", "``"),
    ],
)
async def test_line_is_that_of_the_active_end(
    root: Path, tmp_path: Path, anchor: Place, active: Place, line: str, content: str
) -> None:
    async with FakeEditor.start(root, client="vscode", env=scripted(tmp_path)) as editor:
        uri = editor.open("a.md")
        select(editor, uri, (anchor, active))
        assert lines_of(await shown(editor))[:2] == (line, content)
        # A selection named in the question: its active end is known from the editor.
        first, last = sorted((anchor, active))
        given = {"start": place(first), "end": place(last)}
        assert lines_of(await shown(editor, uri=uri, range=given))[:2] == (line, content)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"range": {"start": place((0, 1)), "end": place((1, 3))}}, "2"),
        ({"range": {"start": place((0, 0)), "end": place((1, 0))}}, "1"),
        ({"range": {"start": place((1, 2)), "end": place((1, 2))}}, "2"),
        ({"from": 1, "to": 2}, "2"),
        ({"line": 3}, "3"),
    ],
)
async def test_range_without_a_known_caret_has_it_at_its_end(
    root: Path, tmp_path: Path, arguments: dict[str, object], line: str
) -> None:
    async with FakeEditor.start(root, client="vscode", env=scripted(tmp_path)) as editor:
        uri = editor.open("a.md")
        assert lines_of(await shown(editor, uri=uri, **arguments))[0] == line
        select(editor, uri, ((0, 0), (0, 3)), ((2, 0), (2, 4)))
        sections = await shown(editor, uri=uri, line=2)
        assert lines_of(sections)[0] == "2"
        assert sections["manually_added_selection"].count("<manually_added_selection") == 1


async def test_request_with_a_range_reports_a_selection(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, client="eglot", env=scripted(tmp_path)) as editor:
        uri = editor.open("a.md")
        await editor.actions(uri, "two\nthree")
        sections = await shown(editor)
        assert lines_of(sections)[0] == "2"
        assert "two\nthree\n" in sections["manually_added_selection"]


@pytest.mark.parametrize(
    ("caret", "visible", "arguments", "window"),
    [
        ((1499, 0), (1490, 1530), {}, "511-2510"),
        ((1490, 0), (1490, 1530), {}, "511-2510"),
        ((0, 0), (1490, 1530), {}, "1-2000"),
        ((0, 0), (2500, 2540), {}, "1001-3000"),
        ((2999, 0), (0, 40), {}, "1-2000"),
        ((1499, 0), None, {}, "500-2499"),
        ((0, 0), (2500, 2540), {"line": 30}, "1-2000"),
    ],
)
async def test_of_a_large_file_what_the_user_sees_is_sent(
    root: Path, tmp_path: Path, caret: Place, visible: tuple[int, int] | None,
    arguments: dict[str, object], window: str,
) -> None:  # fmt: skip
    async with FakeEditor.start(root, client="vscode", env=scripted(tmp_path)) as editor:
        uri = editor.open("large.md")
        select(editor, uri, (caret, caret), visible=visible)
        given = {"uri": uri, **arguments} if arguments else {}
        sections = await shown(editor, **given)
        assert lines_of(sections)[2] == window
        assert lines_of(sections)[0] == str(arguments.get("line", caret[0] + 1))


async def test_what_was_seen_elsewhere_is_forgotten_when_the_caret_goes_on(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, client="vscode", env=scripted(tmp_path)) as editor:
        uri = editor.open("large.md")
        select(editor, uri, ((5, 0), (5, 0)), visible=(0, 40))
        select(editor, uri, ((2700, 0), (2700, 0)))
        assert lines_of(await shown(editor))[2] == "1001-3000"


async def test_many_selections_are_cut_where_it_shows(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, client="vscode", env=scripted(tmp_path)) as editor:
        uri = editor.open("large.md")
        carets: Sequence[tuple[Place, Place]] = [((n, 0), (n, 4)) for n in range(80)]
        select(editor, uri, *carets)
        text = (await shown(editor))["manually_added_selection"]
        assert text.count("\nline\n") == 50
        assert text.endswith("\n(cut: 30 more selections)")
        select(editor, uri, ((0, 0), (500, 0)), ((600, 0), (600, 4)))
        text = (await shown(editor))["manually_added_selection"]
        assert "more characters are selected)" in text
        assert text.endswith("\n(cut: 1 more selection)")


async def test_neither_completion_nor_signature_help_is_advertised(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, client="vscode", env=scripted(tmp_path)) as editor:
        assert editor.result.capabilities.completion_provider is None
        assert editor.result.capabilities.signature_help_provider is None
