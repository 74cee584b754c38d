"""The disk becomes full while the server runs, and has room again: no loss goes unreported.

A limit on the size of files simulates the full disk: the system refuses every write that extends a
file, and the limit needs no privileges.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.live_turns import calls, done, edit, provider, run, scripted, wait_for_states
from tests.support.openai_server import OpenAIServer, say
from tests.support.proposals import FULL_SERVER, PROPOSING_SERVER, propose
from tests.support.restarts import proposals, ready, until_killed

TEXT = "".join(f"word {n}\n\n" for n in range(8))
FULL, ROOM = 1, -1
DEBUG = {"log": {"level": "debug", "traceModel": True}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Return the environment with a state folder, and a model of two edits and an answer."""
    script = scripted(
        tmp_path,
        calls(("read_file", {"file": "a.txt"})),
        calls(*(edit("a.txt", f"word {n}", f"WORD {n}") for n in range(4))),
        done("The first."),
        calls(("read_file", {"file": "a.txt"})),
        calls(*(edit("a.txt", f"word {n}", f"WORD {n}") for n in (5, 7))),
        done("The second."),
        done("The third."),
    )
    return {**script, "XDG_STATE_HOME": str(tmp_path / "state")}


def reported(editor: FakeEditor) -> list[str]:
    """Return the messages about the disk."""
    return [one.message for one in editor.messages if "to disk" in one.message]


async def until_written(editor: FakeEditor) -> None:
    """Wait until `stet.status` reports that everything is on the disk."""
    while (await editor.command("stet.status"))["notPersisted"]:
        pass


async def test_what_is_decided_on_a_full_disk_is_reported_and_written_when_there_is_room(
    root: Path, env: dict[str, str]
) -> None:
    running = {"command": PROPOSING_SERVER, "settings": DEBUG}
    async with until_killed(root, env, **running) as editor:
        uri = editor.open("a.txt")
        await ready(editor)
        assert (await run(editor, "Shout", uri=uri))["hunks"] == ["h1", "h2", "h3", "h4"]
        await editor.command("stet.reject", {"hunk": "h3"})
        await editor.command("stet.accept", {"hunk": "h4"})
        await wait_for_states(editor, h4="accepted")
        assert (await editor.command("stet.status"))["notPersisted"] is None
        assert reported(editor) == []
        await editor.command("test.fillDisk", FULL)
        second = await run(editor, "Louder", uri=uri)
        assert (second["state"], len(second["hunks"])) == ("completed", 2)
        six, seven = second["hunks"]
        for command, given in (
            ("accept", {"hunk": "h1"}),
            ("reject", {"hunk": "h2"}),
            ("restore", {"hunk": "h3"}),
            ("undo", {"hunk": "h4"}),
            ("reject", {"hunk": six}),
            ("context", {"add": "a.txt", "save": "mine"}),
        ):
            answer = await editor.command(f"stet.{command}", given)
            assert answer["notPersisted"], command
        expected = {"h1": "accepted", "h2": "rejected", "h3": "pending", "h4": "undone"}
        expected |= {six: "rejected", seven: "pending"}
        await wait_for_states(editor, **expected)
        [message] = reported(editor)
        status = await editor.command("stet.status")
        assert status["notPersisted"] in message
        await editor.command("test.fillDisk", ROOM)
        await until_written(editor)
        assert "notPersisted" not in await editor.command(
            "stet.context", {"add": "a.txt", "save": "other"}
        )
        # The second time: the message is repeated only after a while, but requests are answered.
        await editor.command("test.fillDisk", FULL)
        assert (await editor.command("stet.restore", {"hunk": "h2"}))["notPersisted"]
        expected["h2"] = "pending"
        third = await run(editor, "Well?", uri=uri)
        assert third["state"] == "completed"
        await editor.command("test.fillDisk", ROOM)
        await until_written(editor)
        assert len(reported(editor)) == 1
        editor.save(uri)
    assert [path.read_text() for path in root.parent.rglob("crash-*")] == []
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.txt")
        await ready(editor)
        found = await proposals(editor)
        assert {hunk: one["state"] for hunk, one in found.items()} == expected
        for turn, state in ((second, "completed"), (third, "completed")):
            kept = await editor.command("stet.turn", {"turn": turn["turn"]})
            assert (kept["state"], kept["answer"]) == (state, turn["answer"])
        names = [one["name"] for one in (await editor.command("stet.context"))["presets"]]
        assert {"mine", "other"} <= set(names)
        later = await run(editor, "More", uri=uri)
        assert not {turn["turn"] for turn in (second, third)} & {later["turn"]}


