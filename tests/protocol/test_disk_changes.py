"""Closed files that change on the disk: their diagnostics move, and nothing is lost."""

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.live_turns import wait_for_states
from tests.support.proposals import PROPOSING_SERVER, propose
from tests.support.restarts import proposals

TEXT = "one\ntwo\nthree\nfour\n"
N_FILES = 200
HUNKED = ("f7.txt", "f70.txt", "f170.txt")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of many files."""
    folder = tmp_path / "ws"
    folder.mkdir()
    for number in range(N_FILES):
        (folder / f"f{number}.txt").write_text(TEXT)
    return folder


def switch_branch(editor: FakeEditor, root: Path, text: str) -> list[lsp.FileEvent]:
    """Change every file like another program; return the file events of an editor."""
    events = []
    for path in sorted(root.iterdir()):
        editor.write(path, text)
        events.append(lsp.FileEvent(path.as_uri(), lsp.FileChangeType.Deleted))
        events.append(lsp.FileEvent(path.as_uri(), lsp.FileChangeType.Created))
    return events


def report(editor: FakeEditor, events: list[lsp.FileEvent]) -> None:
    """Report the events that the editor watches."""
    editor.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams(events))


async def propose_three(editor: FakeEditor) -> list[str]:
    """Propose a hunk in each of three files."""
    specs = [{"edit": name, "changes": [["three\n", "3\n"]]} for name in HUNKED]
    return await propose(editor, *specs)


async def shown_on(editor: FakeEditor, line: int, *names: str) -> None:
    """Wait until the hunk of each file, by default of all, is shown on that line."""
    for name in names or HUNKED:
        await editor.wait_for_diagnostics(
            name, lambda shown: [one.range.start.line for one in shown] == [line]
        )


@pytest.mark.parametrize("client", ["vscode", "helix", "eglot"])
async def test_diagnostics_follow_a_reported_branch_switch(root: Path, client: str) -> None:
    async with FakeEditor.start(root, client=client, command=PROPOSING_SERVER) as editor:
        await propose_three(editor)
        [watch] = [one for one in editor.registered if "Watched" in one.method]
        assert watch.method == lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES
        await shown_on(editor, 2)
        report(editor, switch_branch(editor, root, "zero\n" + TEXT))
        await shown_on(editor, 3)
        await editor.command("stet.accept", {"uri": editor.uri(HUNKED[0])})
        await wait_for_states(editor, h1="accepted")
        assert editor.text(HUNKED[0]) == "zero\none\ntwo\n3\nfour\n"


async def test_a_branch_switch_there_and_back_leaves_hunks_as_they_were(root: Path) -> None:
    async with FakeEditor.start(root, client="vscode", command=PROPOSING_SERVER) as editor:
        await propose_three(editor)
        before = await proposals(editor)
        report(editor, switch_branch(editor, root, "quite\nanother\ntext\n"))
        await wait_for_states(editor, h1="conflict", h2="conflict", h3="conflict")
        report(editor, switch_branch(editor, root, TEXT))
        await wait_for_states(editor, h1="pending", h2="pending", h3="pending")
        after = await proposals(editor)
        assert {name: one["range"] for name, one in after.items()} == {
            name: one["range"] for name, one in before.items()
        }


async def test_a_deleted_file_has_its_hunks_in_conflict_until_it_comes_back(root: Path) -> None:
    async with FakeEditor.start(root, client="vscode", command=PROPOSING_SERVER) as editor:
        await propose_three(editor)
        path = root / HUNKED[1]
        path.unlink()
        report(editor, [lsp.FileEvent(path.as_uri(), lsp.FileChangeType.Deleted)])
        await wait_for_states(editor, h1="pending", h2="conflict", h3="pending")
        editor.write(path, "zero\n" + TEXT)
        report(editor, [lsp.FileEvent(path.as_uri(), lsp.FileChangeType.Created)])
        await wait_for_states(editor, h1="pending", h2="pending", h3="pending")


async def test_open_document_keeps_the_text_of_the_editor_when_the_disk_changes(
    root: Path,
) -> None:
    async with FakeEditor.start(root, client="vscode", command=PROPOSING_SERVER) as editor:
        await propose_three(editor)
        editor.open(HUNKED[0])
        report(editor, switch_branch(editor, root, "zero\n" + TEXT))
        await shown_on(editor, 3, *HUNKED[1:])
        await shown_on(editor, 2, HUNKED[0])


@pytest.mark.parametrize(
    ("command", "given"),
    [("stet.proposals", {}), ("stet.next", {}), ("stet.previous", {}), ("stet.review", {})],
)
async def test_where_the_editor_watches_nothing_the_disk_is_looked_at_when_the_user_asks(
    root: Path, command: str, given: dict[str, object]
) -> None:
    async with FakeEditor.start(root, client="neovim", command=PROPOSING_SERVER) as editor:
        await propose_three(editor)
        assert not editor.registered
        await shown_on(editor, 2)
        switch_branch(editor, root, "zero\n" + TEXT)
        await editor.command(command, given)
        await shown_on(editor, 3)
