"""A turn from the question to its end, with a scripted model."""

import dataclasses
import json

import pytest

from stet.agent.agent_events import RoundCompleted, TurnEnded, TurnStarted
from stet.agent.toolbox import ALL_TOOLS
from stet.agent.turn import Mode, TurnState
from stet.llm.model import Usage
from stet.llm.scripted_model import call, combine, say
from stet.settings.values import EditSettings, ModelSettings, Price, Settings
from stet.tools.file_reader import FileReader
from stet.tools.tool import ToolGroup, ToolKind
from stet.tools.tool_state import ToolState
from tests.support.one_file_turns import DONE, EDIT, PausedReply, make_agent, raw
from tests.support.workspaces import insertion


async def test_turn_runs_until_the_model_calls_done() -> None:
    ctx = make_agent(combine(say("I look."), call("read_file", file="b.py")), EDIT, DONE)
    turn = await ctx.ask()
    assert (turn.state, turn.answer, turn.summary, turn.error) == (
        TurnState.COMPLETED, "I look.", "Done.", "",
    )  # fmt: skip
    assert [(run.tool, run.state, run.file) for run in turn.tool_calls] == [
        ("read_file", "completed", "b.py"),
        ("edit_file", "waitingForUserInput", "a.py"),
        ("done", "completed", ""),
    ]
    assert (turn.files_read, len(turn.rounds), turn.model) == (("b.py",), 3, "scripted")
    assert [hunk.summary for hunk in ctx.hunks] == ["Three"]
    assert ctx.proposed() == "x = 3\ny = 2\n"
    assert isinstance(ctx.events[0], TurnStarted)
    assert isinstance(ctx.events[-1], TurnEnded)


async def test_several_calls_of_one_answer_run_in_their_order() -> None:
    other = call("edit_file", file="a.py", old_text="y = 2", new_text="y = 4")
    ctx = make_agent(combine(EDIT, other, DONE))
    turn = await ctx.ask()
    assert [run.tool for run in turn.tool_calls] == ["edit_file", "edit_file", "done"]
    assert ctx.proposed() == "x = 3\ny = 4\n"


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        ('{"file": "b.py"', "not a JSON object"),
        ("[1]", "not a JSON object"),
        ('{"file": NaN}', "not a JSON object"),
        ("[" * 100_000, "not a JSON object"),
        ("", "file: Field required"),
        ("null", "file: Field required"),
        ('{"file": "b.py", "mode": 1}', "mode: Extra inputs are not permitted"),
        ('{"file": 1}', "file: Input should be a valid string"),
        ('{"file": "a\\u0000b"}', "Error"),
        ('{"file": "\\ud800"}', "Error"),
    ],
)
async def test_invalid_arguments_are_reported_and_left_out_of_the_history(
    arguments: str, reported: str
) -> None:
    ctx = make_agent(raw(arguments), DONE)
    turn = await ctx.ask()
    assert turn.state is TurnState.COMPLETED
    assert turn.tool_calls[0].state is ToolState.ERROR
    *_, assistant, answer = ctx.model.requests[1].messages
    assert reported in answer.content
    assert answer.tool_call_id == assistant.tool_calls[0].id
    kept = json.loads(assistant.tool_calls[0].arguments or "{}", parse_constant=pytest.fail)
    assert isinstance(kept, dict) or arguments == "null"


async def test_unknown_tool_is_answered_with_the_list_of_tools() -> None:
    ctx = make_agent(call("write_file", file="b.py"), DONE)
    turn = await ctx.ask()
    assert turn.state is TurnState.COMPLETED
    answer = ctx.model.requests[1].messages[-1].content
    assert answer.startswith(
        "Error: There is no tool 'write_file'. The tools are: search_workspace"
    )


