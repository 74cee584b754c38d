"""Turns of one chat wait for each other; those of other chats run beside them."""

from stet.agent.agent_events import TurnStarted
from stet.agent.turn import TurnState
from tests.support.one_file_turns import DONE, PausedReply, make_agent


async def test_turns_of_one_chat_wait_and_other_chats_run_beside_them() -> None:
    held = PausedReply(DONE)
    ctx = make_agent(held, DONE, DONE)
    first = ctx.start()
    await held.asked.wait()
    queued, beside = ctx.start("Next"), ctx.start("Beside", chat="other")
    assert (await ctx.end_of(beside)).state is TurnState.COMPLETED
    assert ctx.agent.turn(queued).state is TurnState.QUEUED
    held.go.set()
    assert (await ctx.end_of(queued)).state is TurnState.COMPLETED
    assert ctx.agent.turn(first).state is TurnState.COMPLETED
    history = [message.content for message in ctx.model.requests[2].messages]
    assert history[1] == ctx.model.requests[0].messages[1].content


async def test_a_waiting_turn_that_is_cancelled_never_starts() -> None:
    held = PausedReply(DONE)
    ctx = make_agent(held, DONE)
    ctx.start()
    await held.asked.wait()
    second, third = ctx.start("Second"), ctx.start("Third")
    ctx.agent.cancel(second)
    held.go.set()
    assert (await ctx.end_of(third)).state is TurnState.COMPLETED
    started = [event.turn.id for event in ctx.events if isinstance(event, TurnStarted)]
    assert second not in started


async def test_cancelling_all_leaves_nothing_running() -> None:
    ctx = make_agent(DONE, DONE, DONE)
    turns = (ctx.start(), ctx.start(), ctx.start(chat="other"))
    assert ctx.agent.cancel() == turns
    await ctx.rest()
    assert {ctx.agent.turn(turn).state for turn in turns} == {TurnState.CANCELLED}
    assert ctx.model.requests == []
