"""`stet.deadLinks` in real sessions: the diagnostics and when they disappear."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor

FILES = {
    "a.md": "# A\n\n\U0001f60a [[Giude]] and [[b]]\n\n[x](gone.md)\n",
    "b.md": "[[a]]\n",
    "docs/guide.md": "![[none.png]]\n",
    "wall/guide2.md": "[[nowhere]]\n",
}
SETTINGS = {"context": {"excludedFolders": ["wall"]}}
NEAR = "'Giude' does not exist. Similar: docs/guide.md."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make notes with dead links in two of them, and a third in an excluded folder."""
    folder = tmp_path / "ws"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def shown(found: Sequence[lsp.Diagnostic]) -> list[tuple[int, int, int, str]]:
    """Return line, columns and message of each diagnostic."""
    return [
        (d.range.start.line, d.range.start.character, d.range.end.character, d.message)
        for d in found
    ]


GONE = (4, 4, 11, "'gone.md' does not exist.")


async def test_dead_links_are_diagnostics_from_asking_to_clearing(root: Path) -> None:
    async with FakeEditor.start(root, client="vscode", settings=SETTINGS) as editor:
        uri, closed = editor.open("a.md"), editor.uri("docs/guide.md")
        assert await editor.command("stet.deadLinks") == {}
        found = await editor.wait_for_diagnostics(uri)
        assert shown(found) == [(2, 5, 10, NEAR), GONE]
        assert {(d.source, d.code, d.severity) for d in found} == {
            ("stet", "dead-link", lsp.DiagnosticSeverity.Warning)
        }
        [image] = await editor.wait_for_diagnostics(closed)
        assert image.message == "'none.png' does not exist."
        await editor.wait_until(lambda: shown_text(editor) == ["Stet: 3 dead links in 2 files."])
        assert editor.uri("wall/guide2.md") not in editor.diagnostics
        actions = [action.title for action in await editor.actions(uri, "# A")]
        assert "Stet: Find dead links" in actions
        assert "Stet: Hide dead links" in actions
        await editor.command("stet.deadLinks", {"clear": True})
        await editor.wait_until(lambda: not any(map(editor.diagnostics.get, (uri, closed))))
        editor.save(uri)
        await editor.command("stet.status")
        assert not editor.diagnostics[uri]


def shown_text(editor: FakeEditor) -> list[str]:
    return [message.message for message in editor.messages]


async def test_what_is_typed_takes_marks_away_and_saving_looks_again(root: Path) -> None:
    async with FakeEditor.start(root, client="vscode", settings=SETTINGS) as editor:
        uri = editor.open("a.md")
        await editor.command("stet.deadLinks", {"file": "a.md"})
        await editor.wait_for_diagnostics(uri)
        editor.type(uri, 0, 0, "new\n")
        below = (5, 4, 11, GONE[3])
        await editor.wait_until(lambda: below in shown(editor.diagnostics[uri]))
        editor.change(uri, "[[Giude]]", "[[guide]] [[Giude]]")
        await editor.wait_until(lambda: shown(editor.diagnostics[uri]) == [below])
        editor.write(root / "gone.md", "here\n")
        editor.save(uri)
        await editor.wait_until(lambda: shown(editor.diagnostics[uri]) == [(3, 15, 20, NEAR)])
        assert shown_text(editor) == ["Stet: 2 dead links in 1 file."]


@pytest.mark.parametrize(
    ("scope", "text"),
    [
        ({"file": "b.md"}, "Stet: no dead links."),
        ({"folder": "docs"}, "Stet: 1 dead link in 1 file."),
        ({"file": "nothing.md"}, "Stet: There is no file 'nothing.md'."),
        ({"file": "wall/guide2.md"}, "Stet: 'wall' is an excluded folder."),
    ],
)
async def test_search_for_dead_links_ends_with_a_message(
    root: Path, scope: dict[str, str], text: str
) -> None:
    async with FakeEditor.start(root, client="vscode", settings=SETTINGS) as editor:
        await editor.command("stet.deadLinks", scope)
        await editor.wait_until(lambda: shown_text(editor) == [text])
