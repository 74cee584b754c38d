"""Tool calls written as text are recognised; answers about such calls are answers."""

import time

import pytest

from stet.agent.toolbox import ALL_TOOLS
from stet.agent.written_call_detection import find_written_call

TOOLS = {tool.name: frozenset(tool.params.model_fields) for tool in ALL_TOOLS}
EDIT = '{"name": "edit_file", "arguments": {"file": "a.py", "old_text": "x", "new_text": "y"}}'
BARE = '{"file": "a.py", "old_text": "x", "new_text": "y"}'

WRITTEN = {
    "hermes": f"<tool_call>\n{EDIT}\n</tool_call>",
    "hermes, words before": f"I will fix it.\n\n<tool_call>\n{EDIT}\n</tool_call>",
    "hermes, words after": f"<tool_call>\n{EDIT}\n</tool_call>\nThe change was proposed.",
    "hermes, not closed": f"<tool_call>\n{EDIT}",
    "hermes, several": f"<tool_calls>\n<tool_call>{EDIT}</tool_call>\n</tool_calls>",
    "hermes, doubled braces": "<tool_call>\n{" + EDIT + "}\n</tool_call>",
    "a tag with another name": f"<tools>\n{EDIT}\n</tools>",
    "function_call": f"<function_call> {EDIT} </function_call>",
    "an unknown tool": '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>',
    "llama 3.1": '<|python_tag|>{"name": "read_file", "parameters": {"file": "a.py"}}',
    "llama 3.1, bare": '{"name": "read_file", "parameters": {"file": "a.py"}}',
    "llama 3.1, type first": '{"type": "function", "name": "read_file", "parameters": {"file": "a"}}',
    "llama 3.2": '[read_file(file="a.py")]',
    "llama, function tag": '<function=read_file>{"file": "a.py"}</function>',
    "qwen coder": "<function=read_file>\n<parameter=file>\na.py\n</parameter>\n</function>",
    "mistral": '[TOOL_CALLS] [{"name": "read_file", "arguments": {"file": "a.py"}}]',
    "mistral, new": '[TOOL_CALLS]read_file[ARGS]{"file": "a.py"}',
    "deepseek": "<\uff5ctool\u2581calls\u2581begin\uff5c><\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>read_file\n"
    '```json\n{"file": "a.py"}\n```<\uff5ctool\u2581call\u2581end\uff5c><\uff5ctool\u2581calls\u2581end\uff5c>',
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0"
    '<|tool_call_argument_begin|>{"file": "a.py"}<|tool_call_end|>',
    "harmony": '<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"file": "a"}',
    "a fence": f"```json\n{EDIT}\n```",
    "two fences": f'```json\n{EDIT}\n```\n```json\n{{"name": "done", "arguments": {{}}}}\n```',
    "a fence, words before": f"I'll change that now:\n\n```json\n{EDIT}\n```",
    "a fence, words around": f"I'll change that now:\n\n```json\n{EDIT}\n```\n\nThis replaces x.",
    "a fence, other keys, at the end": 'Now:\n```json\n{"tool": "read_file", "args": {"path": "a"}}\n```',
    "a fence that is not closed": f"```json\n{EDIT}",
    "a fence without a language": f"```\n{EDIT}\n```",
    "a fence of tool code": '```tool_code\nprint(default_api.read_file(file="a.py"))\n```',
    "arguments without a name": BARE,
    "arguments without a name, fenced": f"```json\n{BARE}\n```",
    "invalid JSON": '{"name": "edit_file", "arguments": {"file": "a.py", "old_text": "x\ny"',
    "arguments before the name": '{"arguments": {"file": "a.py"}, "name": "read_file"}',
    "a list": '[{"name": "read_file", "arguments": {"file": "a.py"}}]',
    "the wire's own": '{"tool_calls": [{"id": "1", "type": "function", "function": '
    '{"name": "read_file", "arguments": "{\\"file\\": \\"a.py\\"}"}}]}',
    "anthropic's own": '{"type": "tool_use", "id": "1", "name": "read_file", "input": {"file": "a"}}',
    "anthropic's older": '<function_calls>\n<invoke name="read_file">\n<parameter name="file">a.py'
    "</parameter>\n</invoke>\n</function_calls>",
    "a name as key": '{"read_file": {"file": "a.py"}}',
    "a tag of its name": "I read it first.\n<read_file>\n<file>a.py</file>\n</read_file>",
    "ReAct": 'Thought: I must read it.\nAction: read_file\nAction Input: {"file": "a.py"}',
    "ReAct in bold": '**Tool:** `read_file`\n**Arguments:** {"file": "a.py"}',
    "a name and arguments": 'read_file {"file": "a.py"}',
    "a name with its kind": 'functions.read_file({"file": "a.py"})',
    "the embedded model's form": "edit_file a.py\n- x = 1\n+ x = 2",
    "behind thoughts": f"<think>\nRead it.\n</think>\n\n<tool_call>\n{EDIT}\n</tool_call>",
    "arguments beside the name": '{"tool": "edit_file", "file": "a", "old_text": "x", "new_text": "y"}',
    "arguments beside the name, fenced": '```json\n{"action": "read_file", "file": "a.py"}\n```',
    "arguments beside the name, words around": "I read it.\n\n```json\n"
    '{\n  "name": "functions.read_file",\n  "file": "a.py"\n}\n```\n\nThen I change it.',
    "arguments beside the name, words before": 'I read it.\n\n{\n  "tool": "read_file",\n  "path": "a"\n}',
    "arguments beside the name, a list": '[{"function": "read_file", "file": "a"}, {"function": "done"}]',
    "arguments beside the name, one on a line": '{"tool": "read_file", "file": "a"}\n{"tool": "done"}',
    "arguments beside the name, a thought": '{"thought": "t", "action": "read_file", "file": "a"}',
    "YAML": "```yaml\ntool: read_file\nfile: a.py\n```",
    "a tool that is not offered": '<tool_call>{"name": "web_search", "arguments": {}}</tool_call>',
}  # fmt: skip

