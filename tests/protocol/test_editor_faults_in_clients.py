"""Missing capabilities and odd answers of clients: E32 to E36 of the project's list of faults.

After each the server answers, has every text byte by byte as the editor, and the pending hunk in
`a.txt` can be accepted in its place, or is still pending if the client can't apply edits.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.support.editor_profiles import PROFILES, Profile, Quirk
from tests.support.fault_scene import (
    NEW,
    OLD,
    TEXT,
    at_fault,
    check_unharmed,
    checksum,
    command_result,
    isolated_home,
    proposed,
    three_files,
)
from tests.support.live_turns import (
    ask,
    calls,
    done,
    scripted,
    states,
    wait_for_states,
)
from tests.support.proposals import PROPOSING_SERVER
from tests.support.raw_peer import Message, command, connected, opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of three files."""
    return three_files(tmp_path / "ws")


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"code": -32601, "message": "no"}},
        {"error": None, "result": None},
        {"result": []},
        {"result": [None]},
        {"result": "text"},
        {"result": [5]},
        {"result": [{"agent": 5, "edit": {"scope": []}}]},
        None,
    ],
    ids=lambda answer: f"E32 {answer}",
)
async def test_e32_settings_that_are_refused_slow_or_null_leave_the_defaults(
    tmp_path: Path, answer: Message | None
) -> None:
    env = isolated_home(tmp_path)
    async with connected(PROPOSING_SERVER, initialized=False, env=env) as peer:
        await peer.initialize(workspace={"configuration": True})
        asked = await peer.until("workspace/configuration")
        if answer is not None:
            peer.send({"jsonrpc": "2.0", "id": asked["id"], **answer})
        else:
            peer.send(command("j", "test.jump", 6))  # longer than the server waits for an answer
        uri = "untitled:a"
        peer.send(opened(uri, TEXT))
        status: Message = {}
        while not status.get("ready"):
            status = await command_result(peer, "stet.status")
        if answer is None:  # the late answer
            peer.send({"jsonrpc": "2.0", "id": asked["id"], "result": [{"edit": {"canAdd": 5}}]})
        spec = {"edit": uri, "changes": [[OLD, NEW]]}
        [hunk] = (await command_result(peer, "test.propose", spec))["hunks"]
        assert await command_result(peer, "test.checksums", uri) == [checksum(TEXT)]
        [listed] = await command_result(peer, "stet.proposals")
        assert (listed["hunk"], listed["state"]) == (hunk, "pending")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking(Profile):
    """An editor that does not announce some of its capabilities."""

    lacks: str = ""

    def params(self) -> lsp.InitializeParams:
        """Return the editor's capabilities without the lacking one, a dotted path."""
        params = super(Lacking, self).params()
        *folders, last = self.lacks.split(".")
        place: Any = params.capabilities
        for name in folders:
            place = getattr(place, name)
        assert getattr(place, last) is not None, self.lacks
        setattr(place, last, None)
        return params


LACKS = {
    "applyEdit": "workspace.apply_edit",
    "documentChanges": "workspace.workspace_edit.document_changes",
    "changeAnnotations": "workspace.workspace_edit.change_annotation_support",
    "progress": "window.work_done_progress",
    "showDocument": "window.show_document",
    "message buttons": "window.show_message",
    "inlay hints": "text_document.inlay_hint",
    "code action resolve": "text_document.code_action.resolve_support",
    "code action literals": "text_document.code_action.code_action_literal_support",
    "configuration": "workspace.configuration",
    "everything of the workspace": "workspace",
    "everything of the window": "window",
    "everything of texts": "text_document",
}


