"""Calls that models wrote as text, in the forms of public reports, read as calls."""

import json
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.llm.model import ToolDefinition
from stet.llm.written_calls import MAX_READ, MAX_VALUES, read_written_calls


def tool(name: str, *required: str, **optional: str) -> ToolDefinition:
    """Make a tool; its arguments are strings, except optional ones of another type."""
    properties = {key: {"type": "string"} for key in required}
    properties |= {key: {"type": kind} for key, kind in optional.items()}
    schema = {"type": "object", "properties": properties, "required": [*required]}
    return ToolDefinition(name, "Does it.", schema)


TOOLS = (
    tool("read_file", "file", first="integer"),
    tool("edit_file", "file", "old_text", "new_text", summary="string"),
    tool("get_links", "file"),
    tool("search_workspace", "query"),
    tool("done", "summary"),
    tool("list_files", folder="string"),
)
READ, EDIT = (
    'read_file {"file": "a.py"}',
    'edit_file {"file": "a.py", "old_text": "x", "new_text": "y"}',
)
ARGUMENTS = '{"file": "a.py", "old_text": "x", "new_text": "y"}'


def read(answer: str) -> tuple[str, list[str]]:
    """Return the text of an answer and its calls, each as `name {arguments}`."""
    text, calls = read_written_calls(answer, TOOLS)
    return text, [f"{call.name} {call.arguments}" for call in calls]


