"""Control tokens in a text are broken in requests and restored in answers."""

import json

from stet.agent.redacting_model import TokenEscapingModel, map_json_strings
from stet.llm.model import Completion, Message, Request, ToolCall, ToolDefinition, ignore
from stet.llm.scripted_model import ScriptedModel, say
from stet.text.spoofing import BAR, escape_special_tokens
from tests.support.control_tokens import TOKENS

END = "<|im_end|>"
SHOWN = escape_special_tokens(END)


async def test_control_tokens_are_broken_in_every_part_and_the_same_each_time() -> None:
    inner = ScriptedModel([say("a"), say("b")])
    call = ToolCall("c1", END, json.dumps({END: [END, {"a": END}], "n": 1}))
    cut = ToolCall("c2", "x", f'{{"a": "{END}')
    escaped = ToolCall("c3", "x", '{"a": "\\u003c|im_end|>"}')
    messages = (
        Message("system", END),
        Message("user", END),
        Message("assistant", END, (call, cut, escaped)),
        Message("tool", END, tool_call_id="c1"),
    )
    request = Request(messages, (ToolDefinition("t", END, {}),))
    model = TokenEscapingModel(inner)
    await model.complete(request, ignore)
    await model.complete(request, ignore)
    sent = inner.requests[0]
    assert sent == inner.requests[1]
    assert [one.content for one in sent.messages] == [SHOWN] * 4
    assert sent.tools[0].description == SHOWN
    calls = sent.messages[2].tool_calls
    assert [one.name for one in calls] == [SHOWN, "x", "x"]
    assert json.loads(calls[0].arguments) == {SHOWN: [SHOWN, {"a": SHOWN}], "n": 1}
    assert calls[1].arguments == f'{{"a": "{SHOWN}'
    assert json.loads(calls[2].arguments) == {"a": SHOWN}


async def test_a_request_without_tokens_is_sent_as_it_is() -> None:
    inner = ScriptedModel([say("a")])
    call = ToolCall("c1", "read_file", '{ "file" : "\\u0061.md"}')
    request = Request((Message("user", "a < b"), Message("assistant", "", (call,))))
    await TokenEscapingModel(inner).complete(request, ignore)
    assert inner.requests == [request]


async def test_control_tokens_are_restored_in_text_calls_and_stream() -> None:
    arguments = json.dumps({"old_text": f"a\n{SHOWN}"})  # the bar as an escape
    answer = Completion(f"It is {SHOWN}, [{BAR}", (ToolCall("c1", "edit_file", arguments),))
    streamed: list[str] = []
    model = TokenEscapingModel(ScriptedModel([answer]))
    got = await model.complete(Request((Message("user", "x"),)), streamed.append)
    assert got.text == "".join(streamed) == f"It is {END}, [{BAR}"
    assert json.loads(got.tool_calls[0].arguments) == {"old_text": f"a\n{END}"}


def test_arguments_with_control_tokens_stay_valid_json() -> None:
    text = json.dumps({"a": "".join(TOKENS), "b": ['"\\', "</s>"]})
    mapped = map_json_strings(text, lambda text, _: escape_special_tokens(text))
    assert json.loads(mapped) == {
        "a": escape_special_tokens("".join(TOKENS)),
        "b": ['"\\', f"<{BAR}/s>"],
    }
