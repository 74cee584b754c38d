"""The editor's undo and redo of adjacent accepted hunks, in one change and in several."""

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.live_turns import states, wait_for_states
from tests.support.proposals import PROPOSING_SERVER, propose
from tests.support.restarts import ready, until_killed

TEXT = "one\ntwo\nthree\nfour\nfive\n"
NEIGHBOURS = {
    "two replaced lines": [("two\n", "2\n"), ("three\n", "3\n")],
    "a deletion and an insertion": [("two\n", ""), ("three\n", "new\nthree\n")],
    "three, which grow, go and come": [
        ("two\n", "2\nII\n"),
        ("three\n", ""),
        ("four\n", "new\nnewer\nfour\n"),
    ],
    "three that are replaced": [("two\n", "2\n"), ("three\n", "3\n"), ("four\n", "4\n")],
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


async def proposed(editor: FakeEditor, edits: Sequence[tuple[str, str]]) -> list[str]:
    """Propose each edit in a separate turn; return the hunks."""
    hunks = []
    for nth, (old, new) in enumerate(edits, 1):
        spec = {"edit": "a.txt", "changes": [[old, new]], "turn": f"t{nth}"}
        hunks += await propose(editor, spec)
    assert len(hunks) == len(edits)
    return hunks


async def accepted(editor: FakeEditor, uri: str, hunks: Sequence[str]) -> list[str]:
    """Accept hunks one by one; return the text before, and after each of them."""
    texts = [editor.text(uri)]
    for hunk in hunks:
        await editor.command("stet.accept", {"hunk": hunk})
        await wait_for_states(editor, **{hunk: "accepted"})
        texts.append(editor.text(uri))
    return texts


def n_alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of equal lines at the start of both."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def lead(editor: FakeEditor, uri: str, text: str) -> None:
    """Change the document to `text` by one change of its middle lines, as an undo does."""
    now, wanted = editor.text(uri).splitlines(True), text.splitlines(True)
    top = n_alike(now, wanted)
    bottom = n_alike(now[top:][::-1], wanted[top:][::-1])
    old = "".join(now[top : len(now) - bottom])
    new = "".join(wanted[top : len(wanted) - bottom])
    if old:
        editor.change(uri, old, new)
    else:
        editor.type(uri, top, 0, new)
    assert editor.text(uri) == text


@pytest.mark.parametrize("edits", NEIGHBOURS.values(), ids=NEIGHBOURS)
@pytest.mark.parametrize("client", ["neovim", "helix"])
async def test_neighbours_are_undone_and_redone_in_one_change_and_in_several(
    root: Path, client: str, edits: Sequence[tuple[str, str]]
) -> None:
    async with FakeEditor.start(root, client=client, command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt")
        hunks = await proposed(editor, edits)
        texts = await accepted(editor, uri, hunks)
        n = len(hunks)
        in_several = [*range(n - 1, -1, -1), *range(1, n + 1)]
        for n_accepted in [0, n, *in_several, 0]:
            lead(editor, uri, texts[n_accepted])
            expected = {
                hunk: "accepted" if nth < n_accepted else "pending"
                for nth, hunk in enumerate(hunks)
            }
            assert await states(editor) == expected
        answer = await editor.command("stet.accept", {"all": True})
        assert answer["hunks"] == []
        for hunk in reversed(hunks):
            await editor.command("stet.accept", {"hunk": hunk})
            await wait_for_states(editor, **{hunk: "accepted"})
        assert editor.text(uri) == texts[-1]
        await editor.command("stet.undo", {"hunk": hunks[0]})
        await wait_for_states(editor, **{hunks[0]: "undone"})


async def test_typing_between_is_undone_and_redone_with_neighbours(root: Path) -> None:
    async with FakeEditor.start(root, command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt")
        hunks = await proposed(editor, NEIGHBOURS["three, which grow, go and come"])
        texts = await accepted(editor, uri, hunks)
        editor.type(uri, 0, 0, "zero ")
        top = editor.text(uri)
        lead(editor, uri, texts[0])
        assert await states(editor) == dict.fromkeys(hunks, "pending")
        lead(editor, uri, top)
        assert await states(editor) == dict.fromkeys(hunks, "accepted")
        await editor.command("stet.undo", {"turn": "t2"})
        await wait_for_states(editor, **{hunks[1]: "undone"})
        # Stet's undo is an edit to the editor, whose undo of that edit is a redo.
        lead(editor, uri, top)
        assert await states(editor) == dict.fromkeys(hunks, "accepted")


@pytest.mark.parametrize(
    "edits", [NEIGHBOURS["a deletion and an insertion"], NEIGHBOURS["three that are replaced"]]
)
async def test_neighbours_are_undone_and_redone_after_a_restart(
    root: Path, tmp_path: Path, edits: Sequence[tuple[str, str]]
) -> None:
    env = {"XDG_STATE_HOME": str(tmp_path / "state")}
    async with until_killed(root, env, command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt")
        hunks = await proposed(editor, edits)
        texts = await accepted(editor, uri, hunks)
        editor.save(uri)
    n, at = len(hunks), len(hunks)
    # Each iteration is one life of the server: undo in one change, in several, and continue.
    for way in ([0, n, 0], [*range(1, n + 1)], [*range(n - 1, 0, -1)], [0], [n]):
        async with until_killed(root, env, command=PROPOSING_SERVER) as editor:
            uri = editor.open("a.txt", texts[at])
            _ = await ready(editor)
            for at in way:
                lead(editor, uri, texts[at])
                expected = {
                    hunk: "accepted" if nth < at else "pending" for nth, hunk in enumerate(hunks)
                }
                assert await states(editor) == expected
            if at == 0:
                answer = await editor.command("stet.accept", {"all": True})
                assert answer["hunks"] == []
            editor.save(uri)
