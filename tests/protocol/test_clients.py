"""One scenario in every editor, with its faults: it ends with the same texts in all of them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.editor_profiles import PROFILES, Quirk
from tests.support.live_turns import states, wait_for_states
from tests.support.proposals import PROPOSING_SERVER, propose

FILES = {
    "a.md": "# A\n\none\ntwo\nthree\nfour\nfive\n",
    "b.md": "# B\n\nSee [old](old.md).\n\nlast\n",
    "old.md": "# Old\n\nSee [b](b.md).\n\nwords\n",
    "gone.md": "gone\r\nwith \xfc\n",
}
AFTER = {
    "a.md": "typed above\n# A\n\n1\ntwo\nthree\nfour, too\n5\n",
    "b.md": "# B\n\nSee [old](sub/new.md).\n\nlast\n",
    "sub/new.md": "# Old\n\nSee [b](../b.md).\n\nwords typed\n",
    "made/c.md": "# C\n\nnew\n",
}
BACK = {
    "a.md": "typed above\n# A\n\none\ntwo\nthree\nfour, too\n5, too\n",
    "b.md": FILES["b.md"],
    "old.md": "# Old\n\nSee [b](b.md).\n\nwords typed\n",
    "gone.md": FILES["gone.md"],
}
CASES = [
    *[(client, None) for client in PROFILES],
    ("neovim", Quirk.SLOW),
    ("eglot", Quirk.SLOW),
    ("vscode", Quirk.PARTIAL),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make the workspace in its initial state."""
    folder = tmp_path / "ws"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_bytes(text.encode())
    return folder


def texts(root: Path) -> dict[str, str]:
    """Read every file below the root."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes().decode()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


async def decide(editor: FakeEditor, command: str, hunks: Sequence[str], state: str) -> None:
    """Accept or undo hunks one by one, and wait for their state."""
    for hunk in hunks:
        await editor.command(command, {"hunk": hunk})
    await wait_for_states(editor, **dict.fromkeys(hunks, state))


def close_stale(editor: FakeEditor, *names: str) -> None:
    """Close, as the user, documents whose files have been moved."""
    for name in names:
        if editor.uri(name) in editor.documents:
            editor.close(name)


def save_all(editor: FakeEditor) -> None:
    for uri in list(editor.documents):
        editor.save(uri)


@pytest.mark.parametrize(("client", "quirk"), CASES)
async def test_accepting_and_undoing_end_in_the_same_texts_in_every_editor(
    root: Path, client: str, quirk: Quirk | None
) -> None:
    async with FakeEditor.start(
        root, client=client, quirk=quirk, command=PROPOSING_SERVER
    ) as editor:
        a, _ = editor.open("a.md"), editor.open("old.md")
        one, three, five = await propose(
            editor,
            {"edit": "a.md", "changes": [["one", "1"], ["three", "3"], ["five", "5"]]},
        )
        editor.type(a, 0, 0, "typed above\n")
        await decide(editor, "stet.accept", [one], "accepted")
        await editor.command("stet.reject", {"hunk": three})
        editor.change(a, "four", "four, too")
        await decide(editor, "stet.accept", [five], "accepted")

        made, gone = await propose(
            editor, {"create": "made/c.md", "text": "# C\n\nnew\n"}, {"remove": "gone.md"}
        )
        move, *links = await propose(
            editor,
            {
                "move": "old.md",
                "to": "sub/new.md",
                "links": {"b.md": [["old.md", "sub/new.md"]], "old.md": [["b.md", "../b.md"]]},
            },
        )
        await decide(editor, "stet.accept", [made], "accepted")
        await decide(editor, "stet.accept", [gone], "accepted")
        proposal = {hunk["hunk"]: hunk for hunk in await editor.command("stet.proposals")}
        await editor.command("stet.accept", {"proposal": proposal[move]["proposal"]})
        await wait_for_states(editor, **dict.fromkeys([move, *links], "accepted"))
        editor.from_server("made/c.md", "gone.md", "old.md", "sub/new.md")
        close_stale(editor, "old.md")
        new = editor.uri("sub/new.md")
        if new not in editor.documents:
            editor.open(new)
        editor.change(new, "words", "words typed")
        save_all(editor)
        assert texts(root) == AFTER

        editor.change(a, "5", "5, too")
        await decide(editor, "stet.undo", [one], "undone")
        save_all(editor)
        await decide(editor, "stet.undo", [made], "undone")
        await decide(editor, "stet.undo", [gone], "undone")
        await editor.command("stet.undo", {"proposal": proposal[move]["proposal"]})
        await wait_for_states(editor, **dict.fromkeys([move, *links], "undone"))
        editor.from_server("made/c.md", "gone.md", "old.md", "sub/new.md")
        close_stale(editor, "sub/new.md", "made/c.md")
        save_all(editor)
        assert texts(root) == BACK
        assert (await states(editor))[three] == "rejected"