ANSWERS = {
    "words": "It subtracts where it should add.",
    "names in words": "I used `read_file` on a.py and `edit_file` is not needed. done",
    "a word of a tool": "done",
    "JSON": '```json\n{"name": "stet", "version": "1.0", "scripts": {"test": "pytest"}}\n```',
    "bare JSON": '{"name": "stet", "arguments": ["--stdio"], "command": "stet"}',
    "a schema": '```json\n{"name": "get_weather", "description": "d", "parameters": {"type": "object"}}\n```',
    "code": 'Call it so:\n\n```python\ntext = read_file("a.py")\nprint(text)\n```\n',
    "code with a method": "```python\nself.read_file(path)\n```\nreads it.",
    "a call of another's tool, in the midst": "A model that calls a tool writes\n\n"
    '```json\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n```\n\nand waits.',
    "a tag in words": "Qwen writes its calls in `<tool_call>` tags; other models use `<tools>`.",
    "a fenced tag in the midst": "Qwen writes\n\n```xml\n<tool_call>\n{...}\n</tool_call>\n```\n\nthere.",
    "HTML": "```html\n<form>\n<input name='done'>\n</form>\n```",
    "a list of tools": "- read_file: reads a file\n- edit_file: proposes an edit\n- done: ends",
    "a heading": "## edit_file\n\nIt proposes an edit of one file.",
    "a file and a text": '{"file": "a.py", "line": 3}',
    "a key binding": '```json\n{"action": "open_file", "key": "ctrl+o", "context": "editor"}\n```',
    "a trace": '{"function": "read_file", "line": 3, "module": "io"}',
    "tools as JSON": '[{"name": "read_file", "description": "Reads a file."}]',
    "a state": '```json\n{"action": "done", "status": "ok"}\n```',
    "steps": "Action: press the key.\nInput: the text.",
    "a diff": "```diff\n- x = 1\n+ x = 2\n```",
    "nothing": "",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_call_written_as_text_is_recognised(text: str) -> None:
    assert find_written_call(text, TOOLS) is not None


@pytest.mark.parametrize("text", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_no_call(text: str) -> None:
    assert find_written_call(text, TOOLS) is None


def test_the_tool_is_named_where_it_is_known() -> None:
    assert find_written_call(WRITTEN["hermes"], TOOLS) == "edit_file"
    assert find_written_call(WRITTEN["kimi"], TOOLS) == "read_file"
    assert find_written_call(WRITTEN["arguments without a name"], TOOLS) == "edit_file"
    assert find_written_call(WRITTEN["an unknown tool"], TOOLS) == ""


@pytest.mark.parametrize(
    "piece",
    ["[\n", "{\n", "```\n", "<tool_call>\n", '{"name": ', "Action: read_file\n", "read_file(", "<"],
)
def test_a_long_text_takes_no_long_time(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    started = time.process_time()
    _ = find_written_call(text, TOOLS)
    assert time.process_time() - started < 1
