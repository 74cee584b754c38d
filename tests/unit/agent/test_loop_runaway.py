"""A model that runs away is stopped, with a sentence; what it proposed stays."""

import asyncio
import dataclasses
from typing import cast

import pytest

from stet.agent.agent_events import TextDelta
from stet.agent.context_window import ContextWindow
from stet.agent.limits import Limits
from stet.agent.loop import TurnServices, run_turn
from stet.agent.tool_executor import MAX_CALLS
from stet.agent.toolbox import ALL_TOOLS, Toolbox
from stet.agent.turn import Ask, Mode, Turn, TurnState
from stet.context.context_builder import EditorLocation
from stet.llm.model import Completion, ContextOverflow, Message, Request, StopReason, Usage
from stet.llm.scripted_model import Reply, call, combine, say
from stet.settings.values import AgentSettings, Settings
from tests.support.agent_harness import AgentHarness, make_tool_context
from tests.support.workspaces import make_workspace

EDIT = call("edit_file", file="a.py", old_text="x = 1", new_text="x = 3")
DONE = call("done", summary="Done.")
READ = call("read_file", file="b.py")
LIST = call("list_files")
LOST = [call("edit_file", file="a.py", old_text="lost", new_text=f"new {n}") for n in range(9)]


def table(*replies: Reply, **agent: object) -> AgentHarness:
    """An agent that has `a.py` open."""
    settings = Settings(agent=AgentSettings(**agent))  # type: ignore[arg-type]
    world = make_workspace(
        {"/ws/b.py": "b\n"}, opened={"/ws/a.py": "x = 1\ny = 2\n"}, settings=settings
    )
    return AgentHarness(world, replies)


def last_message(ctx: AgentHarness, n: int) -> str:
    """The last message of the `n`-th request (0-based), if it is ours."""
    last = ctx.model.requests[n].messages[-1]
    return last.content if last.role == "user" else ""


@pytest.mark.parametrize(
    ("replies", "warned_before", "n_rounds", "words"),
    [
        ([READ] * 9, 3, 5, "called 'read_file' 3 times with the same arguments"),
        ([READ, LIST] * 5, 4, 6, "in turns, twice with the same arguments"),
        (LOST, 3, 5, "met the same error of 'edit_file' 4 times"),
        ([combine(READ, READ, READ, READ), *[READ] * 5], 1, 3, "called 'read_file' 3 times"),
    ],
    ids=["the same call", "two calls in turns", "the same error", "many calls at once"],
)
async def test_model_that_repeats_a_call_is_warned_once_and_then_stopped(
    replies: list[Reply], warned_before: int, n_rounds: int, words: str
) -> None:
    ctx = table(EDIT, *replies, max_iterations=20)
    turn = await ctx.ask()
    assert (turn.state, len(turn.rounds)) == (TurnState.LIMITED, n_rounds + 1)
    assert words in turn.error
    assert "even after a reminder" in turn.error
    assert last_message(ctx, warned_before + 1).startswith("You have ")
    assert "last round" in last_message(ctx, n_rounds)
    assert "`done`" in last_message(ctx, n_rounds)
    assert "`read_file`" not in last_message(ctx, n_rounds)
    assert [hunk.state for hunk in ctx.hunks] == ["pending"]


async def test_calls_of_one_answer_are_limited() -> None:
    many = [call("read_file", file=f"{n}.md") for n in range(MAX_CALLS + 300)]
    ctx = table(combine(*many), DONE)
    turn = await ctx.ask()
    assert turn.state == TurnState.COMPLETED
    assert len(turn.tool_calls) == MAX_CALLS + 1
    assert last_message(ctx, 1).startswith(
        f"You called 300 more tools in that answer than the {MAX_CALLS}"
    )
    first = ctx.model.requests[1].messages
    assert sum(len(message.tool_calls) for message in first) == MAX_CALLS


async def test_model_that_heeds_the_warning_continues() -> None:
    turn = await table(READ, READ, READ, EDIT, LIST, DONE).ask()
    assert (turn.state, turn.error) == (TurnState.COMPLETED, "")


async def test_a_model_that_finishes_in_its_last_round_has_finished() -> None:
    ctx = table(READ, READ, READ, READ, combine(EDIT, DONE))
    turn = await ctx.ask()
    assert (turn.state, turn.summary, len(ctx.hunks)) == (TurnState.COMPLETED, "Done.", 1)


async def test_last_round_runs_no_tool_that_reads() -> None:
    ctx = table(READ, READ, max_iterations=2)
    turn = await ctx.ask()
    assert turn.state is TurnState.LIMITED
    answer = [one for one in ctx.model.requests[1].messages if one.role == "tool"]
    assert not any("last round" in one.content for one in answer)
    # The model gets the list of tools; the user gets its meaning.
    assert turn.tool_calls[1].error == (
        "Not run: the turn was near its limit, and its last round has no lookups."
    )
    assert "last round" in last_message(ctx, 1)


