"""What a mad model writes into calls: it is refused shortly, in the tool's words, and does
nothing.
"""

import json
import re

import pytest

from stet.agent.toolbox import ALL_TOOLS, MAX_ERROR, Toolbox
from stet.llm.model import ToolCall
from stet.tools.editor_actions import Question
from stet.tools.get_links import MAX_LINES
from tests.support.agent_harness import make_tool_context
from tests.support.workspaces import make_workspace

MUCH = 1_000_000
NOTE = "---\ntitle: A\n---\n# Head\n"


async def answer_of(tool: str, arguments: str) -> str:
    """Return the answer to a call; nothing may be proposed."""
    ctx = make_tool_context(make_workspace(opened={"/ws/a.md": NOTE}), asked="/ws/a.md")
    outcome = await Toolbox(ALL_TOOLS, ctx).run(ToolCall("c", tool, arguments))
    assert ctx.reader.ledger.hunks() == ()
    assert outcome.error
    return outcome.text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("x" * MUCH, {}),
        ("read_file", {"k" * MUCH: 1}),
        ("read_file", {f"k{n}": n for n in range(10_000)}),
        ("link_files", {"file": "a.md", "to": "a.md", "after": "# " * MUCH}),
        ("add_tags", {"file": "a.md", "tags": ["a " * MUCH]}),
        ("search_workspace", {"query": "x" * MUCH}),
        ("update_properties", {"file": "a.md", "set": {f"k{n}": n for n in range(10_000)}}),
    ],
)
async def test_error_does_not_repeat_long_arguments(
    tool: str, arguments: dict[str, object]
) -> None:
    answer = await answer_of(tool, json.dumps(arguments))
    assert answer.startswith("Error: ")
    assert len(answer) < MAX_ERROR + 100


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("search_workspace", {"query": "aB" * 501}, "query"),
        ("query_files", {"glob": "*a" * 251}, "glob"),
        ("query_files", {"text": "x" * 501}, "text"),
        ("query_files", {"property": "a", "value": ">" * 501}, "value"),
        ("query_files", {"modified_before": "0001-01-01T00:00:00+23:59"}, "modified_before"),
        ("add_tags", {"file": "a.md", "tags": ["t"] * 101}, "tags"),
        ("update_properties", {"file": "a.md", "remove": ["t"] * 101}, "remove"),
    ],
)
async def test_arguments_that_would_take_long_are_refused_early(
    tool: str, arguments: dict[str, object], field: str
) -> None:
    assert (await answer_of(tool, json.dumps(arguments))).startswith(f"Error: {tool!r}: {field}")


async def test_properties_nested_too_deeply_are_refused_in_plain_words() -> None:
    deep = "[" * 900 + "]" * 900
    answer = await answer_of("update_properties", f'{{"file": "a.md", "set": {{"k": {deep}}}}}')
    assert answer == "Error: `set` is nested too deeply. Give texts, numbers or lists.\n"


@pytest.mark.parametrize("text", [NOTE, "# No front matter\n"])
async def test_no_property_makes_a_front_matter_that_can_not_be_read(text: str) -> None:
    ctx = make_tool_context(make_workspace(opened={"/ws/a.md": text}), asked="/ws/a.md")
    arguments = json.dumps({"file": "a.md", "set": {"k": "long " * 20_000}})
    outcome = await Toolbox(ALL_TOOLS, ctx).run(ToolCall("c", "update_properties", arguments))
    assert "the maximum is 65,536" in outcome.text
    assert ctx.reader.ledger.hunks() == ()


async def test_deeply_nested_properties_of_a_note_are_reported() -> None:
    deep = "".join(f"{' ' * n}a:\n" for n in range(340))
    ctx = make_tool_context(make_workspace({"/ws/a.md": f"---\n{deep}---\n"}))
    call = ToolCall("c", "get_properties", '{"file": "a.md"}')
    assert "line 2: it is nested too deeply" in (await Toolbox(ALL_TOOLS, ctx).run(call)).text


async def test_report_on_a_thousand_notes_of_one_name_is_bounded() -> None:
    text = "---\naliases: [zz, zz]\n---\n" + "[[zz]] [[n1]]\n" * 50
    ctx = make_tool_context(make_workspace({f"/ws/n{n}.md": text for n in range(60)}))
    call = ToolCall("c", "get_links", '{"file": "n1.md", "depth": 3}')
    answer = (await Toolbox(ALL_TOOLS, ctx).run(call)).text
    n_left_out = int(re.findall(r"\(cut: ([\d,]+) more lines", answer)[0].replace(",", ""))
    assert n_left_out < 2 * MAX_LINES


async def test_nothing_acts_or_hides_on_the_button_of_a_choice() -> None:
    asked: list[Question] = []

    async def first(question: Question) -> str:
        asked.append(question)
        return question.choices[0]

    ctx = make_tool_context(make_workspace({}))
    ctx.ask_question = first
    arguments = json.dumps({"question": "Which?", "choices": ["\x1b]0;x\x07", "a\u202eb"]})
    outcome = await Toolbox(ALL_TOOLS, ctx).run(ToolCall("c", "ask_user", arguments))
    assert [one.choices for one in asked] == [(r"\x1b]0;x\x07", r"a\u202eb")]
    assert outcome.text == "The user answers: \\x1b]0;x\\x07\n"
