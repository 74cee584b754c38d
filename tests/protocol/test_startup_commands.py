"""Commands before the server is ready: none answers that nothing is pending, none is lost."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.editor_profiles import Quirk
from tests.support.live_turns import calls, done, edit, end_of, run, scripted, wait_for_states
from tests.support.proposals import PROPOSING_SERVER
from tests.support.restarts import until_killed

TEXT = "one\ntwo\nand\nthree\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of two files."""
    folder = tmp_path / "ws"
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text(TEXT)
    return folder


@pytest.fixture
async def env(root: Path, tmp_path: Path) -> dict[str, str]:
    """Make the state of a killed server: h1 is pending, h2 rejected, h3 pending in b.txt."""
    script = scripted(
        tmp_path,
        calls(("read_file", {"file": "b.txt"})),
        calls(edit("a.txt", "two", "2"), edit("a.txt", "three", "3"), edit("b.txt", "two", "2")),
        done(),
    )
    env = {**script, "XDG_STATE_HOME": str(tmp_path / "state")}
    async with until_killed(root, env) as editor:
        turn = await run(editor, "Digits", uri=editor.open("a.txt"), chat="notes")
        assert turn["hunks"] == ["h1", "h2", "h3"]
        await editor.command("stet.reject", {"hunk": "h2"})
        await editor.command("stet.context", {"add": ["b.txt"], "save": "mine"})
    return {**env, **scripted(tmp_path, done("Looked."))}


def begun(editor: FakeEditor, *commands: tuple[str, dict[str, Any]]) -> list[asyncio.Task[Any]]:
    """Send commands one after the other without waiting for their answers."""
    start = asyncio.get_running_loop().create_task
    return [start(editor.command(name, given)) for name, given in commands]


async def test_commands_wait_for_what_earlier_runs_kept_and_are_carried_out_in_order(
    root: Path, env: dict[str, str]
) -> None:
    async with FakeEditor.start(root, env=env, quirk=Quirk.LATE_SETTINGS) as editor:
        uri = editor.open("a.txt")
        tasks = begun(
            editor,
            ("stet.proposals", {}),
            ("stet.accept", {"all": True}),
            ("stet.reject", {"hunk": "h3"}),
            ("stet.proposals", {"state": "rejected"}),
        )
        status = await editor.command("stet.status")
        assert not status["ready"]
        assert not any(task.done() for task in tasks)
        assert not any(editor.diagnostics.values())
        editor.settings_reported.set()
        every, accepted, rejected, later = await asyncio.gather(*tasks)
        assert {one["hunk"]: one["state"] for one in every} == {
            "h1": "pending",
            "h2": "rejected",
            "h3": "pending",
        }
        other = (root / "b.txt").as_uri()
        assert accepted == {"hunks": ["h1", "h3"], "refused": [], "otherFiles": [other]}
        assert rejected == {"hunks": ["h3"], "refused": []}
        assert [one["hunk"] for one in later] == ["h2", "h3"]
        await wait_for_states(editor, h1="accepted", h2="rejected", h3="rejected")
        assert editor.text(uri) == TEXT.replace("two", "2")


COMMANDS: dict[str, tuple[dict[str, Any], Any]] = {
    "stet.turn": ({"turn": "t1"}, lambda answer: answer["chat"] == "notes"),
    "stet.restore": ({"hunk": "h2"}, {"hunks": ["h2"], "refused": []}),
    "stet.reject": ({"all": True}, {"hunks": ["h1", "h3"], "refused": []}),
    "stet.next": ({"file": "b.txt"}, lambda answer: answer["hunk"] == "h3"),
    "stet.previous": ({"file": "b.txt"}, lambda answer: answer["hunk"] == "h1"),
    "stet.review": ({}, lambda answer: answer["uri"].startswith("file:")),
    "stet.context": ({"load": "mine"}, lambda answer: answer["files"] == ["b.txt"]),
    "stet.openChat": ({"chat": "notes"}, lambda answer: answer["chat"] == "notes"),
    "stet.ledger": ({}, lambda answer: answer["uri"].startswith("file:")),
    "stet.requestLog": ({}, lambda answer: answer["uri"].startswith("file:")),
    "stet.showContext": (
        {"prompt": "Look", "preset": "mine"},
        lambda answer: any("b.txt" in part["text"] for part in answer["sections"]),
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
async def test_each_command_answers_late_and_right(
    root: Path, env: dict[str, str], command: str
) -> None:
    given, wanted = COMMANDS[command]
    async with FakeEditor.start(root, env=env, quirk=Quirk.LATE_SETTINGS) as editor:
        [task] = begun(editor, (command, given))
        assert not (await editor.command("stet.status"))["ready"]
        assert not task.done()
        editor.settings_reported.set()
        answer = await task
        assert wanted(answer) if callable(wanted) else answer == wanted


async def test_a_question_keeps_the_place_that_it_was_asked_from(
    root: Path, env: dict[str, str]
) -> None:
    async with FakeEditor.start(root, env=env, quirk=Quirk.LATE_SETTINGS) as editor:
        editor.open("a.txt")
        editor.open("b.txt")
        editor.select("a.txt", "three")
        preset, plain = begun(
            editor,
            ("stet.showContext", {"prompt": "What is it?", "preset": "mine"}),
            ("stet.ask", {"prompt": "What else?"}),
        )
        turn = (await plain)["turn"]  # this needs no state of earlier runs
        assert not preset.done()
        editor.select("b.txt", "one")
        editor.settings_reported.set()
        sections = {one["name"]: one["text"] for one in (await preset)["sections"]}
        assert sections["manually_added_selection"].splitlines()[1:-1] == ["three"]
        assert "a.txt" in sections["manually_added_selection"].splitlines()[0]
        assert (await end_of(editor, turn))["state"] == "completed"


async def test_proposals_are_shown_when_the_server_is_ready(
    root: Path, env: dict[str, str]
) -> None:
    async with FakeEditor.start(root, env=env, quirk=Quirk.LATE_SETTINGS) as editor:
        editor.open("a.txt")
        editor.settings_reported.set()
        [first] = await editor.wait_for_diagnostics("a.txt")
        [second] = await editor.wait_for_diagnostics("b.txt")
        assert [first.data, second.data] == [
            {"hunk": "h1", "kind": "replace"},
            {"hunk": "h3", "kind": "replace"},
        ]


async def test_server_that_is_not_ready_in_time_reports_it(root: Path, env: dict[str, str]) -> None:
    async with FakeEditor.start(
        root, env=env, quirk=Quirk.LATE_SETTINGS, command=PROPOSING_SERVER
    ) as editor:
        tasks = begun(editor, ("stet.accept", {"all": True}), ("stet.proposals", {}))
        await editor.command("stet.status")
        await editor.command("test.jump", 11)
        for task in tasks:
            with pytest.raises(
                JsonRpcException, match=r"within 10 s; nothing was changed"
            ) as refused:
                await task
            assert refused.value.code == -32803
        editor.settings_reported.set()
        assert await editor.command("stet.accept", {"hunk": "h1"})
