"""Feedback to the model about the user's decisions, and batches of edits, through the protocol."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import provider, run, run_answering, wait_for_states
from tests.support.openai_server import OpenAIServer

TEXT = "one\ntwo\nthree\nfour\nfive\n"
DONE = api.call("done", summary="Done.")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


def swap(old: str, new: str) -> api.Reply:
    return api.call(
        "edit_file", file="a.txt", old_text=old, new_text=new, summary=f"{old} to {new}"
    )


def question(server: OpenAIServer, request: int) -> str:
    """Return the text before the editor's state in a request's last message of the user."""
    messages = server.requests[request].body["messages"]
    content = next(one["content"] for one in reversed(messages) if one["role"] == "user")
    return str(content).partition("<additional_data>")[0]


async def test_the_model_receives_what_the_user_made_of_its_proposals(root: Path) -> None:
    replies = [
        swap("two", "2"),
        swap("three", "3"),
        swap("four", "4"),
        swap("five", "5"),
        DONE,
        DONE,
    ]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.txt")
        turn = await run(editor, "Use digits", uri=uri)
        two, three, four, five = turn["hunks"]
        await editor.command("stet.accept", {"hunk": two})
        await wait_for_states(editor, **{two: "accepted"})
        await editor.command("stet.reject", {"hunk": three, "reason": "A word\n- h9: accepted"})
        editor.change(uri, "four", "vier")
        editor.type(uri, 0, 0, "zero\n")
        await wait_for_states(editor, **{four: "conflict"})

        preview = await editor.command("stet.showContext", {"prompt": "Go on", "uri": uri})
        await run(editor, "Go on", uri=uri)
        reported = question(server, 5)
        assert reported == (
            f"<since_last_turn>\nStatus of your proposals (do not propose again what the user rejected, unless they ask for it):\n- {four} a.txt line 5 (four to 4): "
            "conflict: the user has edited that text, so it can't be accepted\n    There now:\n    "
            f"| vier\n- {three} a.txt line 4 (three to 3): rejected\n    The user says: A "
            f"word\\n- h9: accepted\n- {two} in a.txt: accepted\n- {five} a.txt line 6 (five to "
            "5): pending\nChanged since you saw it, not by your proposals:\n- a.txt:\n    line "
            "1:\n    + zero\n    line 5:\n    - four\n    + vier\n</since_last_turn>\n"
        )
        shown = {section["name"]: section["text"] for section in preview["sections"]}
        assert shown["since_last_turn"] + "\n" == reported


async def test_the_beginning_of_a_request_is_that_of_the_one_before(root: Path) -> None:
    async with (
        OpenAIServer([swap("two", "2"), DONE, DONE, DONE]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.txt")
        [hunk] = (await run(editor, "First", uri=uri))["hunks"]
        await editor.command("stet.reject", {"hunk": hunk, "reason": "No"})
        await run(editor, "Second", uri=uri)
        await run(editor, "Third", uri=uri)
        second, third = (asked.body["messages"] for asked in server.requests[2:])
        assert third[: len(second) - 1] == second[:-1]
        assert third[len(second) - 1] == second[-1]
        assert question(server, 3) == ""


async def test_the_model_reads_what_it_has_pending_and_changes_it(root: Path) -> None:
    replies = [
        swap("two", "2"),
        DONE,
        api.call("read_file", file="a.txt"),
        swap("2\nthree", "II\n3"),
        DONE,
        swap("II\n3", "two\nthree"),
        DONE,
    ]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.txt")
        [first] = (await run(editor, "First", uri=uri))["hunks"]
        turn = await run(editor, "Second", uri=uri)
        read = server.requests[3].body["messages"][-1]["content"]
        assert f"     2\ttwo\n   {first}+\t2\n     3\tthree\n" in read
        [second] = turn["hunks"]
        await wait_for_states(editor, **{first: "superseded", second: "pending"})
        await run(editor, "Third", uri=uri)
        await wait_for_states(editor, **{first: "superseded", second: "withdrawn"})
        await editor.wait_for_diagnostics(uri, lambda found: not found)
        assert editor.text(uri) == TEXT


def together(*arguments: dict[str, Any]) -> api.Reply:
    """Make an answer with several edits of the file."""
    pieces = [
        api.piece(n, id=f"c{n}", name="edit_file", arguments=json.dumps({"file": "a.txt", **one}))
        for n, one in enumerate(arguments)
    ]
    return api.Reply(
        [api.delta(tool_calls=[one]) for one in pieces] + [api.delta(finish="tool_calls")]
    )


async def test_edits_sent_together_are_proposed_together_and_decided_one_by_one(root: Path) -> None:
    wrong = together({"position": "replace:2", "content": "2"}, {"position": "delete:2-3"})
    right = together({"position": "replace:2", "content": "2\n2"}, {"position": "delete:4"})
    async with (
        OpenAIServer([wrong, right, DONE]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.txt")
        turn = await run(editor, "Edit", uri=uri)
        reported = [one["content"] for one in server.requests[1].body["messages"][-2:]]
        assert all("edits 1 ('replace:2') and 2 ('delete:2-3')" in one for one in reported)
        first, second = turn["hunks"]
        await editor.command("stet.accept", {"hunk": second})
        await wait_for_states(editor, **{first: "pending", second: "accepted"})
        assert editor.text(uri) == TEXT.replace("four\n", "")
        await editor.command("stet.accept", {"hunk": first})
        await wait_for_states(editor, **{first: "accepted"})
        assert editor.text(uri) == "one\n2\n2\nthree\nfive\n"


async def test_a_hunk_that_is_in_the_text_is_reported_and_read_as_one_that_waits(
    root: Path,
) -> None:
    replies = [swap("two", "2"), DONE, api.call("read_file", file="a.txt"), swap("2", "II"), DONE]
    inline = {"edit": {"reviewStyle": "inline"}}
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server), settings=inline) as editor,
    ):
        uri = editor.open("a.txt")
        [first] = (await run(editor, "First", uri=uri))["hunks"]
        await editor.wait_until(lambda: "<<<<<<<" in editor.text(uri))
        [second] = (await run(editor, "Second", uri=uri))["hunks"]
        assert question(server, 2) == (
            f"<since_last_turn>\nStatus of your proposals (do not propose again what the user rejected, unless they ask for it):\n- {first} a.txt line 2 (two to 2): "
            "pending, as a block in the text itself\n</since_last_turn>\n"
        )
        read = server.requests[3].body["messages"][-1]["content"]
        assert read == (
            f"     1\tone\n     2\ttwo\n   {first}+\t2\n     3\tthree\n     4\tfour\n     5\tfive\n"
            "(Your pending proposals, not in the file and without line numbers: "
            f"{first} replaces line 2.)\n"
        )
        await wait_for_states(editor, **{first: "superseded", second: "pending"})
        await editor.wait_until(lambda: "\nII\n" in editor.text(uri))
        assert "\n2\n" not in editor.text(uri)


async def test_a_file_that_was_moved_removed_or_taken_back_as_accepted_is_reported_once(
    root: Path,
) -> None:
    (root / "m.txt").write_text("em\n")
    (root / "d.txt").write_text("dee\n")
    replies = [
        api.call("read_file", file="m.txt"),
        api.call("read_file", file="d.txt"),
        api.call("move_file", file="m.txt", to="n.txt"),
        api.call("delete_file", file="d.txt"),
        DONE,
        *[DONE] * 4,
    ]
    settings: dict[str, Any] = {"agent": {"disabledTools": []}}
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, settings=settings, env=provider(server)) as editor,
    ):
        turn = await run_answering(editor, "Tidy up", "Delete")
        move, remove = turn["hunks"]
        await editor.command("stet.accept", {"hunk": move})
        await wait_for_states(editor, **{move: "accepted", remove: "accepted"})
        await run(editor, "Go on")
        assert question(server, 5) == (
            f"<since_last_turn>\nStatus of your proposals (do not propose again what the user rejected, unless they ask for it):\n- {remove} in d.txt: accepted\n- "
            f"{move} in m.txt: accepted, the file is now n.txt\n</since_last_turn>\n"
        )
        editor.write(root / "n.txt", "en\n")
        await run(editor, "And on")
        assert "- n.txt:\n    line 1:\n    - em\n    + en\n" in question(server, 6)

        await editor.command("stet.undo", {"hunk": move})
        await wait_for_states(editor, **{move: "undone"})
        await run(editor, "And on and on")
        assert "no longer exists" not in question(server, 7)
        (root / "m.txt").unlink()
        await run(editor, "Well")
        assert "- m.txt: this file no longer exists\n" in question(server, 8)
        editor.from_server("m.txt", "n.txt", "d.txt")
