"""Whatever a model does, a turn ends within its limits, in the documented state."""

import asyncio
import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.http_server import HttpRequest
from tests.support.live_turns import ask, end_of, provider, run
from tests.support.openai_server import End, OpenAIServer, Reply

TEXT = "one\ntwo\n"
EDIT = api.call("edit_file", file="a.txt", old_text="two", new_text="2")
READ = api.call("read_file", file="a.txt")
LIST = api.call("list_files")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


async def asked(root: Path, *replies: api.Scripted, **agent: Any) -> Any:
    """Run a turn without proposals to its end."""
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server), settings={"agent": agent}) as editor,
    ):
        return await run(editor, "Do it", uri=editor.open("a.txt"))


async def ran(root: Path, *replies: api.Scripted, **agent: Any) -> tuple[Any, OpenAIServer]:
    """Run a turn to its end; check that the server works and that its hunks can be accepted."""
    async with (
        OpenAIServer([EDIT, *replies]) as server,
        FakeEditor.start(root, env=provider(server), settings={"agent": agent}) as editor,
    ):
        uri = editor.open("a.txt")
        turn = await run(editor, "Do it", uri=uri)
        assert (await editor.command("stet.status"))["turns"] == []
        assert editor.text(uri) == TEXT
        await editor.command("stet.accept", {"turn": turn["turn"]})
        await editor.wait_until(lambda: editor.text(uri) == "one\n2\n")
        assert any(turn["error"] in message.message for message in editor.messages)
        return turn, server


def broken(number: int) -> Reply:
    """Make an edit of a text that does not exist."""
    return api.call("edit_file", file="a.txt", old_text="lost", new_text=f"new {number}")


@pytest.mark.parametrize(
    ("replies", "n_rounds", "words"),
    [
        ([READ] * 9, 6, "called 'read_file' 3 times with the same arguments"),
        ([READ, LIST] * 5, 7, "in turns, twice with the same arguments"),
        ([broken(n) for n in range(9)], 6, "met the same error of 'edit_file' 4 times"),
        (
            [api.call("read_file", file="a.txt", start_line=n) for n in range(1, 30)],
            10,
            "10 rounds",
        ),
        ([api.say(""), api.say(" ")], 3, "without finishing"),
    ],
    ids=["the same call", "two calls in turns", "the same error", "never done", "only silence"],
)
async def test_a_model_without_an_end_is_limited(
    root: Path, replies: list[Reply], n_rounds: int, words: str
) -> None:
    turn, server = await ran(root, *replies)
    assert (turn["state"], turn["success"], turn["iterations"]) == ("limited", False, n_rounds)
    assert words in turn["error"]
    assert len(server.requests) == n_rounds


async def test_last_round_allows_acting_tools_and_announces_itself_at_the_end_of_the_prompt(
    root: Path,
) -> None:
    _, server = await ran(root, *[READ] * 9)
    *before, last = [asked.body for asked in server.requests]
    assert all(body["tools"] == before[0]["tools"] for body in (*before, last))
    assert not any("tool_choice" in body for body in before)
    allowed = last["tool_choice"]["allowed_tools"]
    assert (last["tool_choice"]["type"], allowed["mode"]) == ("allowed_tools", "auto")
    names = [one["function"]["name"] for one in allowed["tools"]]
    assert {"edit_file", "done", "ask_user"} <= set(names)
    assert not {"read_file", "search_workspace", "list_files"} & set(names)
    reported = last["messages"][-1]["content"]
    assert "last round" in reported
    assert "`edit_file`" in reported
    assert "`read_file`" not in reported
    for first, second in pairwise(asked.body["messages"] for asked in server.requests):
        assert second[: len(first)] == first


async def test_a_server_that_does_not_know_allowed_tools_is_asked_without_them(root: Path) -> None:
    def last(asked: HttpRequest) -> Reply:
        assert "tool_choice" in asked.body
        return api.error(400, "Invalid type for 'x': expected one of 'none', 'auto' or 'required'.")

    reads = [api.call("read_file", file="a.txt", start_line=n) for n in (1, 2, 1)]
    async with (
        OpenAIServer([*reads, LIST, last, api.say("Done.")]) as server,
        FakeEditor.start(
            root, env=provider(server), settings={"agent": {"maxIterations": 5}}
        ) as editor,
    ):
        turn = await run(editor, "Do it", uri=editor.open("a.txt"))
        assert (turn["state"], turn["answer"], turn["iterations"]) == ("completed", "Done.", 5)
        assert "tool_choice" not in server.requests[-1].body
        assert len(server.requests[-1].body["tools"]) == len(server.requests[0].body["tools"])


