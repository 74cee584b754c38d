"""Accepting while the user types in an editor that applies edits late: no approval is lost."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.editor_profiles import Quirk
from tests.support.live_turns import calls, done, edit, run, scripted, states, wait_for_states
from tests.support.restarts import proposals, ready, until_killed
from tests.support.typist import Typist

TEXT = "one\ntwo\nand\nthree\nfour\n"
CLIENTS = ("neovim", "helix", "eglot", "vscode")
WAITING = "waiting for the editor"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Return the environment: a persistent state folder, and a model that writes digits."""
    script = scripted(
        tmp_path, calls(edit("a.txt", "two", "2"), edit("a.txt", "four", "4")), done()
    )
    return {**script, "XDG_STATE_HOME": str(tmp_path / "state")}


@asynccontextmanager
async def typing(
    root: Path, env: dict[str, str], client: str = "vscode", quirk: Quirk | None = None
) -> AsyncIterator[tuple[FakeEditor, str, Typist]]:
    """Start an editor with two hunks that takes 0.15 s per edit, and a user who types."""
    async with FakeEditor.start(root, client=client, env=env, quirk=quirk) as editor:
        uri = editor.open("a.txt")
        await run(editor, "Digits", uri=uri)
        editor.looks_after = 0.15
        async with Typist(editor, uri, every=0.06) as typist:
            yield editor, uri, typist


async def refused(editor: FakeEditor, times: int = 3) -> None:
    """Wait until the editor has had `times` requests, and has refused all but the last."""
    await editor.wait_until(lambda: len(editor.applied) >= times)


@pytest.mark.parametrize("client", CLIENTS)
async def test_an_accepted_hunk_is_sent_until_the_editor_takes_it(
    root: Path, env: dict[str, str], client: str
) -> None:
    async with typing(root, env, client) as (editor, uri, typist):
        await editor.command("stet.accept", {"hunk": "h1"})
        await refused(editor)
        found = (await proposals(editor))["h1"]
        assert (found["state"], found["reason"]) == ("sent", WAITING)
        await typist.stop()
        await wait_for_states(editor, h1="accepted", h2="pending")
        assert editor.text(uri) == typist.typed + TEXT.replace("two", "2")
        assert editor.most_in_flight == 1
        assert not editor.shown_documents
        assert not [one.message for one in editor.messages if "not applied" in one.message]


async def test_all_that_is_accepted_is_sent_until_the_editor_takes_it(
    root: Path, env: dict[str, str]
) -> None:
    async with typing(root, env) as (editor, uri, typist):
        await editor.command("stet.accept", {"hunk": "h1"})
        await refused(editor)
        answer = await editor.command("stet.accept", {"all": True})
        assert answer == {"hunks": ["h1", "h2"], "refused": []}
        await refused(editor, 6)
        assert await states(editor) == {"h1": "sent", "h2": "sent"}
        await typist.stop()
        await wait_for_states(editor, h1="accepted", h2="accepted")
        assert editor.text(uri) == typist.typed + TEXT.replace("two", "2").replace("four", "4")
        assert editor.most_in_flight == 1


async def test_edit_is_sent_again_to_an_editor_that_reports_its_text_after_refusing(
    root: Path, env: dict[str, str]
) -> None:
    async with typing(root, env, "eglot", Quirk.SLOW) as (editor, uri, typist):
        await editor.command("stet.accept", {"hunk": "h1"})
        await editor.wait_until(lambda: editor.applied and not editor.n_in_flight, every=0.02)
        await typist.stop()
        editor.flush()
        await wait_for_states(editor, h1="accepted")
        assert editor.text(uri) == typist.typed + TEXT.replace("two", "2")


Way = Callable[[FakeEditor], Awaitable[Any]]
WAYS: dict[str, tuple[Way, str]] = {
    "reject": (lambda editor: editor.command("stet.reject", {"hunk": "h1"}), "rejected"),
    "reject all": (lambda editor: editor.command("stet.reject", {"all": True}), "rejected"),
    "undo": (lambda editor: editor.command("stet.undo", {"hunk": "h1"}), "pending"),
}


@pytest.mark.parametrize("way", WAYS)
async def test_an_approval_can_be_taken_back_while_it_waits(
    root: Path, env: dict[str, str], way: str
) -> None:
    take_back, state = WAYS[way]
    async with typing(root, env) as (editor, uri, typist):
        await editor.command("stet.accept", {"hunk": "h1"})
        await refused(editor)
        await take_back(editor)
        assert (await states(editor))["h1"] == state
        await editor.wait_until(lambda: not editor.n_in_flight, every=0.02)
        await typist.stop()
        await editor.command("stet.status")  # by now the server knows that the edit was refused
        assert editor.text(uri) == typist.typed + TEXT
        assert not [one.message for one in editor.messages if "not applied" in one.message]
        if state == "rejected":
            await editor.command("stet.restore", {"hunk": "h1"})
        await editor.command("stet.accept", {"hunk": "h1"})
        await wait_for_states(editor, h1="accepted")
        assert editor.text(uri) == typist.typed + TEXT.replace("two", "2")


