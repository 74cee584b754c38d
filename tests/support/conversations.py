"""Conversations of any shape, as turns leave them, and checks that a provider would accept them."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from stet.agent.turn_history import Exchange, TurnRecord
from stet.llm.model import Message, ToolCall

WORDS = st.text("ab \n", max_size=30)
RESULTS = st.one_of(WORDS, st.integers(0, 200).map(lambda n: "line of a file\n" * n))
RECORD = TurnRecord(at=1.0, model="m", state="completed", active="a.py")


@st.composite
def rounds(draw: st.DrawFn) -> list[Message]:
    """Draw an answer with calls and their results, or a text answer with a request to continue."""
    names = draw(st.lists(st.sampled_from(["read_file", "edit_file"]), max_size=3))
    # Some providers give every round's calls the same ids.
    calls = tuple(ToolCall(f"c{n}", name, '{"file": "a.py"}') for n, name in enumerate(names))
    results = [Message("tool", draw(RESULTS), tool_call_id=call.id) for call in calls]
    if calls:
        return [Message("assistant", draw(WORDS), calls), *results]
    return [Message("assistant", f"I say {draw(WORDS)}"), Message("user", "Go on.")]


@st.composite
def turns(draw: st.DrawFn) -> list[Message]:
    """Draw the messages of a running turn: its question, then rounds."""
    question = f"<additional_data>\n{draw(RESULTS)}</additional_data>\nWhat is {draw(WORDS)}?"
    found = draw(st.lists(rounds(), max_size=4))
    return [Message("user", question), *(message for one in found for message in one)]


@st.composite
def exchange(draw: st.DrawFn) -> Exchange:
    """Draw a finished turn."""
    messages = (*draw(turns()), Message("assistant", RECORD.text))
    return Exchange(messages, draw(WORDS), draw(WORDS), RECORD, draw(st.integers(2, 4)))


def exchanges() -> st.SearchStrategy[list[Exchange]]:
    """Make a strategy for a chat's history."""
    return st.lists(exchange(), max_size=4)


def is_well_formed(messages: Sequence[Message]) -> bool:
    """Tell whether every call is followed by its result, in order, and no result lacks a call."""
    open_calls: list[str] = []
    for message in messages:
        if message.role == "tool":
            if not open_calls or open_calls.pop(0) != message.tool_call_id:
                return False
            continue
        if open_calls or message.role == "system":
            return False
        if message.role == "assistant" and not message.content and not message.tool_calls:
            return False
        open_calls = [call.id for call in message.tool_calls]
    return not open_calls


def wire_problem(messages: Sequence[dict[str, Any]]) -> str:
    """Return the reason for which a strict provider would refuse these messages; "" for none."""
    if [n for n, one in enumerate(messages) if one["role"] == "system"] != [0]:
        return "a system message that is not the first"
    open_calls: list[str] = []
    for n, one in enumerate(messages):
        if one["role"] == "tool":
            if not open_calls or open_calls.pop(0) != one["tool_call_id"]:
                return f"message {n} is a result without its call"
            continue
        if open_calls:
            return f"message {n} comes before the results of {open_calls}"
        if not one["content"] and not one.get("tool_calls"):
            return f"message {n} is empty"
        open_calls = [call["id"] for call in one.get("tool_calls", [])]
    return f"no results of {open_calls}" if open_calls else ""