def flood(**fields: Any) -> Reply:
    """Make an answer that would never end."""
    start = api.delta(content="", **({} if "tool_calls" not in fields else fields))
    return Reply([start, *[api.delta(**fields)] * 3000], End.HANG)


@pytest.mark.parametrize(
    "reply",
    [
        flood(content="word " * 20),
        flood(reasoning_content="hm " * 30),
        flood(tool_calls=[api.piece(0, id="c", name="edit_file", arguments="x" * 100)]),
    ],
    ids=["words", "thoughts", "arguments"],
)
async def test_a_flood_is_broken_off_while_it_streams(root: Path, reply: Reply) -> None:
    turn, server = await ran(root, reply, maxTokens=40_000)
    assert (turn["state"], turn["iterations"], len(server.requests)) == ("limited", 2, 2)
    assert "in the middle of an answer" in turn["error"]
    assert "agent.maxTokens is 40000" in turn["error"]
    assert [call["tool"] for call in turn["toolCalls"]] == ["edit_file"]
    assert turn["usage"]["totalTokens"] >= 40_000


async def test_a_budget_that_is_used_up_limits_the_turn(root: Path) -> None:
    dear = Reply([*READ.events[:-1], api.usage(39_000, 2_000)])
    turn, _ = await ran(root, dear, maxTokens=40_000)
    assert turn["state"] == "limited"
    assert "agent.maxTokens is 40000" in turn["error"]


@pytest.mark.parametrize("events", [[], [api.delta(content="Hm")]], ids=["mute", "silent"])
async def test_time_that_runs_out_after_the_first_round_is_a_limit(
    root: Path, events: list[dict[str, Any]]
) -> None:
    turn, _ = await ran(root, Reply(events, End.HANG), maxSeconds=3)
    assert turn["state"] == "limited"
    assert turn["error"] == (
        "Stopped after 3 seconds (agent.maxSeconds). Its proposals are kept; ask again to continue."
    )


@pytest.mark.parametrize("events", [[], [api.delta(content="Hm")]], ids=["mute", "silent"])
async def test_a_hanging_model_fails_the_turn_within_its_time(
    root: Path, events: list[dict[str, Any]]
) -> None:
    started = time.monotonic()
    turn = await asked(root, Reply(events, End.HANG), maxSeconds=3)
    assert turn["state"] == "failed"
    assert "did not respond within" in turn["error"] or "stopped responding" in turn["error"]
    assert time.monotonic() - started < 15


async def test_a_dead_model_fails_the_turn_within_its_time(root: Path) -> None:
    down = api.error(503, "overloaded", retry_after="50")
    turn, _ = await ran(root, down, maxSeconds=3)
    assert turn["state"] == "failed"
    assert "HTTP 503" in turn["error"]
    assert "agent.maxSeconds" in turn["error"]


async def test_a_model_that_talks_until_its_time_is_over_is_limited(root: Path) -> None:
    talk = Reply([api.delta(content="word ")] * 3000, End.HANG, pause=0.01)
    turn, _ = await ran(root, talk, maxSeconds=3)
    assert turn["state"] == "limited"
    assert "3 seconds (agent.maxSeconds)" in turn["error"]


CHUNKS = [
    api.delta(role="assistant", content=""),
    api.delta(content="I "),
    api.delta(content="edit."),
    *EDIT.events[1:-1],
]
TRIES = 3


async def test_cancelled_after_any_chunk_nothing_follows_within_200_ms(root: Path) -> None:
    places = range(len(CHUNKS) + 1)
    replies = [Reply(CHUNKS[:n], End.HANG) for n in places for _ in range(TRIES)]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.txt")
        for n_chunks in places:
            took = [await cancelled(editor, server, uri) for _ in range(TRIES)]
            # The fastest of a few: other work of the machine may delay any of them.
            assert min(took) < 0.2, f"behind {n_chunks} chunks: {took}"
        assert editor.text(uri) == TEXT
        assert json.dumps(await editor.command("stet.proposals")) == "[]"


async def cancelled(editor: FakeEditor, server: OpenAIServer, uri: str) -> float:
    """Cancel a turn in the middle of its answer; return the seconds until the request is closed."""
    n_before = len(server.requests)
    turn = await ask(editor, "Do it", uri=uri)
    await server.asked(n_before + 1)
    # After this round trip the whole text of the model is in flight.
    assert (await editor.command("stet.turn", turn))["state"] == "running"
    started = time.perf_counter()
    async with asyncio.timeout(60):
        assert (await editor.command("stet.cancel", {"turn": turn}))["turns"] == [turn]
        await server.left(n_before + 1)
    took = time.perf_counter() - started
    ended = await end_of(editor, turn)
    assert (ended["state"], ended["hunks"], ended["toolCalls"]) == ("cancelled", [], [])
    assert len(server.requests) == n_before + 1
    return took
