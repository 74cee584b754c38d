"""How a turn ends that is not simply done: failed, cut off, limited."""

import asyncio
import dataclasses

import pytest

from stet.agent.toolbox import ALL_TOOLS
from stet.agent.turn import Mode, TurnState
from stet.llm.model import Completion, ModelUnavailable, Request, StopReason, Usage
from stet.llm.scripted_model import call, combine, say
from stet.settings.values import ModelSettings, Settings
from stet.tools.tool import ToolGroup
from tests.support.one_file_turns import DONE, EDIT, make_agent


async def test_two_empty_answers_fail_the_turn() -> None:
    turn = await make_agent(say(""), say(" \n")).ask()
    assert (turn.state, turn.error) == (
        TurnState.FAILED,
        "The model returned two empty answers. Ask again, or choose another model.",
    )


@pytest.mark.parametrize("mode", [Mode.AGENT, Mode.ASK])
async def test_text_without_a_call_ends_the_turn_as_its_answer(mode: Mode) -> None:
    ctx = make_agent(say("It adds.\n\nTwice."))
    turn = await ctx.ask("What does it do?", mode)
    assert (turn.state, turn.answer) == (TurnState.COMPLETED, "It adds.\n\nTwice.")
    assert (turn.summary, turn.error, len(ctx.model.requests)) == ("It adds.", "", 1)


async def test_text_after_tool_calls_ends_the_turn_and_its_first_line_is_the_summary() -> None:
    turn = await make_agent(combine(say("I look first."), EDIT), say("\nChanged.\nIt is 3.")).ask()
    assert (turn.state, turn.summary) == (TurnState.COMPLETED, "Changed.")
    assert turn.answer == "I look first.\n\nChanged.\nIt is 3."


@pytest.mark.parametrize("nothing", ["", " \n", "\u200b", "<think>\nIt adds.\n</think>\n"])
async def test_empty_answer_is_followed_by_one_reminder(nothing: str) -> None:
    ctx = make_agent(say(nothing), say("It adds."))
    turn = await ctx.ask()
    assert (turn.state, turn.summary) == (TurnState.COMPLETED, "It adds.")
    assert "call `done`" in ctx.model.requests[1].messages[-1].content


async def test_model_that_continues_after_a_reminder_may_get_another() -> None:
    turn = await make_agent(say(""), EDIT, say(""), DONE).ask()
    assert turn.state is TurnState.COMPLETED


@pytest.mark.parametrize(("work", "stays"), [(EDIT, True), (call("read_file", file="b.py"), False)])
async def test_empty_answer_after_a_reminder_limits_the_turn(
    work: Completion, *, stays: bool
) -> None:
    turn = await make_agent(work, say(""), say("")).ask()
    assert turn.state is TurnState.LIMITED
    assert turn.error.startswith("The model stopped without finishing.")
    assert ("Its proposals are kept" in turn.error) == stays


WRITTEN = '<tool_call>\n{"name": "read_file", "arguments": {"file": "b.py"}}\n</tool_call>'


async def test_call_written_as_text_is_answered_with_the_right_form_once() -> None:
    ctx = make_agent(say(WRITTEN), call("read_file", file="b.py"), say("It says b."))
    turn = await ctx.ask()
    assert (turn.state, turn.answer) == (TurnState.COMPLETED, "It says b.")
    reminder = ctx.model.requests[1].messages[-1].content
    assert '{"name": "read_file", "arguments": {...}}' in reminder


@pytest.mark.parametrize("between", [[], [EDIT]], ids=["at once", "later"])
async def test_second_call_written_as_text_fails_the_turn(between: list[Completion]) -> None:
    ctx = make_agent(say(WRITTEN), *between, say(WRITTEN))
    turn = await ctx.ask("What does it do?")
    assert (turn.state, turn.answer) == (TurnState.FAILED, "")
    assert "wrote its tool calls (`read_file`) as text" in turn.error
    assert 'Set model.toolCalls to "text"' in turn.error


async def test_call_written_as_text_in_the_text_protocol_fails_the_turn() -> None:
    settings = Settings(model=ModelSettings(tool_calls="text"))
    turn = await make_agent(say(WRITTEN), say(WRITTEN), settings=settings).ask()
    assert turn.error.endswith("Choose another model.")
    assert "model.toolCalls" not in turn.error


async def test_refusal_fails_the_turn_with_the_text_of_the_model() -> None:
    turn = await make_agent(Completion("I will not.", (), StopReason.REFUSED)).ask()
    assert (turn.state, turn.error) == (TurnState.FAILED, "The model refused: I will not.")


async def test_answer_cut_at_its_maximum_length_limits_the_turn() -> None:
    turn = await make_agent(Completion("And so", (), StopReason.LENGTH)).ask()
    assert (turn.state, turn.answer) == (TurnState.LIMITED, "And so")
    assert "Its proposals are kept" not in turn.error


async def test_truncated_call_is_never_run_even_if_its_json_is_valid() -> None:
    cut = dataclasses.replace(combine(call("read_file", file="b.py"), EDIT))
    ctx = make_agent(dataclasses.replace(cut, stop_reason=StopReason.LENGTH), DONE)
    turn = await ctx.ask()
    assert [run.state for run in turn.tool_calls] == ["completed", "error", "completed"]
    assert ctx.hunks == ()
    assert "cut off" in ctx.model.requests[1].messages[-1].content


