"""The cost of a turn, and the end of a turn that exceeds its limit."""

from pathlib import Path
from typing import Any

import pytest

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import provider, run
from tests.support.openai_server import OpenAIServer, Reply

TEXT = "one\ntwo\n"
EDIT = api.call("edit_file", file="a.txt", old_text="two", new_text="2")
DATE = "table 2026-06-20"


def billed(reply: Reply, prompt: int, completion: int, cached: int = 0) -> Reply:
    """Return the reply with other token counts."""
    return Reply([*reply.events[:-1], api.usage(prompt, completion, cached)])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


async def asked(root: Path, settings: dict[str, Any], *replies: Reply, **arguments: Any) -> Any:
    """Run a turn to its end; return the turn and its number of requests."""
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server), settings=settings) as editor,
    ):
        turn = await run(editor, "Do it", uri=editor.open("a.txt"), **arguments)
        return turn, len(server.requests)


async def test_a_turn_that_has_cost_as_much_as_it_may_is_limited(root: Path) -> None:
    dear = billed(EDIT, 100_000, 20_000, 40_000)
    settings = {"agent": {"maxCost": 0.05, "maxTokens": 1_000_000}}
    turn, n_requests = await asked(root, settings, dear, api.say("More."))
    assert (turn["state"], n_requests, len(turn["hunks"])) == ("limited", 1, 1)
    assert "Stopped after $0.056 (agent.maxCost is $0.05)." in turn["error"]
    assert (turn["cost"], turn["priceSource"]) == (pytest.approx(0.056), DATE)


async def test_nothing_is_sent_that_would_cost_more_than_a_turn_may(root: Path) -> None:
    settings = {"agent": {"maxCost": 0.001}, "model": {"price": {"input": 1, "output": 1000}}}
    turn, n_requests = await asked(root, settings, api.say("Hello."))
    assert (turn["state"], n_requests, turn["priceSource"]) == ("limited", 0, "settings")
    assert turn["error"].startswith("Not sent: the request would cost about $0.2")
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    turn, n_requests = await asked(root, settings, api.say("x"), mode="rewrite", range=place)
    assert (turn["state"], n_requests) == ("limited", 0)
    assert "agent.maxCost is $0.001" in turn["error"]


async def test_an_answer_is_broken_off_where_the_money_is_spent(root: Path) -> None:
    flood = Reply([api.delta(content="word " * 20)] * 3000)
    settings = {"agent": {"maxCost": 0.01}, "model": {"price": {"input": 0, "output": 10}}}
    turn, _ = await asked(root, settings, flood)
    assert turn["state"] == "limited"
    assert "(agent.maxCost is $0.01); none of it was applied." in turn["error"]


async def test_a_limit_without_a_price_is_reported_once(root: Path) -> None:
    settings = {"agent": {"maxCost": 0.000001}, "model": {"name": "gpt-unheard-of"}}
    async with (
        OpenAIServer([api.say("One."), api.say("Two.")]) as server,
        FakeEditor.start(root, env=provider(server), settings=settings) as editor,
    ):
        uri = editor.open("a.txt")
        turns = [await run(editor, prompt, uri=uri) for prompt in ("Do it", "Again")]
    assert [(turn["state"], turn["cost"], turn["priceSource"]) for turn in turns] == [
        ("completed", None, None)
    ] * 2
    [note], rest = turns[0]["notes"], turns[1]["notes"]
    assert "'gpt-unheard-of' (openai)" in note
    assert "Set model.price.input and model.price.output" in note
    assert rest == []
