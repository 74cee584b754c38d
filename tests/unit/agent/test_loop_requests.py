"""What a turn sends to the model, and how much of earlier turns is kept."""

from itertools import pairwise

import pytest

from stet.agent.agent_events import AgentEvent, ToolEnded
from stet.agent.turn import Mode
from stet.llm.scripted_model import call, combine, say
from tests.support.one_file_turns import DONE, EDIT, make_agent, raw
from tests.support.workspaces import insertion


async def test_every_request_of_a_turn_begins_with_the_one_before() -> None:
    ctx = make_agent(call("read_file", file="b.py"), raw("{"), EDIT, say(""), combine(EDIT, DONE))

    def typed(event: AgentEvent) -> None:
        if isinstance(event, ToolEnded):
            ctx.type(insertion(1, 0, "# typed\n"))

    ctx.on_event = typed
    await ctx.ask()
    requests = ctx.model.requests
    assert len(requests) == 5
    for before, after in pairwise(requests):
        assert after.messages[: len(before.messages)] == before.messages
        assert after.tools == before.tools


async def test_between_turns_the_beginning_stays_and_the_history_is_bounded() -> None:
    ctx = make_agent(*(DONE for _ in range(5)), history_length=3)
    for number in range(5):
        await ctx.ask(f"Question {number}")
        ctx.type(insertion(0, 0, "# typed\n"))
    requests = ctx.model.requests
    assert len({request.messages[0] for request in requests}) == 1
    assert all(request.tools == requests[0].tools for request in requests)
    assert [len(request.messages) for request in requests] == [2, 6, 6, 6, 6]
    earlier = requests[4].messages[1:-1]
    assert earlier[0] == requests[3].messages[-1]  # as it was asked
    assert [one.role for one in earlier] == ["user", "assistant", "tool", "assistant"]
    assert earlier[1].tool_calls[0].name == "done"
    assert "Question 4" in requests[4].messages[-1].content


async def test_memory_of_a_long_session_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stet.agent.agent.MAX_TURNS", 7)
    monkeypatch.setattr("stet.agent.session.MAX_TURNS", 5)
    monkeypatch.setattr("stet.agent.session.MAX_USER_MESSAGES", 6)
    ctx = make_agent(*[DONE] * 20)
    asked = [(await ctx.ask(f"Ask {n}")).id for n in range(8)]
    asked += [(await ctx.ask(f"Rewrite {n}", Mode.REWRITE)).id for n in range(12)]
    assert [turn.id for turn in ctx.agent.turns()] == asked[-7:]
    session = ctx.agent.session("main")
    assert len(session.history) == 5
    assert len(session.user_messages) == 6


async def test_running_turn_is_never_evicted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stet.agent.agent.MAX_TURNS", 2)
    ctx = make_agent(*[DONE] * 5)
    asked = [ctx.start("Wait") for _ in range(4)]
    assert [turn.id for turn in ctx.agent.turns()] == asked
    _ = ctx.agent.cancel()
    later = await ctx.ask("More")
    assert [turn.id for turn in ctx.agent.turns()][-1] == later.id


async def test_history_reports_proposals_and_holds_no_empty_answer() -> None:
    ctx = make_agent(combine(EDIT, call("done", summary="")), call("done", summary=" "), DONE)
    for _ in range(3):
        await ctx.ask()
    answers = [one for one in ctx.model.requests[2].messages if one.role == "assistant"]
    assert all(one.content or one.tool_calls for one in answers)
    [first, second] = [one.content for one in answers if one.content]
    assert f"Proposed: {ctx.hunks[0].id} Three\n" in first
    assert "Proposed" not in second