@pytest.mark.parametrize("command", ["accept", "undo"])
async def test_decision_on_a_full_disk_reports_that_it_is_not_persisted(
    root: Path, env: dict[str, str], command: str
) -> None:
    async with until_killed(root, env, command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt")
        await ready(editor)
        first, second, *_ = (await run(editor, "Shout", uri=uri))["hunks"]
        assert "notPersisted" not in await editor.command("stet.accept", {"hunk": first})
        await wait_for_states(editor, **{first: "accepted"})
        await editor.command("test.fillDisk", FULL)
        hunk = {"accept": second, "undo": first}[command]
        assert (await editor.command(f"stet.{command}", {"hunk": hunk}))["notPersisted"]
        await editor.wait_until(lambda: reported(editor))
        await editor.command("test.fillDisk", ROOM)
        await until_written(editor)


@pytest.mark.parametrize("command", ["accept", "undo"])
async def test_while_the_disk_takes_a_decision_other_messages_are_answered(
    root: Path, env: dict[str, str], command: str
) -> None:
    async with until_killed(root, env, command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt")
        await ready(editor)
        first, second, *_ = (await run(editor, "Shout", uri=uri))["hunks"]
        await editor.command("stet.accept", {"hunk": first})
        await wait_for_states(editor, **{first: "accepted"})
        hunk, state = {"accept": (second, "accepted"), "undo": (first, "undone")}[command]
        before = editor.text("a.txt")
        await editor.command("test.stallDisk", True)
        async with asyncio.TaskGroup() as group:
            decided = group.create_task(editor.command(f"stet.{command}", {"hunk": hunk}))
            for _ in range(20):
                assert (await editor.command("stet.status"))["ready"]
            assert not decided.done()
            assert editor.text("a.txt") == before
            await editor.command("test.stallDisk", False)
        assert "notPersisted" not in decided.result()
        # The decision is executed after the answer.
        await wait_for_states(editor, **{hunk: state})
        assert editor.text("a.txt") != before


async def test_a_disk_that_is_full_from_the_start_is_used_when_there_is_room(
    root: Path, env: dict[str, str]
) -> None:
    async with until_killed(root, env, command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt")
        await editor.command("test.fillDisk", FULL)
        await ready(editor)
        turn = await run(editor, "Shout", uri=uri)
        assert turn["state"] == "completed"
        first, second, *_ = turn["hunks"]
        assert (await editor.command("stet.reject", {"hunk": first}))["notPersisted"]
        await editor.command("test.fillDisk", ROOM)
        await until_written(editor)
        assert "notPersisted" not in await editor.command("stet.reject", {"hunk": second})
    async with FakeEditor.start(root, env=env) as editor:
        editor.open("a.txt")
        await ready(editor)
        found: dict[str, Any] = await proposals(editor)
        assert [found[hunk]["state"] for hunk in turn["hunks"]] == ["rejected"] * 2 + [
            "pending"
        ] * 2


async def test_what_earlier_runs_have_kept_comes_back_when_there_is_room_again(
    root: Path, env: dict[str, str]
) -> None:
    async with until_killed(root, env) as editor:
        uri = editor.open("a.txt")
        first = await run(editor, "Shout", uri=uri)
        one, two, three, four = first["hunks"]
        await editor.command("stet.reject", {"hunk": two})
        await editor.command("stet.context", {"add": "a.txt", "save": "mine"})
        await editor.command("stet.context", {"save": "changed"})
    expected = {one: "pending", two: "rejected", three: "pending", four: "pending"}
    look = calls(("read_file", {"file": "a.txt"}))
    edits = calls(*(edit("a.txt", f"word {n}", f"WORD {n}") for n in (5, 7)))
    scripted(root.parent, look, edits, done("The second."), done("The third."))
    async with until_killed(root, env, command=FULL_SERVER) as editor:
        uri = editor.open("a.txt")
        await ready(editor)
        assert await proposals(editor) == {}
        await editor.wait_until(lambda: reported(editor))
        [message] = reported(editor)
        assert "Earlier proposals are restored" in message
        assert (await editor.command("stet.status"))["notPersisted"] in message
        second = await run(editor, "Louder", uri=uri)
        six, seven = second["hunks"]
        assert (await editor.command("stet.reject", {"hunk": six}))["notPersisted"]
        expected |= {six: "rejected", seven: "pending"}
        await editor.command("stet.context", {"add": "a.txt", "scope": "linked", "save": "changed"})
        await editor.command("test.fillDisk", ROOM)
        await until_written(editor)
        found = await proposals(editor)
        assert {hunk: each["state"] for hunk, each in found.items()} == expected
        assert found[three]["range"]["start"]["line"] == 4
        await editor.command("stet.accept", {"hunk": four})
        await wait_for_states(editor, **{four: "accepted"})
        expected[four] = "accepted"
        third = await run(editor, "Well?", uri=uri)
        editor.save(uri)
        assert len(reported(editor)) == 1
    assert [path.read_text() for path in root.parent.rglob("crash-*")] == []
    state = {"XDG_STATE_HOME": env["XDG_STATE_HOME"]}
    async with (
        OpenAIServer([say("The fourth.")]) as server,
        FakeEditor.start(root, env=state | provider(server)) as editor,
    ):
        uri = editor.open("a.txt")
        await ready(editor)
        found = await proposals(editor)
        assert {hunk: each["state"] for hunk, each in found.items()} == expected
        for turn in (first, second, third):
            kept = await editor.command("stet.turn", {"turn": turn["turn"]})
            assert (kept["state"], kept["answer"]) == ("completed", turn["answer"])
        presets = {one["name"]: one for one in (await editor.command("stet.context"))["presets"]}
        assert presets.keys() == {"mine", "changed"}
        assert presets["changed"]["scope"] == "linked"
        await run(editor, "And?", uri=uri)
        sent = str(server.requests[0].body["messages"])
    at = [sent.index(prompt) for prompt in ("Shout", "Louder", "Well?", "And?")]
    assert at == sorted(at)


async def test_full_disk_is_reported_for_documents_and_removals_without_partial_files(
    root: Path, env: dict[str, str]
) -> None:
    gone = root / "gone.txt"
    gone.write_text("gone\n" * 100)
    async with until_killed(root, env, command=PROPOSING_SERVER) as editor:
        uri = editor.open("a.txt")
        await ready(editor)
        edit_of_a, removal = await propose(
            editor, {"edit": "a.txt", "changes": [["word 1", "WORD 1"]]}, {"remove": gone.name}
        )
        await editor.command("test.fillDisk", FULL)
        for command, given in (
            ("review", {}),
            ("openChat", {}),
            ("newChat", {}),
            ("ledger", {}),
            ("showContext", {"prompt": "Why?", "uri": uri, "show": True}),
        ):
            with pytest.raises(JsonRpcException, match="File too large"):
                await editor.command(f"stet.{command}", given)
        await editor.command("stet.accept", {"hunk": removal})
        await wait_for_states(editor, **{removal: "pending"})
        await editor.wait_until(
            lambda: any("not applied" in one.message for one in editor.messages)
        )
        [shown_text] = [one.message for one in editor.messages if "not applied" in one.message]
        assert gone.name in shown_text
        assert "None" not in shown_text
        assert gone.read_text() == "gone\n" * 100
        assert [path.name for path in root.parent.rglob("*.new")] == []
        await editor.command("test.fillDisk", ROOM)
        await until_written(editor)
        await editor.command("stet.accept", {"hunk": removal})
        await wait_for_states(editor, **{removal: "accepted", edit_of_a: "pending"})
        assert not gone.exists()
        for command in ("review", "openChat", "ledger"):
            assert (await editor.command(f"stet.{command}", {}))["uri"]
    assert [path.read_text() for path in root.parent.rglob("crash-*")] == []
