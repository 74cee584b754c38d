"""Events of folders and files: E27 to E31 and E37 of the project's list of faults.

After each the server answers, has every text byte by byte as the editor, and the pending hunk in
`a.txt` can be accepted in its place.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.fault_scene import TEXT, FaultScene, at_fault, isolated_home, proposed
from tests.support.live_turns import end_of
from tests.support.paused_turns import paused_model, start_paused_turn
from tests.support.proposals import PROPOSING_SERVER
from tests.support.raw_peer import notification


async def test_e27_a_folder_that_goes_in_a_run_takes_nothing_with_it(
    root: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.txt").write_text(TEXT)
    (root / "b.txt").unlink()
    env, go = paused_model(tmp_path)
    async with at_fault([root, other], env=env) as scene:
        turn = await start_paused_turn(scene)
        folder = lsp.WorkspaceFolder(other.as_uri(), "other")
        new = lsp.WorkspaceFolder((tmp_path / "ws" / "new").as_uri(), "new")
        for event in (
            lsp.WorkspaceFoldersChangeEvent(added=[new, folder], removed=[]),
            lsp.WorkspaceFoldersChangeEvent(added=[], removed=[folder, folder, new]),
        ):
            scene.editor.workspace_did_change_workspace_folders(
                lsp.DidChangeWorkspaceFoldersParams(event=event)
            )
        await scene.holds()
        go.touch()
        ended = await end_of(scene.editor, turn)
        assert ended["toolCalls"][1]["state"] == "error"
        assert ended["hunks"] == []
        await scene.survives()


async def test_e28_without_any_root_open_files_are_worked_on(root: Path) -> None:
    async with FakeEditor.start(None, client="vscode", command=PROPOSING_SERVER) as editor:
        uri = editor.open((root / "a.txt").as_uri(), TEXT)
        [hunk] = await proposed(editor, "a.txt")
        await FaultScene(editor, uri, hunk).survives()


@pytest.mark.parametrize("fault", ["renamed", "deleted", "changed"])
async def test_e29_the_disk_changes_under_an_open_file(root: Path, fault: str) -> None:
    path = root / "a.txt"
    async with at_fault(root) as scene:
        if fault == "changed":
            path.write_text("nothing of the kind\n")
        elif fault == "deleted":
            path.unlink()
        else:
            path.rename(root / "moved.txt")
        report_all(scene)
        scene.editor.type(scene.uri, 0, 0, "typed\n")
        await scene.survives()
        scene.editor.from_server("a.txt", "moved.txt")


@pytest.mark.parametrize("fault", ["a folder", "a link"])
async def test_e29_what_is_no_file_any_more_is_not_written_to(root: Path, fault: str) -> None:
    path = root / "a.txt"
    async with at_fault(root) as scene:
        path.rename(root / "moved.txt")
        if fault == "a folder":
            path.mkdir()
        else:
            path.symlink_to("/etc/hostname")
        report_all(scene)
        scene.editor.type(scene.uri, 0, 0, "typed\n")
        await scene.holds()
        await scene.editor.command("stet.accept", {"hunk": scene.hunk})
        await scene.editor.wait_for_message("not applied")
        await scene.holds()
        if fault == "a folder":
            path.rmdir()
        else:
            path.unlink()
        (root / "moved.txt").rename(path)
        await scene.survives()


def report_all(scene: FaultScene) -> None:
    """Report every possible event of a scene's file."""
    kinds = (lsp.FileChangeType.Deleted, lsp.FileChangeType.Created, lsp.FileChangeType.Changed)
    report(scene.editor, [lsp.FileEvent(scene.uri, kind) for kind in kinds])


def report(editor: FakeEditor, events: Sequence[lsp.FileEvent]) -> None:
    """Report the events that the editor watches."""
    editor.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams(events))


async def test_e30_a_save_without_its_text_changes_nothing(root: Path) -> None:
    async with at_fault(root) as scene:
        scene.editor.type(scene.uri, 0, 0, "typed\n")
        identifier = {"textDocument": {"uri": scene.uri}}
        scene.send(
            notification("textDocument/didSave", identifier),
            notification("textDocument/didSave", {**identifier, "text": None}),
            notification("textDocument/didSave", {"textDocument": {"uri": "file:///never"}}),
        )
        await scene.survives()


async def test_e31_a_storm_of_fifty_thousand_events(root: Path) -> None:
    async with at_fault(root) as scene:
        [other] = await proposed(scene.editor, "b.txt")
        (root / "b.txt").write_text("zero\n" + TEXT)
        changes = [
            {"uri": f"{root.as_uri()}/f{n % 5_000}/g{n}.txt", "type": n % 3 + 1}
            for n in range(49_990)
        ]
        changes += [{"uri": scene.editor.uri(name), "type": 2} for name in ("a.txt", "b.txt")] * 5
        scene.send(notification("workspace/didChangeWatchedFiles", {"changes": changes}))
        scene.editor.type(scene.uri, 0, 0, "typed\n")
        await scene.editor.wait_for_diagnostics(
            "b.txt", lambda shown: [one.range.start.line for one in shown] == [3]
        )
        scene.editor.from_server("b.txt")
        await scene.survives(**{other: "pending"})


async def test_e37_two_editors_on_one_workspace_each_keep_their_own(
    root: Path, tmp_path: Path
) -> None:
    env = isolated_home(tmp_path / "home")
    async with at_fault(root, env=env) as one, at_fault(root, client="neovim", env=env) as other:
        assert one.hunk != other.hunk
        one.editor.type(one.uri, 0, 0, "typed here\n")
        other.editor.change(other.uri, "two", "typed there")
        await one.holds()
        await other.survives()
        await one.survives()
