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


def test_loop_detector_reports_three_equal_calls_in_a_row() -> None:
    assert found(*[("read", A)] * 3) == "called 'read' 3 times with the same arguments"
    assert found(*[("read", A)] * 2) == ""


def test_loop_detector_ignores_key_order_and_white_space() -> None:
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
def test_loop_detector_accepts_varied_calls(calls: list[tuple[str, ...]]) -> None:
    assert found(*calls) == ""


def test_loop_detector_reports_two_alternating_calls() -> None:
    calls = [("read", A), ("list", A)] * 2
    assert found(*calls) == "called 'read' and 'list' in turns, twice with the same arguments"
    assert found(("read", C), *calls) != ""
    assert found(*calls, ("read", B)) == ""


def test_loop_detector_reports_an_error_that_comes_three_times() -> None:
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


def test_loop_detector_returns_a_warning_once() -> None:
    watch = LoopDetector()
    for _ in range(5):
        watch.record(ToolCall("c", "read", A), "")
    assert watch.take_warning() != ""
    assert watch.take_warning() == ""
