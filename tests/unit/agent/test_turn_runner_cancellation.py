"""A turn that is cancelled ends at once, keeps its proposals, and is known to the next."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pytest

from stet.agent.agent_events import AgentEvent, QuestionAsked, TurnEnded
from stet.agent.session import ChatArchive
from stet.agent.turn import TurnState
from stet.agent.turn_history import MAX_ANSWER, NOT_RUN, Exchange
from stet.llm.scripted_model import call, combine, say
from stet.review.feedback import ModelKnowledge
from tests.support.agent_harness import AgentHarness, MemoryRows
from tests.support.one_file_turns import DONE, EDIT, TEXT, PausedReply, make_agent
from tests.support.workspaces import make_workspace


async def test_a_cancelled_turn_keeps_its_proposals_and_nothing_follows_its_end() -> None:
    held = PausedReply(call("edit_file", file="a.py", old_text="y = 2", new_text="y = 5"))
    ctx = make_agent(EDIT, held, DONE)
    turn_id = ctx.start()
    await held.asked.wait()
    assert ctx.agent.cancel(turn_id) == (turn_id,)
    held.go.set()
    await ctx.rest()
    turn = ctx.agent.turn(turn_id)
    assert (turn.state, turn.error) == (TurnState.CANCELLED, "Cancelled.")
    assert isinstance(ctx.events[-1], TurnEnded)
    assert [hunk.summary for hunk in ctx.hunks] == ["Three"]
    assert ctx.agent.cancel(turn_id) == ()


async def test_the_next_turn_knows_of_the_one_that_was_cancelled() -> None:
    held = PausedReply(DONE)
    ctx = make_agent(combine(say("I begin."), EDIT), held, DONE)
    first = ctx.start("Fix it")
    await held.asked.wait()
    ctx.agent.cancel(first)
    [hunk] = ctx.hunks
    ctx.ledger.reject(hunk.id, "No")
    await ctx.ask("Again")
    _, question, answer, result, record, again = ctx.model.requests[2].messages
    assert question == ctx.model.requests[0].messages[1]
    assert (answer.content, answer.tool_calls[0].name) == ("I begin.", "edit_file")
    assert (result.role, result.tool_call_id) == ("tool", answer.tool_calls[0].id)
    assert 'state="cancelled"' in record.content
    assert f"Proposed: {hunk.id} Three\n" in record.content
    assert "The user says: No" in again.content


async def test_question_of_a_turn_cancelled_before_the_first_answer_is_kept() -> None:
    held = PausedReply(DONE)
    ctx = make_agent(held, DONE)
    first = ctx.start("Fix it" + "x" * MAX_ANSWER)
    await held.asked.wait()
    ctx.agent.cancel(first)
    await ctx.ask("Again")
    _, question, record, _ = ctx.model.requests[1].messages
    assert question.content == ("Fix it" + "x" * MAX_ANSWER)[:MAX_ANSWER]
    assert 'state="cancelled"' in record.content
    assert "Ended early: Cancelled." in record.content


async def test_a_call_that_a_cancel_broke_off_has_a_result() -> None:
    ctx = make_agent(call("ask_user", question="Why?"), DONE)

    def cancel(event: AgentEvent) -> None:
        if isinstance(event, QuestionAsked):
            ctx.agent.cancel()

    ctx.on_event = cancel
    assert (await ctx.ask()).state is TurnState.CANCELLED
    await ctx.ask("Again")
    messages = ctx.model.requests[1].messages
    assert [one.role for one in messages[1:]] == ["user", "assistant", "tool", "assistant", "user"]
    assert messages[3].content == NOT_RUN


async def test_cancelled_turn_is_in_the_history_after_a_restart() -> None:
    archive = KeptChats()
    held = PausedReply(DONE)
    ctx = AgentHarness(make_workspace(opened={"/ws/a.py": TEXT}), [held], archive=archive)
    first = ctx.start("Fix it")
    await held.asked.wait()
    ctx.agent.cancel(first)
    await ctx.rest()
    assert [one.question for one in archive.chats["main"]] == ["Fix it"]


@pytest.mark.slow
@pytest.mark.parametrize("steps", range(25))
async def test_a_turn_can_be_cancelled_at_every_step_and_its_chat_goes_on(steps: int) -> None:
    ctx = make_agent(call("read_file", file="b.py"), EDIT, DONE, DONE, DONE, DONE)
    first = ctx.start()
    for _ in range(steps):
        await asyncio.sleep(0)
    ctx.agent.cancel(first)
    n_events, n_hunks = len(ctx.events), len(ctx.hunks)
    await ctx.rest()
    assert (len(ctx.events), len(ctx.hunks)) == (n_events, n_hunks)
    second = await ctx.ask("Again")
    assert second.state is TurnState.COMPLETED


class KeptChats(ChatArchive):
    """Keeps in memory what chats know."""

    def __init__(self) -> None:
        super().__init__(MemoryRows())
        self.chats: dict[str, Sequence[Exchange]] = {}

    def save_chat(
        self,
        chat: str,
        history: Sequence[Exchange],
        knowledge: ModelKnowledge,
        n_sent_characters: int = 0,
        agent_sessions: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.chats[chat] = history


class SlowArchive(ChatArchive):
    """Takes until it may to keep what a chat knows."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(MemoryRows())
        self.may, self.begun = threading.Event(), asyncio.Event()
        self._loop = loop

    def save_chat(
        self,
        chat: str,
        history: Sequence[Exchange],
        knowledge: ModelKnowledge,
        n_sent_characters: int = 0,
        agent_sessions: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._loop.call_soon_threadsafe(self.begun.set)
        assert self.may.wait(5)


async def test_cancel_while_a_turn_is_persisted_does_not_cancel_it() -> None:
    archive = SlowArchive(asyncio.get_running_loop())
    world = make_workspace(opened={"/ws/a.py": TEXT})
    ctx = AgentHarness(world, [DONE, DONE], archive=archive)
    first = ctx.start("Keep me")
    await archive.begun.wait()
    assert ctx.agent.cancel(first) == ()
    turn = ctx.agent.turn(first)
    assert (turn.state, turn.summary) == (TurnState.COMPLETED, "Done.")
    n_events = len(ctx.events)
    archive.may.set()
    await ctx.rest()
    assert len(ctx.events) == n_events
    assert [one.question for one in ctx.agent.session("main").history] == ["Keep me"]
