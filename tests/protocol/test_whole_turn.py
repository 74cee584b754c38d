"""A turn that edits, creates, moves and removes files: shown, accepted and undone as a whole."""

from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.live_turns import (
    calls,
    done,
    edit,
    run_answering,
    scripted,
    states,
    wait_for_states,
)

CLIENTS = ["neovim", "vscode", "helix", "eglot"]
SETTINGS: dict[str, object] = {"agent": {"disabledTools": []}}
HOME = "# Home\n\nSee [the guide](guide.md) and [old](old.md).\n"
GUIDE = "# Guide\n\nFirst.\n\nLast.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of three pages."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "home.md").write_text(HOME)
    (folder / "guide.md").write_text(GUIDE)
    (folder / "old.md").write_text("Old.\n")
    return folder


def everything(folder: Path) -> dict[str, str]:
    """Return the environment of a model that does all of this, the removal and the move first."""
    return scripted(
        folder,
        calls(*(("read_file", {"file": name}) for name in ("guide.md", "old.md"))),
        calls(
            ("delete_file", {"file": "old.md", "reason": "outdated"}),
            ("move_file", {"file": "guide.md", "to": "docs/guide.md"}),
            ("create_file", {"file": "new.md", "content": "# New\n"}),
        ),
        calls(edit("guide.md", "First.", "The first.", "Say it better")),
        done(),
    )


async def test_each_kind_is_shown_at_the_first_line_of_its_file(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, settings=SETTINGS, env=everything(tmp_path)) as editor:
        home, guide, old = (editor.open(name) for name in ("home.md", "guide.md", "old.md"))
        # An unsaved file can't be removed yet: the accepted removal is pending.
        editor.change(old, "Old.", "Older.")
        turn = await run_answering(editor, "Tidy up", "Delete", uri=home)
        shown = await editor.wait_for_diagnostics(guide, lambda found: len(found) == 2)
        [remove] = await editor.wait_for_diagnostics(old)
        [link] = await editor.wait_for_diagnostics(home)
        assert [(d.range.start.line, d.range.end.line) for d in shown] == [(0, 0), (2, 2)]
        assert shown[0].message.splitlines()[-2:] == [
            "rename from guide.md",
            "rename to docs/guide.md",
        ]
        assert remove.range.start.line == 0
        assert remove.message.splitlines() == [
            "Delete old.md: outdated",
            "(old.md has unsaved changes: save or revert them, then try again.)",
            "(moves the file to Stet's trash; can be undone)",
            "-Older.",
        ]
        assert link.range.start.line == 2
        moved = [h for h in await editor.command("stet.proposals") if h["kind"] == "move"]
        assert [(h["uri"], h["newUri"]) for h in moved] == [(guide, editor.uri("docs/guide.md"))]
        titles = [action.title for action in await editor.actions(guide, "# Guide")]
        assert "Stet: Accept the move and its 1 link updates" in titles
        text = await _review(editor)
        for part in (
            "diff --git a/old.md b/old.md\ndeleted file mode 100644\n--- a/old.md\n+++ /dev/null\n",
            "rename from guide.md\nrename to docs/guide.md\n",
            "diff --git a/new.md b/new.md\nnew file mode 100644\n--- /dev/null\n+++ b/new.md\n",
        ):
            assert part in text
        assert len(turn["hunks"]) == 5


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_whole_turn_is_taken_and_taken_back(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(
        root, client=client, settings=SETTINGS, env=everything(tmp_path)
    ) as editor:
        home = editor.open("home.md")
        turn = await run_answering(editor, "Tidy up", "Delete", uri=home)
        assert (await editor.command("stet.accept", {"turn": turn["turn"]}))["refused"] == []
        await wait_for_states(editor, **dict.fromkeys(turn["hunks"], "accepted"))
        editor.from_server("new.md", "old.md", "guide.md", "docs/guide.md")
        assert "[the guide](docs/guide.md)" in editor.text(home)
        assert not (root / "old.md").exists()
        assert not (root / "guide.md").exists()
        assert (root / "docs" / "guide.md").exists()
        for name in tuple(editor.documents):
            editor.save(name)

        answer = await editor.command("stet.undo", {"turn": turn["turn"]})
        assert sorted(answer["hunks"]) == sorted(turn["hunks"])
        await wait_for_states(editor, **dict.fromkeys(turn["hunks"], "undone"))
        editor.from_server("new.md", "old.md", "guide.md", "docs/guide.md")
        assert editor.text(home) == HOME
        assert (root / "old.md").read_text() == "Old.\n"
        assert (root / "guide.md").exists()
        assert not (root / "docs" / "guide.md").exists()
        assert set((await states(editor)).values()) == {"undone"}


async def _review(editor: FakeEditor) -> str:
    uri = (await editor.command("stet.review"))["uri"]
    await editor.wait_until(lambda: editor.shown_documents)
    return editor.text(editor.open(uri))
