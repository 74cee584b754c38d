"""Whatever a conversation holds, it is sent in a form that no provider refuses."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.llm.api_format import MAX_ARGUMENTS, NOT_RUN, to_api_messages
from stet.llm.model import Message, ToolCall
from tests.support.strict_provider import refusal_of

MODEL = "gpt-5-mini"
ANY = st.text(max_size=12)
SOME = st.sampled_from(["call_0", "", "a" * 70, "\u00e9", "abcdef123", "functions.read_file:0"])
ARGUMENTS = st.one_of(
    ANY,
    st.sampled_from(
        ['{"file": "a"}', "{", "[]", '{"a": NaN}', '{"a": "\\ud800"}', "null", "\ud800"]
    ),
)
CALLS = st.builds(ToolCall, st.one_of(SOME, ANY), st.one_of(SOME, ANY), ARGUMENTS)
MESSAGES = st.lists(
    st.one_of(
        st.builds(Message, st.just("user"), st.text(min_size=1).map(lambda text: f"q{text}")),
        st.builds(Message, st.just("assistant"), ANY, st.lists(CALLS, max_size=3).map(tuple)),
        st.builds(Message, st.just("tool"), ANY, st.just(()), SOME),
    ),
    max_size=12,
)


@given(MESSAGES)
def test_no_provider_refuses_a_conversation(messages: list[Message]) -> None:
    sent = to_api_messages(messages, MODEL)
    assert refusal_of(sent) == ""
    json.dumps(sent, ensure_ascii=False).encode()


@pytest.mark.slow
@given(MESSAGES, st.integers(0, 12))
def test_a_request_begins_with_the_one_before(messages: list[Message], n: int) -> None:
    whole = [one for one in messages if one.role != "tool"]
    before = to_api_messages(whole[:n], MODEL)
    assert to_api_messages(whole, MODEL)[: len(before)] == before


def called(*ids: str) -> Message:
    return Message("assistant", "", tuple(ToolCall(one, "read_file", "{}") for one in ids))


def result(call_id: str, text: str) -> Message:
    return Message("tool", text, tool_call_id=call_id)


def results(messages: list[Message]) -> list[str]:
    """The results in the order of their calls, as a provider pairs them."""
    sent = to_api_messages(messages, MODEL)
    assert refusal_of(sent) == ""
    text = {one["tool_call_id"]: one["content"] for one in sent if one["role"] == "tool"}
    return [text[call["id"]] for one in sent for call in one.get("tool_calls", [])]


def test_each_call_keeps_its_own_result() -> None:
    assert results([called("a", "b"), result("b", "B"), result("a", "A")]) == ["A", "B"]
    assert results([called("a", "a"), result("a", "1"), result("a", "2")]) == ["1", "2"]
    assert results([called("a"), result("a", "1"), called("a"), result("a", "2")]) == ["1", "2"]
    assert results([called("a", "b"), result("x", "A"), result("b", "B")]) == ["A", "B"]
    assert results([called("a", "b"), result("b", "B")]) == [NOT_RUN, "B"]
    assert results([result("a", "?"), called("a"), result("a", "A"), result("a", "?")]) == ["A"]


def test_ids_that_all_providers_take_stay() -> None:
    [call] = to_api_messages([called("abcDEF123")], MODEL)[0]["tool_calls"]
    assert call["id"] == "abcDEF123"


@pytest.mark.parametrize("model", ["kimi-k2-0905-preview", "moonshotai/Kimi-K2-Instruct"])
def test_kimi_k2_is_shown_the_ids_it_was_trained_on(model: str) -> None:
    messages = [called("x", "y"), result("x", "1"), result("y", "2"), called("x"), result("x", "3")]
    sent = to_api_messages(messages, model)
    ids = [call["id"] for one in sent for call in one.get("tool_calls", [])]
    assert ids == [f"functions.read_file:{n}" for n in range(3)]
    assert [one["tool_call_id"] for one in sent if one["role"] == "tool"] == ids


@pytest.mark.parametrize(
    "arguments",
    [
        json.dumps({"file": "a.py", "content": "x" * 3_000_000}),
        json.dumps({f"k{n}": "x" * 1500 for n in range(2000)}),
        "x" * 3_000_000,
        '{"a":' * 500 + "1" + "}" * 500,
        "[" * 100_000,
        '{"a": 1e999, "b": -Infinity}',
        '{"a": "\\uD83D"}',
    ],
    ids=lambda text: str(text[:12]),
)
def test_arguments_are_an_object_of_bounded_size(arguments: str) -> None:
    call = ToolCall("call_0", "edit_file", arguments)
    sent = to_api_messages([Message("assistant", "", (call,)), result("call_0", "ok")], MODEL)
    assert refusal_of(sent) == ""
    assert len(sent[0]["tool_calls"][0]["function"]["arguments"]) <= MAX_ARGUMENTS


def test_long_arguments_keep_their_names_and_are_cut_with_a_notice() -> None:
    text = json.dumps({"file": "a.py", "content": "x" * 300_000})
    sent = to_api_messages([Message("assistant", "", (ToolCall("c", "create_file", text),))], MODEL)
    shortened = json.loads(sent[0]["tool_calls"][0]["function"]["arguments"])
    assert shortened["file"] == "a.py"
    assert shortened["content"].endswith("xx (cut: 298000 more characters)")
