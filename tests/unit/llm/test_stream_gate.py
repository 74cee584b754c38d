"""The streaming of answers in which a model may write calls as text."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.llm.stream_gate import StreamGate
from stet.llm.written_calls import read_written_calls
from tests.support.model_requests import READ_FILE

CALL = '{"name": "read_file", "arguments": {"path": "a"}}'
PIECES = st.lists(
    st.sampled_from(
        ["word ", "\n", "```", "json\n", "py\n", "{", "[", "<", "tool_call>", CALL, "  "]
    )
)


def streamed(*pieces: str) -> list[str]:
    """Return what a gate sends for these pieces before the answer is whole."""
    sent: list[str] = []
    gate = StreamGate(sent.append, [READ_FILE])
    for piece in pieces:
        gate.write(piece)
    return sent


@given(PIECES, st.lists(st.integers(0, 60), max_size=6))
def test_text_is_streamed_whole_however_it_is_cut(pieces: list[str], places: list[int]) -> None:
    text, sent = "".join(pieces), list[str]()
    gate = StreamGate(sent.append, [READ_FILE])
    cuts = sorted({0, *places, len(text)})
    for n, start in enumerate(cuts):
        gate.write(text[start : cuts[n + 1] if n + 1 < len(cuts) else None])
    gate.finish(text)
    assert "".join(sent) == text


@given(PIECES)
def test_no_character_of_a_call_is_streamed(pieces: list[str]) -> None:
    answer = "".join(pieces)
    text, calls = read_written_calls(answer, [READ_FILE])
    sent = "".join(streamed(*answer))
    assert not calls or CALL[:20] not in sent or CALL[:20] in text


@pytest.mark.parametrize(
    ("pieces", "sent"),
    [
        (("I ", "look", ".\n", "<tool", "_call>\n{}"), "I look.\n"),
        (("Look:\n```json\n", CALL), "Look:\n"),
        (("Look:\n", CALL), "Look:\n"),
        (("[TOOL_", 'CALLS][{"name"'), ""),
        (("[read_file(", 'path="a")]'), ""),
        (("<|python_tag|>", CALL), ""),
        # What no model means as a call is streamed as it arrives.
        (("# A <b>bold</b> title\n<b>x",), "# A <b>bold</b> title\n<b>x"),
        (("A list:\n- [x] one\n[a link](b)\n",), "A list:\n- [x] one\n[a link](b)\n"),
        (("```python\ndef f():\n    return {\n",), "```python\ndef f():\n    return {\n"),
        (("```js\n{\n",), "```js\n{\n"),
        (('```json\n{"a": 1}\n```\nSo.',), '```json\n{"a": 1}\n```\nSo.'),
        (("`a` is", " a name"), "`a` is a name"),
        (("A sentence", " that goes on"), "A sentence that goes on"),
    ],
)
def test_text_is_streamed_at_once_and_calls_are_held_back(
    pieces: tuple[str, ...], sent: str
) -> None:
    assert "".join(streamed(*pieces)) == sent


def test_request_that_is_repeated_streams_from_its_beginning() -> None:
    sent: list[str] = []
    gate = StreamGate(sent.append, [READ_FILE])
    gate.write("One")
    gate.restarting(lambda _: None)("again")
    gate.write("Two\n")
    gate.finish("Two\nThree")
    assert sent == ["One", "Two\n", "Three"]


@pytest.mark.parametrize("opening", ["```json\n{", '{"', "<tools>\n", "[read_file("])
def test_long_call_in_many_pieces_takes_linear_time(opening: str) -> None:
    gate = StreamGate(lambda _: None, [READ_FILE])
    started = process_time()
    for piece in (opening, *['"key": 1,\n'] * 20_000):
        gate.write(piece)
    assert process_time() - started < 1