FORMS = {
    # vllm-project/vllm#32926, #33083
    "Qwen2.5-Coder, tag": '<tools>\n{"name": "edit_file", "arguments": ' + ARGUMENTS + "}\n</tools>",
    "Qwen2.5-Coder, list": '<tools>\n[{"name": "edit_file", "arguments": ' + ARGUMENTS + "}]\n</tools>",
    "Qwen2.5-Coder, fence": '```json\n{"name": "edit_file", "arguments": ' + ARGUMENTS + "}\n```",
    # ollama/ollama#12174
    "Qwen2.5-Coder, bare": '{"name": "edit_file", "arguments": ' + ARGUMENTS + "}",
    # The doubled braces of the template of Qwen2.5-Coder-1.5B.
    "Qwen2.5-Coder, doubled": '<tool_call>\n{{"name": "edit_file", "arguments": '
    + ARGUMENTS
    + "}}\n</tool_call>",
    "Qwen2.5-Coder, all doubled": '{{"name": "edit_file", "arguments": {'
    + ARGUMENTS
    + "}}}",
    "Qwen2.5-Coder, without a name": f"```json\n{ARGUMENTS}\n```",
    "Hermes and Qwen3": '<tool_call>\n{"name": "edit_file", "arguments": ' + ARGUMENTS + "}\n</tool_call>",
    "Hermes, unclosed": '<tool_call>\n{"name": "edit_file", "arguments": ' + ARGUMENTS + "}",
    # theroyallab/tabbyAPI#378
    "Qwen3-Coder": "<tool_call>\n<function=edit_file>\n<parameter=file>\na.py\n</parameter>\n"
    "<parameter=old_text>\nx\n</parameter>\n<parameter=new_text>\ny\n</parameter>\n</function>\n"
    "</tool_call>",
    # zai-org/GLM-5#84
    "GLM": "<tool_call>edit_file\n<arg_key>file</arg_key>\n<arg_value>a.py</arg_value>\n"
    "<arg_key>old_text</arg_key>\n<arg_value>x</arg_value>\n<arg_key>new_text</arg_key>\n"
    "<arg_value>y</arg_value>\n</tool_call>",
    # raullenchai/Rapid-MLX#700
    "Llama 3.1": '{"name": "edit_file", "parameters": ' + ARGUMENTS + "}",
    # meta-llama/llama-models#169
    "Llama 3.1, ipython": '<|python_tag|>{"type": "function", "name": "edit_file", "parameters": '
    + ARGUMENTS
    + "}<|eom_id|>",
    "Llama 3.1, element": f"<function=edit_file>{ARGUMENTS}</function><|eot_id|>",
    "Llama 3.2": '[edit_file(file="a.py", old_text="x", new_text="y")]',
    # ollama/ollama#13519
    "Llama 3.2, fence": '```json\n{"name": "edit_file", "parameters": ' + ARGUMENTS + "}\n```",
    "Gemma": "```tool_code\nprint(edit_file(file='a.py', old_text='x', new_text='y'))\n```",
    "Mistral": '[TOOL_CALLS] [{"name": "edit_file", "arguments": ' + ARGUMENTS + "}]",
    "Mistral Small": f"[TOOL_CALLS]edit_file{ARGUMENTS}",
    "Granite": '<|tool_call|>[{"name": "edit_file", "arguments": ' + ARGUMENTS + "}]",
    "Phi-4": '<|tool_call|>[{"name": "edit_file", "arguments": ' + ARGUMENTS + "}]<|/tool_call|>",
    "Kimi K2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.edit_file:0"
    f"<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|>",
    "DeepSeek V3": "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>"
    f"function<\uff5ctool\u2581sep\uff5c>edit_file\n```json\n{ARGUMENTS}\n```"
    "<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>",
    "gpt-oss": "<|channel|>commentary to=functions.edit_file <|constrain|>json<|message|>"
    f"{ARGUMENTS}<|call|>",
    "MiniMax": '<invoke name="edit_file"><parameter name="file">a.py</parameter>'
    '<parameter name="old_text">x</parameter><parameter name="new_text">y</parameter></invoke>',
    "xLAM, a list": '[{"name": "edit_file", "arguments": ' + ARGUMENTS + "}]",
    "OpenAI's own shape": '{"tool_calls": [{"id": "call_1", "type": "function", "function": '
    '{"name": "edit_file", "arguments": ' + json.dumps(ARGUMENTS) + "}}]}",
    "keys of other names": '{"tool": "edit_file", "args": ' + ARGUMENTS + "}",
    "the tool as the key": '{"edit_file": ' + ARGUMENTS + "}",
    "flat": '{"tool": "edit_file", ' + ARGUMENTS[1:],
    "single quotes": "{'name': 'edit_file', 'arguments': "
    "{'file': 'a.py', 'old_text': 'x', 'new_text': 'y'}}",
    "a comma too many": '{"name": "edit_file", "arguments": ' + ARGUMENTS[:-1] + ",},}",
    "closing braces missing": '<tool_call>\n{"name": "edit_file", "arguments": ' + ARGUMENTS[:-1],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_form_of_a_model_is_read(form: str) -> None:
    assert read(FORMS[form]) == ("", [EDIT])


@pytest.mark.parametrize("form", FORMS)
def test_words_around_a_call_are_the_answer(form: str) -> None:
    # A list of calls within words may be any code, and an object without a name any data.
    if form != "Llama 3.2":
        text, calls = read(f"I change the file.\n\n{FORMS[form]}\n")
        assert (text, calls) == ("I change the file.", [EDIT])


@pytest.mark.parametrize(
    ("answer", "calls"),
    [
        (
            '<tools>\n{"name": "read_file", "arguments": {"file": "a.py"}}\n'
            '{"name": "done", "arguments": {"summary": "Read."}}\n</tools>',
            [READ, 'done {"summary": "Read."}'],
        ),
        (
            f'```json\n{{"name": "edit_file", "arguments": {ARGUMENTS}}}\n```\n\n'
            '```json\n{"name": "done", "arguments": {"summary": "Done."}}\n```',
            [EDIT, 'done {"summary": "Done."}'],
        ),
        (
            '<tool_call>\n{"name": "read_file", "arguments": {"file": "a.py"}}\n</tool_call>\n'
            '<tool_call>\n{"name": "list_files", "arguments": {}}\n</tool_call>',
            [READ, "list_files {}"],
        ),
        (
            '{"name": "read_file", "arguments": {"file": "a.py"}}\n'
            '{"name": "done", "arguments": {"summary": "Read."}}',
            [READ, 'done {"summary": "Read."}'],
        ),
    ],
)
def test_several_calls_are_read_in_order(answer: str, calls: list[str]) -> None:
    assert read(answer) == ("", calls)


def test_closing_tag_within_an_argument_does_not_end_the_call() -> None:
    text = "a </tool_call> in a string, and <tool_call> too"
    arguments = json.dumps({"file": "a.py", "old_text": text, "new_text": "y"})
    answer = f'<tool_call>\n{{"name": "edit_file", "arguments": {arguments}}}\n</tool_call>'
    assert read(answer) == ("", [f"edit_file {arguments}"])


def test_line_feed_within_a_string_is_part_of_it() -> None:
    answer = '<tool_call>{"name": "done", "arguments": {"summary": "one\ntwo"}}</tool_call>'
    assert read(answer) == ("", ['done {"summary": "one\\ntwo"}'])


@pytest.mark.parametrize(
    ("text", "read_text"),
    [
        (
            r'def f():\n    """Say "hi"."""\n    return {"a": 1}',
            'def f():\n    """Say "hi"."""\n    return {"a": 1}',
        ),
        (r'print("a", \"b\")', 'print("a", "b")'),
        (r'a = "x"\nb = "y"', 'a = "x"\nb = "y"'),
    ],
)
def test_unescaped_quotes_within_code_are_part_of_it(text: str, read_text: str) -> None:
    answer = (
        f'```json\n{{\n  "name": "edit_file",\n  "arguments": {{\n    "file": "a.py",\n'
        f'    "old_text": "{text}",\n    "new_text": "y"\n  }}\n}}\n```'
    )
    arguments = {"file": "a.py", "old_text": read_text, "new_text": "y"}
    assert read(answer) == ("", [f"edit_file {json.dumps(arguments)}"])


def test_text_of_an_element_gets_the_type_of_the_argument() -> None:
    answer = (
        "<function=read_file><parameter=file>\n12\n</parameter>"
        "<parameter=first>\n12\n</parameter></function>"
    )
    assert read(answer) == ("", ['read_file {"file": "12", "first": 12}'])


@pytest.mark.parametrize(
    "answer",
    [
        "It reads the file.",
        'The format is `{"name": "read_file", "arguments": {"file": "a.py"}}`.',
        '```json\n{"name": "my-package", "version": "1.0"}\n```',
        '```json\n{"file": "a.py"}\n```',  # fits several tools
        '```json\n{"name": "read_file", "arguments": {"path": "a.py"}}\n```',  # an unknown argument
        '```json\n{"name": "delete_everything", "arguments": {}}\n```',
        '```python\nread_file("a.py")\n```',
        '```python\ntext = read_file(file="a.py")\n```',
        '```js\nedit_file({file: "a.py"})\n```',
        '{"answer": 42}',
        'A query is\n{"query": "x"}\nas you see.',
        'A query is\n\n```json\n{"query": "x"}\n```\n\nas you see.',
        "[1, 2, 3]",
        "<tools> is a tag of HTML that nobody knows.",
        # The definitions of tools, which a small model echoes.
        '<tools>\n{"type": "function", "function": {"name": "read_file", "parameters": '
        '{"type": "object", "properties": {"file": {"type": "string"}}}}}\n</tools>',
        "def f():\n    return {\n        'name': 'read_file',\n    }\n",
    ],
)
def test_text_that_is_no_call_is_the_answer(answer: str) -> None:
    assert read(answer) == (answer, [])


def test_nothing_is_a_call_without_tools() -> None:
    for answer in FORMS.values():
        assert read_written_calls(answer, ()) == (answer, ())


@pytest.mark.parametrize("answer", ["<tools></tools>", "<tool_call>\n</tool_call>\n"])
def test_empty_tags_are_an_empty_answer(answer: str) -> None:
    assert read(answer) == ("", [])


@pytest.mark.parametrize(
    "piece",
    [
        '{"a": "',
        '"file": "a" ',
        "{",
        "[",
        "<tools>",
        "<tool_call>{",
        "```json\n",
        "<function=read_file>",
        "(",
        '{"',
    ],
)
def test_hostile_answer_is_read_in_bounded_time(piece: str) -> None:
    for joiner in ("", "\n"):
        answer = joiner.join([piece] * (MAX_READ // (len(piece) + 1)))
        started = process_time()
        read_written_calls(answer, TOOLS)
        assert process_time() - started < 3
    assert MAX_VALUES < 100


@given(st.lists(st.sampled_from([*FORMS.values(), "{", "}", "]", "```", "\n", '"', "<", "text "])))
@settings(max_examples=200, deadline=None)
def test_any_mixture_gives_calls_with_json_objects(pieces: list[str]) -> None:
    text, calls = read_written_calls("".join(pieces), TOOLS)
    assert all(isinstance(json.loads(call.arguments), dict) for call in calls)
    assert all(call.name in {tool.name for tool in TOOLS} for call in calls)
    assert len(text) <= sum(map(len, pieces))