async def test_last_round_keeps_the_tools_and_the_earlier_messages() -> None:
    ctx = table(READ, LIST, DONE, max_iterations=3)
    await ctx.ask()
    first, second, third = ctx.model.requests
    assert first.tools == second.tools == third.tools
    assert third.messages[: len(second.messages)] == second.messages


async def test_a_question_that_is_larger_than_the_budget_is_not_sent() -> None:
    ctx = table(DONE, max_tokens=300)
    turn = await ctx.ask()
    assert (turn.state, ctx.model.requests) == (TurnState.LIMITED, [])
    assert turn.error.startswith("Not sent: the request would take about ")


async def test_round_above_the_budget_is_not_started() -> None:
    reading = dataclasses.replace(READ, usage=Usage(30_000, 100))
    ctx = table(reading, reading, DONE, max_tokens=61_000)
    turn = await ctx.ask()
    assert (turn.state, len(turn.rounds)) == (TurnState.LIMITED, 2)
    assert "next round would take about" in turn.error
    assert "last round" in last_message(ctx, 1)


async def test_endless_text_is_aborted_and_its_tokens_are_counted() -> None:
    flood = combine(say("word " * 200_000), EDIT)
    ctx = table(flood, max_tokens=20_000)
    turn = await ctx.ask()
    assert (turn.state, ctx.hunks, turn.tool_calls) == (TurnState.LIMITED, (), ())
    assert "in the middle of an answer" in turn.error
    assert turn.answer.startswith("word word")
    assert 20_000 <= turn.usage.total < 20_100
    assert turn.usage.estimated
    assert sum(isinstance(event, TextDelta) for event in ctx.events) < 6_000


async def test_model_that_never_calls_done_is_limited() -> None:
    ctx = table(*[call("read_file", file="b.py", start_line=n) for n in range(1, 30)])
    turn = await ctx.ask()
    assert (turn.state, len(turn.rounds)) == (TurnState.LIMITED, 10)
    assert "10 rounds (agent.maxIterations)" in turn.error


@pytest.mark.slow
async def test_model_that_streams_past_its_time_is_limited() -> None:
    async def slowly(request: Request) -> Completion:
        await asyncio.sleep(60)
        return DONE

    turn = await table(EDIT, slowly, max_seconds=0.5).ask()
    assert (turn.state, len(turn.tool_calls)) == (TurnState.LIMITED, 1)


@pytest.mark.parametrize("reason", [StopReason.REFUSED, StopReason.FILTERED])
@pytest.mark.parametrize("text", ["", "I will"])
async def test_a_refusal_is_shown_and_none_of_its_calls_run(reason: StopReason, text: str) -> None:
    answer = dataclasses.replace(combine(say(text), EDIT), stop_reason=reason)
    ctx = table(answer)
    turn = await ctx.ask()
    assert (turn.state, ctx.hunks, turn.answer) == (TurnState.FAILED, (), text)
    assert ("refused" if reason is StopReason.REFUSED else "content filter") in turn.error


# -- a conversation that is too long ---------------------------------------------------------------

OVERFLOW = ContextOverflow("The conversation is longer than the model can read.")


async def with_room(*replies: Reply, shorten: bool) -> tuple[AgentHarness, Turn, list[int]]:
    """A turn whose conversation can be shortened, or not; and how long it was each time."""

    ctx = table(*replies)
    asked: list[int] = []

    class Window:
        async def compact_early(self, tokens: int, spent: int) -> Usage | None:
            return None

        async def compact(self) -> Usage | None:
            asked.append(len(conversation))
            if shorten:
                del conversation[1:3]
            return Usage() if shorten else None

    async def confirm(turn: Turn, tokens: int) -> None:
        assert tokens > 0

    turn_tools = TurnServices(
        ctx.model,
        Toolbox(ALL_TOOLS, make_tool_context(ctx.workspace)),
        Limits(10, 100_000, 60),
        lambda event: None,
        confirm,
        window=cast(ContextWindow, Window()),
    )
    ask = Ask(prompt="Do it", mode=Mode.AGENT, place=EditorLocation(None), chat="main")
    conversation = [
        Message("system", "Be good."),
        Message("user", "Old."),
        Message("assistant", "Old."),
        Message("user", "Do it"),
    ]
    turn = await run_turn(Turn(id="t1", ask=ask), conversation, turn_tools)
    return ctx, turn, asked


async def test_conversation_that_is_too_long_is_compacted_and_sent_again() -> None:
    ctx, turn, asked = await with_room(OVERFLOW, READ, DONE, shorten=True)
    assert (turn.state, asked) == (TurnState.COMPLETED, [4])
    assert [len(request.messages) for request in ctx.model.requests] == [4, 2, 4]


@pytest.mark.parametrize(("replies", "shorten"), [([OVERFLOW], False), ([OVERFLOW] * 9, True)])
async def test_conversation_that_cannot_be_compacted_enough_fails(
    replies: list[Reply], shorten: bool
) -> None:
    with pytest.raises(ContextOverflow):
        await with_room(*replies, DONE, shorten=shorten)
