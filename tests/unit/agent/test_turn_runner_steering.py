"""Steering reaches the model in its next round, or the user is informed."""

import asyncio
import dataclasses

import pytest

from stet.agent.agent import NotRunning, UnknownTurn
from stet.agent.agent_events import SteeringApplied
from stet.agent.turn import Mode, TurnState
from stet.llm.model import Completion, ModelError, ModelUnavailable, Request
from stet.llm.scripted_model import Reply, call, say
from stet.settings.values import AgentSettings, Settings
from tests.support.agent_harness import AgentHarness
from tests.support.workspaces import make_workspace

DONE = call("done", summary="Done.")
READ = call("read_file", file="b.py")


class Held:
    """A reply that is kept back."""

    def __init__(self, reply: Completion | ModelError) -> None:
        self.asked, self.go, self.reply = asyncio.Event(), asyncio.Event(), reply

    async def __call__(self, request: Request) -> Completion:
        self.asked.set()
        await self.go.wait()
        if isinstance(self.reply, ModelError):
            raise self.reply
        return self.reply


def table(*replies: Reply, **agent: object) -> AgentHarness:
    """An agent that has `a.py` open."""
    settings = Settings(agent=AgentSettings(**agent))  # type: ignore[arg-type]
    return AgentHarness(
        make_workspace({"/ws/b.py": "b\n"}, opened={"/ws/a.py": "x = 1\n"}, settings=settings),
        replies,
    )


def steering_in(ctx: AgentHarness, n: int) -> list[str]:
    """Return the steering in the `n`-th request (0-based), after the question."""
    texts = [one.content for one in ctx.model.requests[n].messages if one.role == "user"]
    return texts[1:]


async def steered(
    reply: Completion | ModelError, *rest: Reply, mode: Mode = Mode.AGENT, rounds: int = 10
) -> tuple[AgentHarness, str]:
    """Start a turn and steer it during its first round."""
    held = Held(reply)
    ctx = table(held, *rest, max_iterations=rounds)
    turn_id = ctx.start(mode=mode)
    await held.asked.wait()
    assert ctx.agent.steer("Use tabs") == turn_id
    held.go.set()
    await ctx.end_of(turn_id)
    return ctx, turn_id


async def test_steering_follows_the_tool_results() -> None:
    ctx, turn_id = await steered(READ, DONE)
    *_, answer, steered_message = ctx.model.requests[1].messages
    assert (answer.role, steered_message.role, steered_message.content) == (
        "tool",
        "user",
        "Use tabs",
    )
    assert ctx.agent.turn(turn_id).steering == ("Use tabs",)
    [event] = [event for event in ctx.events if isinstance(event, SteeringApplied)]
    assert (event.text, event.turn.steering) == ("Use tabs", ("Use tabs",))


@pytest.mark.parametrize("mode", [Mode.AGENT, Mode.ASK])
async def test_steering_at_the_end_of_a_turn_starts_one_more_round(mode: Mode) -> None:
    last = DONE if mode is Mode.AGENT else say("Tabs, then.")
    first = call("done", summary="Spaces.") if mode is Mode.AGENT else say("Spaces.")
    ctx, turn_id = await steered(first, last, mode=mode)
    turn = ctx.agent.turn(turn_id)
    assert (turn.state, len(turn.rounds)) == (TurnState.COMPLETED, 2)
    assert steering_in(ctx, 1) == ["Use tabs"]
    assert "not seen" not in turn.summary


async def test_several_steering_messages_keep_their_order() -> None:
    held = Held(READ)
    ctx = table(held, DONE)
    turn_id = ctx.start()
    await held.asked.wait()
    for text in ("One", "Two"):
        ctx.agent.steer(text, turn_id)
    held.go.set()
    await ctx.end_of(turn_id)
    assert steering_in(ctx, 1) == ["One", "Two"]


async def test_steering_is_accepted_before_the_first_round() -> None:
    ctx = table(DONE)
    turn_id = ctx.start()
    ctx.agent.steer("Use tabs")
    await ctx.end_of(turn_id)
    assert steering_in(ctx, 0)[-1] == "Use tabs"


@pytest.mark.parametrize(
    ("reply", "rounds", "state"),
    [
        (DONE, 1, TurnState.COMPLETED),
        (READ, 1, TurnState.LIMITED),
        (ModelUnavailable("It is down."), 10, TurnState.FAILED),
    ],
)
async def test_steering_that_comes_too_late_is_reported(
    reply: Completion | ModelError, rounds: int, state: TurnState
) -> None:
    ctx, turn_id = await steered(reply, rounds=rounds)
    turn = ctx.agent.turn(turn_id)
    assert turn.state is state
    assert "did not see your last message: 'Use tabs'" in turn.summary
    assert bool(turn.error) == (state is not TurnState.COMPLETED)
    assert turn.steering == ()


async def test_steering_without_a_running_turn_is_refused() -> None:
    held = Held(DONE)
    ctx = table(held, DONE)
    with pytest.raises(NotRunning, match="no turn is running"):
        ctx.agent.steer("Use tabs")
    with pytest.raises(UnknownTurn):
        ctx.agent.steer("Use tabs", "t9")
    first, queued = ctx.start(), ctx.start()
    await held.asked.wait()
    with pytest.raises(NotRunning, match="it is queued"):
        ctx.agent.steer("Use tabs", queued)
    ctx.agent.cancel(first)
    with pytest.raises(NotRunning, match="it is cancelled"):
        ctx.agent.steer("Use tabs", first)
    await ctx.end_of(queued)
    assert ctx.agent.turn(first).steering == ()


async def test_steering_of_a_rewrite_is_refused_with_a_reason() -> None:
    held = Held(say("```\ny = 1\n```"))
    ctx = table(held)
    turn_id = ctx.start(mode=Mode.REWRITE, lines=(1, 1))
    await held.asked.wait()
    with pytest.raises(NotRunning, match="is a one-shot rewrite"):
        ctx.agent.steer("Use tabs")
    held.go.set()
    assert (await ctx.end_of(turn_id)).state is TurnState.COMPLETED


async def test_steering_replaces_the_reminder() -> None:
    ctx, turn_id = await steered(say("Hm."), dataclasses.replace(DONE))
    assert steering_in(ctx, 1) == ["Use tabs"]
    assert ctx.agent.turn(turn_id).state is TurnState.COMPLETED


async def test_host_named_in_steering_is_approved_for_the_chat() -> None:
    held = Held(READ)
    ctx = table(held, DONE)
    turn_id = ctx.start("Look")
    await held.asked.wait()
    ctx.agent.steer("see https://a.example")
    held.go.set()
    await ctx.end_of(turn_id)
    assert ctx.agent.session("main").user_messages == ["Look", "see https://a.example"]
    assert ctx.agent.session("other").user_messages == []