class HeldOutput:
    """A writer that holds the editor's messages, to send them in one piece."""

    def __init__(self, editor: FakeEditor) -> None:
        """Hold everything that `editor` sends from now on."""
        self.messages: list[bytes] = []
        self._editor = editor
        self._writer: Any = editor.protocol.writer
        editor.protocol.set_writer(self)

    def write(self, data: bytes) -> None:
        """Hold one message."""
        self.messages.append(data)

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()

    def holds(self, part: bytes) -> bool:
        """Tell whether a message with `part` is held."""
        return any(part in message for message in self.messages)

    def release(self) -> None:
        """Send everything in one piece; send later messages at once."""
        self._editor.protocol.set_writer(self._writer)
        self._writer.write(b"".join(self.messages))


async def test_an_answer_is_handled_before_a_command_that_arrives_with_it(
    root: Path, env: dict[str, str]
) -> None:
    async with FakeEditor.start(root, client="vscode", env=env) as editor:
        uri = editor.open("a.txt")
        await run(editor, "Digits", uri=uri)
        editor.looks_after = 0.2
        await editor.command("stet.accept", {"hunk": "h1"})
        await editor.wait_until(lambda: editor.n_in_flight, every=0.02)
        editor.type(uri, 0, 0, "x")  # this makes the edit stale
        await editor.command("stet.reject", {"hunk": "h1"})
        output = HeldOutput(editor)
        await editor.wait_until(lambda: output.holds(b'"applied"'), every=0.02)
        async with asyncio.TaskGroup() as group:
            restored = group.create_task(editor.command("stet.restore", {"hunk": "h1"}))
            await editor.wait_until(lambda: output.holds(b"stet.restore"), every=0.02)
            output.release()
        assert restored.result() == {"hunks": ["h1"], "refused": []}
        assert editor.text(uri) == "x" + TEXT


async def test_a_cancelled_accept_does_not_keep_back_later_edits(
    root: Path, env: dict[str, str]
) -> None:
    async with FakeEditor.start(root, client="vscode", env=env) as editor:
        uri = editor.open("a.txt")
        await run(editor, "Digits", uri=uri)
        editor.flush()
        output = HeldOutput(editor)
        params = lsp.ExecuteCommandParams("stet.accept", [{"hunk": "h1"}])
        editor.protocol.send_request("workspace/executeCommand", params, msg_id="cancelled")
        editor.protocol.notify("$/cancelRequest", lsp.CancelParams("cancelled"))
        output.release()
        await editor.command("stet.accept", {"hunk": "h2"})
        await wait_for_states(editor, h1="accepted", h2="accepted")


@pytest.mark.parametrize(("command", "state"), [("reject", "rejected"), ("undo", "undone")])
async def test_an_edit_that_arrives_after_its_approval_was_taken_back_is_undone(
    root: Path, env: dict[str, str], command: str, state: str
) -> None:
    async with FakeEditor.start(root, client="vscode", env=env) as editor:
        uri = editor.open("a.txt")
        await run(editor, "Digits", uri=uri)
        editor.looks_after = 0.3
        await editor.command("stet.accept", {"hunk": "h1"})
        await editor.wait_until(lambda: editor.n_in_flight, every=0.02)
        await editor.command(f"stet.{command}", {"hunk": "h1"})
        await editor.wait_until(lambda: len(editor.applied) == 2)
        await wait_for_states(editor, h1=state, h2="pending")
        assert editor.text(uri) == TEXT


async def test_a_restart_takes_an_approval_back(root: Path, env: dict[str, str]) -> None:
    async with until_killed(root, env) as editor:
        uri = editor.open("a.txt")
        await run(editor, "Digits", uri=uri)
        editor.looks_after = 0.15
        async with Typist(editor, uri, every=0.06) as typist:
            await editor.command("stet.accept", {"hunk": "h1"})
            await refused(editor)
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.txt", typist.typed + TEXT)
        await ready(editor)
        assert await states(editor) == {"h1": "pending", "h2": "pending"}
        await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, h1="accepted", h2="accepted")


async def test_an_approval_ends_where_the_user_writes_over_its_lines(
    root: Path, env: dict[str, str]
) -> None:
    async with typing(root, env) as (editor, uri, typist):
        await editor.command("stet.accept", {"all": True})
        await refused(editor)
        editor.change(uri, "two\nand\n", "mine\n")
        await typist.stop()
        await wait_for_states(editor, h1="conflict", h2="accepted")
        assert editor.text(uri) == typist.typed + "one\nmine\nthree\n4\n"


async def test_an_undo_is_sent_until_the_editor_takes_it(root: Path, env: dict[str, str]) -> None:
    async with FakeEditor.start(root, client="helix", env=env) as editor:
        uri = editor.open("a.txt")
        await run(editor, "Digits", uri=uri)
        await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, h1="accepted", h2="accepted")
        editor.applied.clear()
        editor.looks_after = 0.15
        async with Typist(editor, uri, every=0.06) as typist:
            await editor.command("stet.undo", {"hunk": "h1"})
            await refused(editor)
            await typist.stop()
            await wait_for_states(editor, h1="undone")
        assert editor.text(uri) == typist.typed + TEXT.replace("four", "4")


async def test_late_response_is_awaited(root: Path, env: dict[str, str]) -> None:
    async with typing(root, env) as (editor, uri, typist):
        editor.looks_after, editor.answers_after = 0.0, 0.3
        answers = [editor.command("stet.accept", {"hunk": hunk}) for hunk in ("h1", "h2")]
        await asyncio.gather(*answers)
        await wait_for_states(editor, h1="accepted", h2="accepted")
        await typist.stop()
        assert editor.text(uri) == typist.typed + TEXT.replace("two", "2").replace("four", "4")
        assert editor.most_in_flight == 1
