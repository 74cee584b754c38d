"""Circles are noticed, honest repetition is not."""

import pytest

from stet.agent.tool_executor import LoopDetector, canonical_arguments
from stet.llm.model import ToolCall

A, B, C = '{"file": "a"}', '{"file": "b"}', '{"file": "c"}'


def found(*calls: tuple[str, ...]) -> str:
    """What is noticed at the last of these calls: tool, arguments, error."""
    watch = LoopDetector()
    for tool, arguments, *error in calls[:-1]:
        watch.record(ToolCall("c", tool, arguments), "".join(error))
    watch.take_warning()
    tool, arguments, *error = calls[-1]
    watch.record(ToolCall("c", tool, arguments), "".join(error))
    return watch.take_warning()


def test_the_same_call_three_times_running() -> None:
    assert found(*[("read", A)] * 3) == "called 'read' 3 times with the same arguments"
    assert found(*[("read", A)] * 2) == ""


def test_keys_in_another_order_and_white_space_make_no_other_call() -> None:
    forms = ['{"a": 1, "b": 2}', '{"b":2,"a":1}', ' { "a":1,\n"b" :2}']
    assert found(*(("read", form) for form in forms)) != ""
    assert canonical_arguments("{") == "{"


@pytest.mark.parametrize(
    "calls",
    [
        [("read", A), ("read", B), ("read", C)],
        [("read", A), ("list", A), ("read", A)],
        [("read", A), ("edit", A), ("read", A), ("edit", B)],
        [("read", A), ("read", A), ("read", B), ("read", A)],
        [("read", "{"), ("read", "["), ("read", "{")],
    ],
)
def test_honest_work_is_none(calls: list[tuple[str, ...]]) -> None:
    assert found(*calls) == ""


def test_two_calls_in_turns() -> None:
    calls = [("read", A), ("list", A)] * 2
    assert found(*calls) == "called 'read' and 'list' in turns, twice with the same arguments"
    assert found(("read", C), *calls) != ""
    assert found(*calls, ("read", B)) == ""


def test_the_same_error_three_times_whatever_comes_between() -> None:
    lost = "there is no such text"
    calls = [("edit", A, lost), ("read", A), ("edit", B, lost), ("read", B)]
    assert found(*calls, ("edit", C, lost)) == (
        "met the same error of 'edit' 3 times: 'there is no such text'"
    )
    assert found(*calls, ("edit", C, "another")) == ""
    assert found(*calls, ("read", C, lost)) == ""


def test_a_long_error_is_shortened() -> None:
    error = found(*[("edit", argument, "x" * 1000) for argument in (A, B, C)])
    assert len(error) < 250


def test_one_look_takes_all() -> None:
    watch = LoopDetector()
    for _ in range(5):
        watch.record(ToolCall("c", "read", A), "")
    assert watch.take_warning() != ""
    assert watch.take_warning() == ""
