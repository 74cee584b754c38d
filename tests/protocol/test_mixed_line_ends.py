"""Files with several kinds of line ends: a replaced line keeps its line end."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, run, scripted, wait_for_states

TEXT = "one\r\ntwo\nthree\rfour\r\nfive\nsix\nseven\n"
DOMINANT_CRLF = "one\ntwo\r\nthree\r\nfour\nfive\r\nsix\r\nseven"


def by_position(where: str, content: str) -> tuple[str, dict[str, Any]]:
    """Make a call of `edit_file` by line numbers."""
    return "edit_file", {"file": "a.txt", "position": where, "content": content}


CASES = {
    "one line by its text": (TEXT, edit("a.txt", "one", "1"), "1\r\n"),
    "a line among others that are quoted": (
        TEXT,
        edit("a.txt", "two\nthree\nfour\n", "two\ndrei\nvier\n"),
        "two\ndrei\rvier\r\n",
    ),
    "lines unlike any before": (
        TEXT,
        edit("a.txt", "three\nfour\nfive", "xxx\nyyy\nzzz"),
        "two\nxxx\ryyy\r\nzzz\n",
    ),
    "quoted with other white space": (
        TEXT,
        edit("a.txt", "  three\n  four\n", "  tres\n  quatro\n"),
        "tres\rquatro\r\n",
    ),
    "one line by its number": (TEXT, by_position("replace:4", "vier\n"), "vier\r\nfive\n"),
    "several lines by number": (
        TEXT,
        by_position("replace:1-4", "1\n2\n3\n4\n"),
        "1\r\n2\n3\r4\r\nfive\n",
    ),
    "more lines than there were": (
        DOMINANT_CRLF,
        by_position("replace:4", "4a\n4b\n"),
        "three\r\n4a\n4b\nfive\r\n",
    ),
    "fewer lines than there were": (
        DOMINANT_CRLF,
        by_position("replace:2-4", "rest\n"),
        "one\nrest\nfive\r\n",
    ),
    "the last line, which has none": (
        DOMINANT_CRLF,
        by_position("replace:6-7", "sechs\nsieben\n"),
        "sechs\r\nsieben",
    ),
    "a line of a file that ends its lines otherwise": (
        DOMINANT_CRLF,
        edit("a.txt", "four", "vier"),
        "vier\nfive\r\n",
    ),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make an empty workspace."""
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("name", CASES)
async def test_a_replaced_line_keeps_its_own_line_end(
    root: Path, tmp_path: Path, name: str
) -> None:
    text, call, wanted = CASES[name]
    (root / "a.txt").write_bytes(text.encode())
    env = scripted(tmp_path, calls(("read_file", {"file": "a.txt"})), calls(call), done())
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Do", uri=uri)
        assert turn["hunks"], turn
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await wait_for_states(editor, **dict.fromkeys(turn["hunks"], "accepted"))
        assert wanted in editor.text(uri)


async def test_rewritten_lines_keep_their_line_ends(root: Path, tmp_path: Path) -> None:
    (root / "a.txt").write_bytes(TEXT.encode())
    env = scripted(tmp_path, {"text": "```\nuno\ntwo\ntres\nquatro\n```\n", "tool_calls": []})
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt")
        turn = await run(editor, "Translate", uri=uri, mode="rewrite", **{"from": 1, "to": 4})
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await wait_for_states(editor, **dict.fromkeys(turn["hunks"], "accepted"))
        assert editor.text(uri).startswith("uno\r\ntwo\ntres\rquatro\r\nfive\n")


async def test_a_property_keeps_the_line_end_of_its_line(root: Path, tmp_path: Path) -> None:
    note = "---\r\ntitle: Old\nkeywords:\n  - a\nother: x\r\n---\r\nText\r\nMore\r\n"
    (root / "a.md").write_bytes(note.encode())
    wanted = {"file": "a.md", "set": {"title": "New", "keywords": ["b", "c"]}}
    env = scripted(tmp_path, calls(("update_properties", wanted)), done())
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.md")
        turn = await run(editor, "Do", uri=uri)
        assert turn["hunks"], turn
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await wait_for_states(editor, **dict.fromkeys(turn["hunks"], "accepted"))
        wanted_lines = "title: New\nkeywords:\n  - b\n  - c\nother: x\r\n"
        assert editor.text(uri) == f"---\r\n{wanted_lines}---\r\nText\r\nMore\r\n"
