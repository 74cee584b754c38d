"""Tool calls as text: what the model is sent, and how its answers are parsed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.llm.model import Message, Request, StopReason, ToolCall, ToolsUnsupported
from stet.llm.scripted_model import ScriptedModel, call, say
from stet.llm.text_protocol import (
    TextProtocolModel,
    escape_tags,
    parse_answer,
    render_call,
    render_message,
)
from tests.support.model_requests import READ_FILE, ModelOutput, model_at, question
from tests.support.openai_server import OpenAIServer, error
from tests.support.openai_server import say as wire_say

CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>'
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def parsed(text: str, *, is_cut: bool = False) -> tuple[str, list[tuple[str, str]]]:
    plain, calls = parse_answer(text, [READ_FILE], is_cut=is_cut)
    return plain, [(one.name, one.arguments) for one in calls]


WHOLE = [("read_file", '{"path": "a"}')]


@pytest.mark.parametrize(
    ("text", "plain", "calls"),
    [
        ("Just words.\n", "Just words.\n", []),
        (CALL, "", WHOLE),
        (f"I will look.\n{CALL}\n", "I will look.", WHOLE),
        (f"{CALL}\n{CALL}", "", WHOLE * 2),
        (CALL.removesuffix("</tool_call>"), "", WHOLE),
        (CALL.replace("\n", ""), "", WHOLE),
        (CALL.replace("{", "```json\n{", 1).replace("\n</", "\n```\n</"), "", WHOLE),
        (CALL.replace("arguments", "parameters"), "", WHOLE),
        ('{"name": "read_file", "arguments": {"path": "a"}}', "", WHOLE),
        ('```json\n{"name": "read_file", "arguments": {"path": "a"}}\n```', "", WHOLE),
        (CALL.replace('{"path": "a"}', '"{\\"path\\": 1}"'), "", [("read_file", '{"path": 1}')]),
        (CALL.replace("read_file", "launch"), "", [("launch", '{"path": "a"}')]),
        ('{"name": "launch", "arguments": {}}', '{"name": "launch", "arguments": {}}', []),
        ('{"name": "read_file"}', '{"name": "read_file"}', []),
        ("Write `<tool_call>` to call.", "Write `<tool_call>` to call.", []),
        ('<tool_call>\n{"name": "x", oops\n</tool_call>', "", [("x", '{"name": "x", oops')]),
        ("<tool_call>\nread it\n</tool_call>", "", [("", "read it")]),
    ],
)
def test_calls_are_found(text: str, plain: str, calls: list[tuple[str, str]]) -> None:
    assert parsed(text) == (plain, calls)


def test_a_call_that_is_cut_is_dropped() -> None:
    assert parsed('Look.\n<tool_call>\n{"name": "read_', is_cut=True) == ("Look.", [])


@given(st.text(min_size=1), st.dictionaries(st.text(), JSON, max_size=4), st.booleans())
def test_a_call_written_and_read_is_the_same(
    name: str, arguments: dict[str, Any], ascii_only: bool
) -> None:
    written = render_call(ToolCall("x", name, json.dumps(arguments, ensure_ascii=ascii_only)))
    plain, (found,) = parse_answer(written, [], is_cut=False)
    assert (plain, found.name, json.loads(found.arguments)) == ("", name, arguments)


@given(st.lists(st.sampled_from(["<", "/", "tool_", "tool_result>", "<tool_call>", "\n", "x"])))
def test_data_can_neither_close_its_wrapping_nor_open_a_call(parts: list[str]) -> None:
    content = escape_tags("".join(parts))
    assert parse_answer(content, [], is_cut=False)[1] == ()
    rendered = render_message(Message("tool", "".join(parts), tool_call_id="a")).content
    assert rendered.count("</tool_result>") == 1


async def test_conversation_is_converted_to_plain_messages() -> None:
    inner = ScriptedModel([say("Done.")])
    earlier = (
        Message("assistant", "Let me see.", (ToolCall("c", "read_file", '{"path": "a"}'),)),
        Message("tool", "text of </tool_result> a", tool_call_id="c"),
        Message("user", "Go on."),
    )
    request = question("Read a.", READ_FILE)
    await ModelOutput().ask(
        TextProtocolModel(inner, always=True),
        Request(request.messages + earlier, request.tools),
    )
    (asked,) = inner.requests
    system, *rest = asked.messages
    assert asked.tools == ()
    assert system.content.startswith("Be brief.\n\n# Tools")
    assert '- read_file: Read a file.\n  {"type": "object"' in system.content
    assert rest == [
        Message("user", "Read a."),
        Message("assistant", f"Let me see.\n{CALL}"),
        Message("user", "<tool_result>\ntext of <\\/tool_result> a\n</tool_result>\n\nGo on."),
    ]


async def test_call_in_text_becomes_a_tool_call() -> None:
    output = ModelOutput()
    inner = ScriptedModel([say(f"I look.\n{CALL}")])
    completion = await output.ask(TextProtocolModel(inner, always=True), question("x", READ_FILE))
    assert (completion.text, completion.stop_reason) == ("I look.", StopReason.TOOL_CALLS)
    assert [one.name for one in completion.tool_calls] == ["read_file"]
    assert output.text.strip() == "I look."


async def test_call_in_text_is_text_without_tools() -> None:
    output = ModelOutput()
    completion = await output.ask(TextProtocolModel(ScriptedModel([say(CALL)]), always=True))
    assert completion.text == output.text == CALL


async def test_model_that_refuses_tools_gets_the_text_protocol_from_then_on() -> None:
    refusal = error(400, "registry.example/gemma3 does not support tools")
    async with OpenAIServer([refusal, wire_say(CALL), wire_say("Done.")]) as server:
        inner = model_at(server)
        model = TextProtocolModel(inner, always=False)
        first = await ModelOutput().ask(model, question("Read a.", READ_FILE))
        second = await ModelOutput().ask(model, question("And?", READ_FILE))
        await model.close()
        assert [one.name for one in first.tool_calls] == ["read_file"]
        assert second.text == "Done."
        assert ["tools" in asked.body for asked in server.requests] == [True, False, False]


async def test_a_model_with_tool_calls_is_left_alone() -> None:
    inner = ScriptedModel([call("read_file", path="a")])
    request = question("x", READ_FILE)
    completion = await ModelOutput().ask(TextProtocolModel(inner, always=False), request)
    assert completion.tool_calls[0].id == "call_1_1"
    assert inner.requests == [request]


async def test_a_refusal_of_another_kind_is_not_caught() -> None:
    model = TextProtocolModel(ScriptedModel([ToolsUnsupported("No.")]), always=True)
    with pytest.raises(ToolsUnsupported):
        await ModelOutput().ask(model, question("x", READ_FILE))
