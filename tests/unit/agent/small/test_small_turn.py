"""A model of a hundred million parameters in the loop: what it is shown, and what it may call."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.agent.small.grammar_model import (
    MAX_CHARACTERS,
    MAX_LINES,
    QuotableLine,
    find_quotes,
    grammar,
    parse,
    render,
    to_plain_messages,
    window,
)
from stet.agent.small.small_turn import preview_small
from stet.agent.small.worked_example import EXAMPLES, worked_example
from stet.agent.turn import Ask, Mode, TurnState
from stet.context.context_builder import EditorLocation
from stet.llm.model import Message, ToolCall, estimate_prompt
from stet.llm.scripted_model import call, say
from stet.text.document import TextDocument
from stet.tools.done import DONE
from stet.tools.edit_file import EDIT_FILE
from stet.tools.read_file import READ_FILE
from tests.support.agent_harness import AgentHarness, make_tool_context
from tests.support.workspaces import make_workspace, uri_at

TEXT = "def add(a, b):\n    return a - b\n"
EDIT = "edit_file a.py\n-     return a - b\n+     return a + b\n"
LINES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20)


def document(text: str) -> TextDocument:
    return TextDocument("file:///ws/a.py", text)


def small(*answers: str, text: str = TEXT) -> AgentHarness:
    return AgentHarness(
        make_workspace(opened={"/ws/a.py": text}), [say(one) for one in answers], is_tiny=True
    )


async def test_calls_in_lines_are_carried_out_by_the_loop() -> None:
    table = small("read_file a.py\n", EDIT, "done\n")
    turn = await table.ask("It should return a + b.")
    assert (turn.state, turn.summary) == (
        TurnState.COMPLETED,
        "Proposed 1 edit; the model gave no summary.",
    )
    assert [run.tool for run in turn.tool_calls] == ["read_file", "edit_file", "done"]
    assert table.proposed() == "def add(a, b):\n    return a + b\n"


async def test_prompt_holds_the_file_without_line_numbers_and_repeats_the_question() -> None:
    table = small("read_file a.py\n", EDIT, "done\n")
    await table.ask("It should return a + b.")
    *_, asked, read, shown = table.model.requests[1].messages
    assert asked.content.endswith("</tool_result>\nFile: a.py\nIt should return a + b.")
    assert read == Message("assistant", "read_file a.py\n")
    assert shown == Message("user", f"<tool_result>\n{TEXT}</tool_result>\nIt should return a + b.")
    assert (
        table.model.requests[2].messages[-1].content == "<tool_result>\nProposed.\n</tool_result>"
    )


async def test_each_request_begins_with_the_one_before_and_the_first_takes_a_quarter() -> None:
    table = small("read_file a.py\n", EDIT, "done\n")
    await table.ask("It should return a + b.")
    first, second, third = (request.messages for request in table.model.requests)
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert estimate_prompt(first) < 1024
    assert [request.tools for request in table.model.requests] == [(), (), ()]


async def test_grammar_quotes_only_lines_read_and_repeats_no_call() -> None:
    table = small("read_file a.py\n", EDIT, "done\n")
    await table.ask("It should return a + b.")
    first, second, third = (request.grammar for request in table.model.requests)
    assert "edit_file" not in first
    assert "-     return a - b" in second
    assert "-     return a - b" not in third
    assert ["read_file a.py" in one for one in (first, second, third)] == [True, False, False]
    assert all("done" in one for one in (first, second, third))


async def test_a_tool_that_is_switched_off_can_not_be_called() -> None:
    table = small("read_file a.py\n", "done\n")
    turn = await table.end_of(table.start(disabled=["edit_file"]))
    assert "edit_file" not in table.model.requests[1].grammar
    assert turn.summary.startswith("The small model proposed nothing.")


async def test_answer_without_a_call_runs_no_tool() -> None:
    table = small("edit_file a.py\n-     return a - b\n+     ret", "I will.")
    turn = await table.ask()
    assert (turn.state, turn.tool_calls, table.hunks) == (TurnState.FAILED, (), ())


async def test_question_is_answered_with_the_file_in_the_prompt() -> None:
    table = small("It subtracts.")
    turn = await table.ask("What does it do?", Mode.ASK)
    assert (turn.state, turn.answer) == (TurnState.COMPLETED, "It subtracts.")
    (request,) = table.model.requests
    assert request.messages[-1].content == f"File: a.py\n<file>\n{TEXT}</file>\nWhat does it do?"
    assert (request.grammar, request.tools) == ("", ())


async def test_turn_without_a_file_fails_with_a_reason() -> None:
    table = AgentHarness(make_workspace(), [], is_tiny=True)
    turn = await table.end_of(table.start(file=None))
    assert turn.state is TurnState.FAILED
    assert turn.error.startswith("The embedded model can only edit an open file")


async def test_a_question_that_leaves_no_room_is_refused() -> None:
    turn = await small().ask("x" * 1001)
    assert turn.state is TurnState.FAILED
    assert "at most 1000" in turn.error


async def test_window_of_a_long_file_holds_the_function_that_is_asked_about() -> None:
    filler = "".join(f"def f{n}():\n    return {n}\n\n" for n in range(100))
    table = small("read_file a.py 298-302\n", "done\n", text=filler + TEXT)
    turn = await table.ask("add() is wrong")
    assert "read_file a.py 298-302" in table.model.requests[0].grammar
    assert turn.tool_calls[0].error == ""


async def test_window_of_a_long_file_holds_the_selection() -> None:
    text = "".join(f"x = {n}\n" for n in range(300))
    table = small("done\n", text=text)
    await table.ask("x is wrong", lines=(200, 200))
    assert "read_file a.py 197-256" in table.model.requests[0].grammar


def test_window_is_small_for_every_file() -> None:
    for text in ("x\n" * 5000, "y" * 100_000, f"{'z' * 1000}\n" * 50):
        shown = window(document(text), None, "fix it")
        n_characters = sum(map(len, shown.document.lines[shown.first : shown.end]))
        assert 0 < shown.end - shown.first <= MAX_LINES
        assert n_characters <= MAX_CHARACTERS or shown.end - shown.first == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a = 1\n\n  b = 2\n", [QuotableLine("", "", "a = 1"), QuotableLine("", "  ", "b = 2")]),
        ("p()\nx\nq()\nx\n", [QuotableLine("", "", "p()"), QuotableLine("p()\n", "", "x"), QuotableLine("", "", "q()"), QuotableLine("q()\n", "", "x")]),
        ("x\n" * 3, [QuotableLine("x\nx\n", "", "x")]),
        ("é\r\nü\r\n", [QuotableLine("", "", "é"), QuotableLine("", "", "ü")]),
        (f"{'x' * 161}\ny\n", [QuotableLine("", "", "y")]),
        ("", []),
    ],
)  # fmt: skip
def test_every_line_that_can_be_made_unique_may_be_quoted(
    text: str, found: list[QuotableLine]
) -> None:
    assert list(find_quotes(window(document(text), None, ""))) == found


@given(st.lists(LINES, min_size=1, max_size=6))
def test_every_quote_occurs_once_in_the_file(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    assert all(
        text.find(quote.text) == text.rfind(quote.text) >= 0
        for quote in find_quotes(window(document(text), None, ""))
    )


@given(
    st.lists(LINES, min_size=1, max_size=3),
    st.lists(LINES, min_size=1, max_size=3),
    st.none() | st.tuples(st.integers(1, 99), st.integers(1, 99)),
)
def test_calls_written_and_read_are_the_same(
    old: list[str], new: list[str], lines: tuple[int, int] | None
) -> None:
    read = {"file": "a b.py"} | ({"start_line": lines[0], "end_line": lines[1]} if lines else {})
    edit = {"file": "é.py", "old_text": "\n".join(old), "new_text": "\n".join(new)}
    for name, arguments in (("read_file", read), ("edit_file", edit), ("done", {"summary": "S"})):
        found = parse(render(ToolCall("x", name, json.dumps(arguments))), "S")
        assert found is not None
        assert (found.name, json.loads(found.arguments)) == (name, arguments)


@pytest.mark.parametrize("text", ["", "done", "read_file \n", "edit_file a.py\n- x\n", "hello\n"])
def test_incomplete_call_is_not_parsed(text: str) -> None:
    assert parse(text, "") is None


def test_grammar_escapes_every_text_of_a_file() -> None:
    shown = window(document('a"] ::= [^-x\\\n'), None, "")
    made = grammar({"a.py": shown}, {"a.py": find_quotes(shown)})
    assert made.startswith('root ::= "read_file a.py\\U0000000A" | "edit_file a.py')
    assert made.count("::=") == made.count("\n") + 1  # the one in the file's text


def test_the_example_is_right_by_the_rules_of_the_real_tools() -> None:
    tools = {tool.name: tool for tool in (READ_FILE, EDIT_FILE, DONE)}
    calls = [one for message in worked_example() for one in message.tool_calls]
    assert len(calls) == 3 * len(EXAMPLES)
    for one in calls:
        tools[one.name].params.model_validate_json(one.arguments)
    for example in EXAMPLES:
        assert example.old in [
            quote.text for quote in find_quotes(window(document(example.text), None, ""))
        ]


def test_plain_messages_of_the_example_hold_no_native_call() -> None:
    plain = list(to_plain_messages([Message("system", "s"), *worked_example()]))
    assert all(not message.tool_calls for message in plain)
    assert [message.role for message in plain[1:]] == ["user", "assistant"] * 12 + ["user"]


@pytest.mark.parametrize(("mode", "answers"), [(Mode.AGENT, ["done\n"]), (Mode.ASK, ["It adds."])])
async def test_context_preview_is_the_request(mode: Mode, answers: list[str]) -> None:
    table = small(*answers)
    await table.ask("It should return a + b.", mode)
    ctx = make_tool_context(table.workspace, mode=mode)
    await ctx.reader.read("a.py")
    place = EditorLocation(uri_at("/ws/a.py"))
    ask = Ask(prompt="It should return a + b.", mode=mode, place=place, chat="main")
    (request,) = table.model.requests
    assert preview_small(ask, ctx) == [(one.role, one.content) for one in request.messages]


async def test_larger_model_gets_no_grammar_and_all_tools() -> None:
    table = AgentHarness(make_workspace(opened={"/ws/a.py": TEXT}), [call("done", summary="Done.")])
    await table.ask()
    (request,) = table.model.requests
    assert request.grammar == ""
    assert len(request.tools) > 3
