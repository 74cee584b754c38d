"""The last door before a model: no request with a secret, whatever it is made of; the same bytes
again.
"""

import dataclasses
import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.agent.redacting_model import (
    RedactingModel,
    RequestOrigin,
    redact_json,
    redact_request,
    summarize_request,
)
from stet.llm.model import Message, Request, ToolCall, ToolDefinition, ignore
from stet.llm.scripted_model import ScriptedModel, say
from stet.privacy.redactor import Redactor
from stet.privacy.request_log import Recipient, RequestLog, RequestRecord
from tests.support.canaries import keys

KEY = keys()["AWS key"]
MARK = "[redacted: AWS key #1]"
Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")
READ = ToolCall("c1", "read_file", '{"file": "b.py"}')


@st.composite
def requests(draw: st.DrawFn) -> tuple[Request, list[str]]:
    """A request with keys anywhere in it, and the keys."""
    planted = draw(st.lists(st.sampled_from(sorted(keys().values())), min_size=1, max_size=4))
    messages = []
    for n, key in enumerate(planted):
        around = draw(st.sampled_from(["{}", "x = '{}'\n", "\u00e4 {} ,", '"\\n{}\\n"']))
        text = around.format(key)
        role: Role = draw(st.sampled_from(ROLES))
        call = ToolCall(f"c{n}", "edit_file", f'{{"old_text": "{key}"}}')
        messages.append(Message(role, text, (call,) if role == "assistant" else ()))
    tool = ToolDefinition("t", f"Needs {planted[0]}.", {})
    return Request(tuple(messages), (tool,)), planted


@given(requests())
def test_no_secret_survives_in_any_part_of_a_request(made: tuple[Request, list[str]]) -> None:
    request, planted = made
    redactor = Redactor()
    asked, kinds = redact_request(request, redactor)
    assert not any(key in str(asked) for key in planted)
    assert sum(kinds.values()) >= len(planted)
    assert redact_request(request, redactor)[0] == asked  # to the byte


async def test_request_is_sent_with_marks_and_recorded() -> None:
    inner, sendings = ScriptedModel([say("a"), say("b")]), RequestLog()
    origin = RequestOrigin("t1", "main", "h.example")
    model = RedactingModel(inner, Redactor(), sendings, origin, lambda: 7.0)
    first = (
        Message("system", "Be brief."),
        Message("user", f"<user_query>\n{KEY}\n</user_query>"),
    )
    await model.complete(Request(first), ignore)
    then = (
        *first,
        Message("assistant", "", (READ,)),
        Message("tool", f"     1\tk = '{KEY}'\n     2\tx\n", tool_call_id="c1"),
    )
    await model.complete(Request(then), ignore)
    assert [one.content for one in inner.requests[1].messages] == [
        "Be brief.",
        f"<user_query>\n{MARK}\n</user_query>",
        "",
        f"     1\tk = '{MARK}'\n     2\tx\n",
    ]
    start = RequestRecord(7.0, Recipient.MODEL, "h.example", "scripted", "t1", "main")
    sizes = [(one.characters, one.tokens) for one in sendings.latest]
    assert sizes[0] < sizes[1]
    plain = [dataclasses.replace(one, characters=0, tokens=0) for one in sendings.latest]
    assert plain == [
        dataclasses.replace(
            start, parts=("the system prompt", "the question"), kinds=(("AWS key", 1),)
        ),
        dataclasses.replace(
            start,
            parts=(
                "what was sent before (2 messages)",
                "the model's own answer",
                "result of read_file b.py lines 1-2 (45 characters)",
            ),
            kinds=(("AWS key", 2),),
        ),
    ]


async def test_request_without_a_redactor_is_unchanged_and_recorded() -> None:
    inner, sendings = ScriptedModel([say("a")]), RequestLog()
    model = RedactingModel(inner, None, sendings, RequestOrigin("t1", "main"), lambda: 7.0)
    request = Request((Message("user", KEY),))
    await model.complete(request, ignore)
    assert inner.requests == [request]
    assert [one.is_open for one in sendings.latest] == [True]


def test_mark_quoted_from_an_earlier_run_is_not_reused_for_another_secret() -> None:
    quoted = ToolCall("c1", "edit_file", f'{{"old_text": "{MARK}"}}')
    messages = (Message("user", KEY), Message("assistant", "", (quoted,)))
    asked, _ = redact_request(Request(messages), Redactor())
    assert asked.messages[0].content == "[redacted: AWS key #2]"
    assert asked.messages[1] == messages[1]


def test_request_with_a_history_records_the_number_of_its_messages() -> None:
    messages = (
        Message("system", '<project_instructions path="AGENTS.md">\nx\n</project_instructions>'),
        Message("user", "before"),
        Message("assistant", "said"),
        Message(
            "user",
            "<additional_data>\n<current_file>\nPath: a.py\nLine: 1\nLine Content: `x`\n"
            "Lines: 1-20 of 30; `read_file` shows the others\n     1\tx\n</current_file>\n"
            '<attached_files>\n<file_contents path="b.py" lines="1-3" total_lines="9">\n'
            '</file_contents>\n<folder_contents path="docs">\n</folder_contents>\n</attached_files>\n'
            '<manually_added_selection path="a.py" lines="2-3">\nx\n</manually_added_selection>\n'
            "</additional_data>\n<user_query>\nWhy?\n</user_query>",
        ),
    )
    assert summarize_request(messages, ()) == [
        "the system prompt",
        "instructions of the project, AGENTS.md",
        "2 messages of earlier turns",
        "file a.py lines 1-20",
        "file b.py lines 1-3",
        "names in the folder docs",
        "selection in a.py lines 2-3",
        "the question",
    ]
    shorter = (messages[0], Message("user", "(Compacted)"), messages[3])
    assert (
        summarize_request(shorter, messages)[0]
        == "what was sent before (1 messages, and the rest made shorter)"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": 'password = "hunter2x"\nnext'},
        {"content": "ghp_" + "a1B2" * 9 + "\\"},
        {"password": "hunter2"},
        {"a": ["x", {"b": "export TOKEN=abcd1234efgh5678\n"}]},
        {"content": 'pass"word = tr0ub4dor'},
        {"content": "-----BEGIN PRIVATE KEY-----\n" + "aB3/" * 16 + "\n-----END PRIVATE KEY-----\n"},
    ],
)  # fmt: skip
def test_the_arguments_of_a_call_are_json_still_when_they_hold_marks(arguments: object) -> None:
    for text in (json.dumps(arguments), json.dumps(arguments, ensure_ascii=False, indent=1)):
        redacted, kinds = redact_json(text, Redactor())
        assert json.loads(redacted) is not None
        assert bool(kinds) == ("redacted" in redacted)
        if not kinds:
            assert redacted == text
        for secret in ("hunter2", "a1B2a1B2", "abcd1234", "aB3/aB3/"):
            assert secret not in redacted


def test_secret_found_in_one_message_is_redacted_in_all_messages() -> None:
    asked = Request(
        (
            Message("user", "is tr0ub4dor&3-and-more fine?"),
            Message("tool", "password = 'tr0ub4dor&3-and-more'\n", tool_call_id="1"),
        ),
        (),
    )
    redacted, _ = redact_request(asked, Redactor())
    assert not any("tr0ub4dor" in message.content for message in redacted.messages)
