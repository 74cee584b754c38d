"""Answers put together from chunks of every shape that servers send."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.llm.completion_stream import CompletionAccumulator
from stet.llm.model import StopReason, Usage
from tests.support.openai_server import delta, piece


def calls_of(*chunks: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Id, name and arguments of the calls the chunks make."""
    answer = CompletionAccumulator()
    for chunk in chunks:
        answer.add(chunk)
    return [(one.id, one.name, one.arguments) for one in answer.completion().tool_calls]


def called(*pieces: dict[str, Any]) -> dict[str, Any]:
    return delta(tool_calls=list(pieces))


def test_parallel_calls_are_separated_by_index() -> None:
    assert calls_of(
        called(piece(0, id="a", name="one", arguments="")),
        called(piece(1, id="b", name="two", arguments="")),
        called(piece(0, arguments='{"x"'), piece(1, arguments='{"y"')),
        called(piece(1, arguments=": 2}"), piece(0, arguments=": 1}")),
    ) == [("a", "one", '{"x": 1}'), ("b", "two", '{"y": 2}')]


def test_m24_indexes_out_of_order_are_put_in_order() -> None:
    assert calls_of(
        called(piece(1, id="b", name="two", arguments="{}")),
        called(piece(0, id="a", name="one", arguments="{}")),
    ) == [("a", "one", "{}"), ("b", "two", "{}")]


def test_m25_a_missing_or_repeated_id_is_replaced() -> None:
    found = calls_of(
        called(piece(0, name="one", arguments="{}")),
        called(piece(1, id="a", name="two", arguments="{}")),
        called(piece(2, id="a", name="three", arguments="{}")),
    )
    ids = [one[0] for one in found]
    assert ids[1] == "a"
    assert len(set(ids)) == 3
    assert all(one.isalnum() for one in ids)


def test_m25_calls_without_an_index_are_separated_by_id() -> None:
    assert calls_of(
        called(piece(None, id="a", name="one", arguments='{"x":')),
        called(piece(None, arguments=" 1}")),
        called(piece(None, id="b", name="two", arguments="{}")),
    ) == [("a", "one", '{"x": 1}'), ("b", "two", "{}")]


def test_whole_calls_that_share_an_index_stay_apart() -> None:
    assert calls_of(
        called(piece(0, id="a", name="one", arguments='{"x": 1}')),
        called(piece(0, id="b", name="one", arguments='{"x": 2}')),
    ) == [("a", "one", '{"x": 1}'), ("b", "one", '{"x": 2}')]


def test_an_id_that_changes_with_every_piece_is_one_call() -> None:
    assert calls_of(
        called(piece(0, id="r1", name="one", arguments="")),
        called(piece(0, id="r2", arguments='{"x"')),
        called(piece(0, id="r3", arguments=": 1}")),
    ) == [("r1", "one", '{"x": 1}')]


@pytest.mark.parametrize("arguments", [None, "", "null", " "])
def test_m26_m28_no_arguments_are_an_empty_object(arguments: Any) -> None:
    assert calls_of(called(piece(0, id="a", name="now", arguments=arguments))) == [
        ("a", "now", "{}")
    ]


def test_m27_arguments_may_come_as_an_object() -> None:
    found = calls_of(called(piece(0, id="a", name="one", arguments={"x": "ü"})))
    assert found == [("a", "one", '{"x": "ü"}')]


def test_m29_a_name_may_come_in_parts() -> None:
    assert calls_of(
        called(piece(0, id="a", name="read_")),
        called(piece(0, name="file")),
        called(piece(0, arguments="{}")),
    ) == [("a", "read_file", "{}")]


def test_name_repeated_in_every_chunk_is_taken_once() -> None:
    assert calls_of(
        called(piece(0, id="a", name="one", arguments="")),
        called(piece(0, id="a", name="one", arguments='{"x"')),
        called(piece(0, id="a", name="one", arguments=": 1}")),
    ) == [("a", "one", '{"x": 1}')]


def test_m30_a_tool_nobody_offered_is_handed_on() -> None:
    assert calls_of(called(piece(0, id="a", name="launch", arguments="{}")))[0][1] == "launch"


def test_m33_a_cut_is_not_hidden_by_a_second_finish_reason() -> None:
    answer = CompletionAccumulator()
    for reason in ("tool_calls", "length", "stop"):
        answer.add(delta(content="x", finish=reason))
    assert answer.completion().stop_reason is StopReason.LENGTH


def test_m35_reasoning_resets_the_timeout_and_is_no_text() -> None:
    answer = CompletionAccumulator()
    assert answer.add(delta(reasoning_content="Hmm.")) == ("", True)
    assert answer.add(delta(reasoning="Hmm.")) == ("", True)
    assert answer.text == ""


def test_m36_text_after_a_call_is_kept() -> None:
    answer = CompletionAccumulator()
    answer.add(called(piece(0, id="a", name="one", arguments="{}")))
    assert answer.add(delta(content="And now?")) == ("And now?", True)
    completion = answer.completion()
    assert (completion.text, completion.stop_reason) == ("And now?", StopReason.TOOL_CALLS)


def test_of_several_choices_the_first_is_taken() -> None:
    answer = CompletionAccumulator()
    first, second = delta(content="a")["choices"][0], delta(content="b", index=1)["choices"][0]
    answer.add({"choices": [first, second]})
    assert answer.text == "a"


def test_text_may_come_as_parts() -> None:
    answer = CompletionAccumulator()
    answer.add(
        delta(content=[{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "a"}])
    )
    assert answer.text == "a"


@pytest.mark.parametrize(
    ("figures", "used"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 1}, Usage(5, 1)),
        ({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}}, Usage(5, 0, 4)),
        ({"prompt_tokens": 5, "prompt_tokens_details": None}, Usage(5)),
        ({"prompt_tokens": 5, "prompt_cache_hit_tokens": 3}, Usage(5, 0, 3)),
        ({"prompt_tokens": float("nan"), "completion_tokens": "7"}, None),
        ({"prompt_tokens": -5, "completion_tokens": None}, None),
        ("lots", None),
        (None, None),
    ],
)
def test_usage_is_read_as_far_as_it_makes_sense(figures: Any, used: Usage | None) -> None:
    answer = CompletionAccumulator()
    answer.add({"choices": [], "usage": figures})
    assert answer.usage == used


FIELDS = st.sampled_from(
    [
        *("choices", "delta", "message", "content", "tool_calls", "function", "name", "arguments"),
        *("index", "id", "finish_reason", "usage", "refusal", "prompt_tokens", "type", "text"),
        *("completion_tokens", "prompt_tokens_details", "model"),
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@given(st.lists(st.dictionaries(FIELDS, JSON, max_size=6), max_size=4))
def test_no_chunk_of_any_shape_breaks_it(chunks: list[dict[str, Any]]) -> None:
    answer = CompletionAccumulator()
    for chunk in chunks:
        text, _ = answer.add(chunk)
        assert isinstance(text, str)
    calls = answer.completion().tool_calls
    assert len({one.id for one in calls}) == len(calls)


@given(st.text(), st.lists(st.integers(0, 50), max_size=5))
def test_arguments_cut_anywhere_come_back_whole(text: str, places: list[int]) -> None:
    cuts = sorted({0, *(min(place, len(text)) for place in places), len(text)})
    parts = [text[a:b] for a, b in pairwise(cuts)]
    found = calls_of(
        called(piece(0, id="a", name="one", arguments="")),
        *(called(piece(0, arguments=part)) for part in parts),
    )
    stripped = text.strip()
    assert found == [("a", "one", "{}" if stripped in {"", "null"} else stripped)]