@pytest.mark.parametrize("lacks", LACKS.values(), ids=LACKS)
async def test_e33_a_client_without_one_of_its_abilities(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    whole = PROFILES["vscode"]
    fields = {name: getattr(whole, name) for name in Profile.__dataclass_fields__}
    monkeypatch.setitem(PROFILES, "lacking", Lacking(**fields, lacks=lacks))
    env = scripted(tmp_path, calls(("read_file", {"file": "b.txt"})), done())
    async with at_fault(root, client="lacking", env=env) as scene:
        editor = scene.editor
        turn = await ask(editor, "Look", uri=scene.uri)
        while (await editor.command("stet.turn", {"turn": turn}))["state"] != "completed":
            pass  # each request is a round trip
        assert bool(editor.progress_reports) == (lacks not in ("window", LACKS["progress"]))
        await editor.command("stet.next")
        await editor.actions(scene.uri, "three")
        if lacks not in ("workspace", LACKS["applyEdit"]):
            await scene.survives()
            edit_sent = editor.applied[-1].edit
            assert (edit_sent.document_changes is None) == (lacks == LACKS["documentChanges"])
            return
        await editor.command("stet.accept", {"hunk": scene.hunk})
        await editor.wait_for_message("does not accept edits")
        assert editor.applied == []
        await scene.holds()


@pytest.mark.parametrize("quirk", [Quirk.REFUSE, Quirk.NULL, Quirk.SILENT])
async def test_e34_an_edit_that_is_refused_or_never_answered_is_not_taken_for_done(
    root: Path, quirk: Quirk
) -> None:
    async with at_fault(root, quirk=quirk) as scene:
        await scene.editor.command("stet.accept", {"hunk": scene.hunk})
        await scene.editor.wait_until(lambda: scene.editor.applied)
        if quirk is Quirk.SILENT:
            assert await states(scene.editor) == {scene.hunk: "sent"}
            await scene.editor.command("test.jump", 11)
        await scene.editor.wait_for_message("not applied")
        await scene.holds()
        scene.editor.quirk = None
        await scene.survives()


async def test_e34_an_answer_that_comes_when_nobody_waits_changes_nothing(root: Path) -> None:
    async with at_fault(root, quirk=Quirk.SILENT) as scene:
        editor = scene.editor
        sent: list[str] = []
        take = editor.protocol.handle_message

        def noting(message: Any) -> None:
            if getattr(message, "method", "") == lsp.WORKSPACE_APPLY_EDIT:
                sent.append(message.id)
            take(message)

        editor.protocol.handle_message = noting  # type: ignore[method-assign]
        await editor.command("stet.accept", {"hunk": scene.hunk})
        await editor.wait_until(lambda: sent)
        await editor.command("test.jump", 11)
        await editor.wait_for_message("not applied")
        scene.send({"jsonrpc": "2.0", "id": sent[0], "result": {"applied": True}})
        await scene.holds()
        editor.quirk = None
        await scene.survives()


async def test_e35_of_several_files_one_is_refused_in_the_middle(root: Path) -> None:
    async with at_fault(root) as scene:
        editor = scene.editor
        b, c = editor.open("b.txt"), editor.open("c.txt")
        two, three = await proposed(editor, "b.txt", "c.txt")
        apply = editor.apply_edit

        def refusing(params: lsp.ApplyWorkspaceEditParams) -> lsp.ApplyWorkspaceEditResult | None:
            [change] = params.edit.document_changes or ()
            if isinstance(change, lsp.TextDocumentEdit) and change.text_document.uri == b:
                return lsp.ApplyWorkspaceEditResult(False, "no", failed_change=0)
            return apply(params)

        editor.apply_edit = refusing  # type: ignore[method-assign]
        await editor.command("stet.accept", {"all": True})
        wanted = {scene.hunk: "accepted", two: "pending", three: "accepted"}
        await editor.wait_for_message("not applied")
        await wait_for_states(editor, **wanted)
        await check_unharmed(editor, wanted)
        assert [editor.text(uri).count(NEW) for uri in (scene.uri, b, c)] == [1, 0, 1]
        editor.apply_edit = apply  # type: ignore[method-assign]
        await editor.command("stet.accept", {"hunk": two})
        await wait_for_states(editor, **{two: "accepted"})
        assert editor.text(b) == TEXT.replace(OLD, NEW)


async def test_e36_the_users_undo_brings_the_hunk_back(root: Path) -> None:
    async with at_fault(root) as scene:
        editor = scene.editor
        for _ in range(3):
            await editor.command("stet.accept", {"hunk": scene.hunk})
            await wait_for_states(editor, **{scene.hunk: "accepted"})
            editor.change(scene.uri, NEW, OLD)
            await check_unharmed(editor, {scene.hunk: "pending"})
            await scene.holds()
        await scene.survives()