async def test_unreachable_model_fails_the_turn_and_its_proposals_stay() -> None:
    ctx = make_agent(EDIT, ModelUnavailable("The host is down; try later."))
    turn = await ctx.ask()
    assert (turn.state, turn.error) == (TurnState.FAILED, "The host is down; try later.")
    assert [hunk.state for hunk in ctx.hunks] == ["pending"]


async def test_internal_error_fails_the_turn_and_the_chat_continues(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fault(request: Request) -> Completion:
        raise ZeroDivisionError

    ctx = make_agent(fault, DONE)
    first, second = ctx.start(), ctx.start()
    turn = await ctx.end_of(first)
    assert (turn.state, turn.error) == (
        TurnState.FAILED, "Internal error in Stet (ZeroDivisionError); see its log.",
    )  # fmt: skip
    assert (await ctx.end_of(second)).state is TurnState.COMPLETED
    assert "ZeroDivisionError" in caplog.text


async def test_missing_package_is_reported_with_a_remedy(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fault(request: Request) -> Completion:
        raise ModuleNotFoundError("No module named 'openai'")

    ctx = make_agent(fault, DONE)
    first, second = ctx.start(), ctx.start()
    turn = await ctx.end_of(first)
    assert (turn.state, turn.error) == (
        TurnState.FAILED,
        "A package that Stet needs can't be loaded (No module named 'openai'). Reinstall "
        "`stet-lsp` in Stet's environment.",
    )
    assert (await ctx.end_of(second)).state is TurnState.COMPLETED
    assert "ModuleNotFoundError" in caplog.text


async def test_last_round_lists_the_tools_that_can_still_be_called() -> None:
    read = call("read_file", file="b.py")
    ctx = make_agent(read, read, read, max_iterations=2)
    turn = await ctx.ask()
    assert (turn.state, len(turn.rounds)) == (TurnState.LIMITED, 2)
    assert "agent.maxIterations" in turn.error
    switched_off = {"delete_file", "execute_command", "web_search", "read_webpage"}
    all_tools = [tool for tool in ALL_TOOLS if tool.name not in switched_off]
    offered = [[tool.name for tool in request.tools] for request in ctx.model.requests]
    assert offered == [[tool.name for tool in all_tools]] * 2
    last = [f"`{tool.name}`" for tool in all_tools if tool.group is ToolGroup.ACTION]
    assert f"only {', '.join(last)} can be called" in ctx.model.requests[1].messages[-1].content


async def test_tokens_are_limited() -> None:
    reading = dataclasses.replace(call("read_file", file="b.py"), usage=Usage(59_000, 2_000))
    turn = await make_agent(reading, DONE, max_tokens=60_000).ask()
    assert (turn.state, turn.usage.total, len(turn.rounds)) == (TurnState.LIMITED, 61_000, 1)
    assert "agent.maxTokens is 60000" in turn.error


@pytest.mark.slow
async def test_seconds_are_limited() -> None:
    async def for_ever(request: Request) -> Completion:
        await asyncio.Event().wait()
        raise AssertionError

    turn = await make_agent(EDIT, for_ever, max_seconds=0.5).ask()
    assert turn.state is TurnState.LIMITED
    assert "agent.maxSeconds" in turn.error
    assert len(turn.tool_calls) == 1


WRONG = call("edit_file", file="a.py", old_text="z = 9", new_text="z = 1", summary="Z")


async def test_done_beside_a_failed_edit_does_not_end_the_turn() -> None:
    ctx = make_agent(combine(WRONG, DONE), combine(EDIT, DONE))
    turn = await ctx.ask()
    assert (turn.state, turn.summary) == (TurnState.COMPLETED, "Done.")
    assert [len(run.hunks) for run in turn.tool_calls] == [0, 0, 1, 0]
    results = [one.content for one in ctx.model.requests[1].messages if one.role == "tool"]
    assert results[-1] == (
        "Error: Not finished: `edit_file` failed in the same answer for 'a.py'. Correct the call; "
        "or, if that can't be done, call `done` by itself and say why.\n"
    )


async def test_done_by_itself_ends_the_turn_after_a_failed_edit() -> None:
    turn = await make_agent(combine(WRONG, DONE), call("done", summary="It can't be done.")).ask()
    assert (turn.state, turn.summary) == (TurnState.COMPLETED, "It can't be done.")


async def test_done_beside_failed_edits_without_end_limits_the_turn() -> None:
    ctx = make_agent(*[combine(WRONG, DONE)] * 12)
    turn = await ctx.ask()
    assert turn.state is not TurnState.RUNNING
    assert len(ctx.model.requests) < 12


async def test_done_beside_an_edit_that_a_rule_refuses_ends_the_turn() -> None:
    refused = call("create_file", file=".git/config", content="x")
    ctx = make_agent(combine(refused, DONE))
    turn = await ctx.ask()
    assert (turn.state, len(turn.rejected)) == (TurnState.COMPLETED, 1)


async def test_done_beside_a_failed_edit_ends_the_last_round() -> None:
    ctx = make_agent(combine(WRONG, DONE), max_iterations=1)
    turn = await ctx.ask()
    assert (turn.state, turn.summary) == (TurnState.COMPLETED, "Done.")