@pytest.mark.parametrize(
    ("bug", "reported"),
    [
        (ZeroDivisionError("b"), "The tool 'read_file' failed; go on without it."),
        (
            ImportError("no x"),
            "The tool 'read_file' can't be used. A package that Stet needs can't be loaded (no "
            "x). Reinstall `stet-lsp` in Stet's environment. Go on without it.",
        ),
    ],
)
async def test_a_tool_that_fails_inside_does_not_end_the_turn(
    bug: Exception, reported: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(reader: FileReader, name: str) -> None:
        raise bug

    monkeypatch.setattr(FileReader, "read", broken)
    ctx = make_agent(call("read_file", file="b.py"), DONE)
    turn = await ctx.ask()
    assert turn.state is TurnState.COMPLETED
    assert turn.tool_calls[0].error == reported
    assert type(bug).__name__ in caplog.text


async def test_repeated_call_ids_lose_no_call() -> None:
    one, two = raw('{"file": "b.py"}', call_id="c"), raw('{"file": "a.py"}', call_id="c")
    turn = await make_agent(one, two, DONE).ask()
    assert [(run.id, run.file) for run in turn.tool_calls[:2]] == [("c", "b.py"), ("c", "a.py")]


async def test_cost_is_computed_if_the_price_is_known() -> None:
    price = Price(input=2.0, cached_input=1.0, output=10.0)
    settings = Settings(model=ModelSettings(price=price))
    done = dataclasses.replace(DONE, usage=Usage(1000, 100, cached=400))
    turn = await make_agent(done, settings=settings).ask()
    assert turn.cost == pytest.approx(0.0026)
    assert turn.pricing.source == "settings"
    assert (await make_agent(done).ask()).cost is None


async def test_mode_ask_answers_in_text_and_offers_no_tools_that_write() -> None:
    ctx = make_agent(EDIT, say("It is three.\nReally."))
    turn = await ctx.ask(mode=Mode.ASK)
    assert (turn.state, turn.summary) == (TurnState.COMPLETED, "It is three.")
    kinds = {tool.name: tool.kind for tool in ALL_TOOLS}
    offered = {kinds[tool.name] for tool in ctx.model.requests[0].tools}
    assert offered == {ToolKind.READ, ToolKind.CONTROL}
    assert turn.tool_calls[0].error.startswith("There is no tool 'edit_file'")
    assert ctx.hunks == ()


async def test_tools_are_switched_off_by_settings_and_question_but_never_done() -> None:
    ctx = make_agent(
        DONE, disabled_tools=("done", "list_files"), disabled_groups=("action", "advanced")
    )
    await ctx.end_of(ctx.start(disabled=["search_workspace"]))
    offered = [tool.name for tool in ctx.model.requests[0].tools]
    assert offered == [
        tool.name
        for tool in ALL_TOOLS
        if (tool.group is ToolGroup.WORKSPACE or tool.kind is ToolKind.CONTROL)
        and tool.name not in {"list_files", "search_workspace"}
    ]
    assert offered[-2:] == ["done", "ask_user"]


async def test_refused_edit_is_reported_to_the_model_and_to_the_user() -> None:
    ctx = make_agent(EDIT, DONE, settings=Settings(edit=EditSettings(can_delete=False)))
    turn = await ctx.ask()
    assert "edit.canDelete" in ctx.model.requests[1].messages[-1].content
    assert [(e.file, e.position, e.rule) for e in turn.rejected] == [
        ("a.py", "x = 1", "edit.canDelete")
    ]
    assert "`edit.canDelete` is off" in ctx.model.requests[0].messages[0].content


async def test_text_typed_during_a_turn_is_kept() -> None:
    held = PausedReply(EDIT)
    ctx = make_agent(held, DONE)
    turn_id = ctx.start()
    await held.asked.wait()
    ctx.type(insertion(0, 0, "# typed meanwhile\n"))
    held.go.set()
    await ctx.end_of(turn_id)
    assert ctx.proposed() == "# typed meanwhile\nx = 3\ny = 2\n"
    assert any(isinstance(event, RoundCompleted) for event in ctx.events)
