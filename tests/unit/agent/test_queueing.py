"""Turns of one chat wait for each other; those of other chats run beside them."""

from stet.agent.events import TurnStarted
from stet.agent.turn import TurnState
from tests.support.one_file_turns import DONE, Held, table


async def test_turns_of_one_chat_wait_and_other_chats_run_beside_them() -> None:
    held = Held(DONE)
    desk = table(held, DONE, DONE)
    first = desk.start()
    await held.asked.wait()
    queued, beside = desk.start("Next"), desk.start("Beside", chat="other")
    assert (await desk.end_of(beside)).state is TurnState.COMPLETED
    assert desk.agent.turn(queued).state is TurnState.QUEUED
    held.go.set()
    assert (await desk.end_of(queued)).state is TurnState.COMPLETED
    assert desk.agent.turn(first).state is TurnState.COMPLETED
    history = [message.content for message in desk.model.requests[2].messages]
    assert history[1] == desk.model.requests[0].messages[1].content


async def test_a_waiting_turn_that_is_cancelled_never_starts() -> None:
    held = Held(DONE)
    desk = table(held, DONE)
    desk.start()
    await held.asked.wait()
    second, third = desk.start("Second"), desk.start("Third")
    desk.agent.cancel(second)
    held.go.set()
    assert (await desk.end_of(third)).state is TurnState.COMPLETED
    started = [event.turn.id for event in desk.events if isinstance(event, TurnStarted)]
    assert second not in started


async def test_cancelling_all_leaves_nothing_running() -> None:
    desk = table(DONE, DONE, DONE)
    turns = (desk.start(), desk.start(), desk.start(chat="other"))
    assert desk.agent.cancel() == turns
    await desk.rest()
    assert {desk.agent.turn(turn).state for turn in turns} == {TurnState.CANCELLED}
    assert desk.model.requests == []
