"""Which comments are instructions, what they say, and what takes them out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.text.ai_comments import (
    AiComment,
    Marker,
    find_ai_comments,
    instruction_on_line,
    removal_edit,
)
from stet.text.edit import TextEdit

PIECES = st.lists(
    st.sampled_from(
        [
            "#",
            "//",
            "/*",
            "*/",
            "<!--",
            "-->",
            "AI!",
            "ai?",
            " ",
            "\t",
            "\n",
            "\r\n",
            "\r",
            "x",
            "é",
        ]
    ),
    max_size=30,
).map("".join)


def check(text: str, *wanted: tuple[Marker, str]) -> None:
    """`text` has its comments between `«` and `»`."""
    spans, plain = [], ""
    for part in text.split("«"):
        inside, mark, after = part.partition("»")
        if mark:
            spans.append((len(plain), len(plain) + len(inside)))
        plain += inside + after
    found = find_ai_comments(plain, spans)
    assert [(one.marker, one.text) for one in found] == list(wanted)


@pytest.mark.parametrize(
    ("comment", "marker", "text"),
    [
        ("# Do it AI!", Marker.DO, "Do it"),
        ("#AI! Do it", Marker.DO, "Do it"),
        ("# ai!: do it", Marker.DO, "do it"),
        ("-- Why? Ai?", Marker.ANSWER, "Why?"),
        ("; Do it. AI!", Marker.DO, "Do it."),
        ("REM do it AI!", Marker.DO, "do it"),
        ("/* Do it AI! */", Marker.DO, "Do it"),
        ("/** AI! Do it **/", Marker.DO, "Do it"),
        ("/**\n * Do\n *   this. AI?\n */", Marker.ANSWER, "Do\nthis."),
        ("<!--AI! Do it-->", Marker.DO, "Do it"),
        ("--[==[ Do it AI! ]==]", Marker.DO, "Do it"),
        ("(* Do it AI! *)", Marker.DO, "Do it"),
        ("# AI!", Marker.DO, ""),
    ],
)
def test_comment_signs_and_marks_are_no_part_of_the_instruction(
    comment: str, marker: Marker, text: str
) -> None:
    check(f"x = 1\n«{comment}»\n", (marker, text))


@pytest.mark.parametrize(
    "comment",
    [
        "# OpenAI!",
        "# AI",
        "# AI! is what I say? no.AI",
        "# say AI!.",
        "# AIs?",
        "# x AI!x",
        "# AI!=1",
    ],
)
def test_mark_is_at_the_beginning_or_the_end(comment: str) -> None:
    found = find_ai_comments(comment, [(0, len(comment))])
    assert [one.text for one in found] == (["is what I say? no.AI"] if "is what" in comment else [])


def test_line_comments_below_each_other_are_one_instruction() -> None:
    check(
        "«# Sort them.»\n«# AI! Then»\n«# print them.»\nx\n",
        (Marker.DO, "Sort them.\nThen\nprint them."),
    )
    check("x = 1  «# Double it,»\n       «# and y. AI!»\n", (Marker.DO, "Double it,\nand y."))
    check("«# One AI!\n# two\n»", (Marker.DO, "One\ntwo"))


@pytest.mark.parametrize(
    "text",
    [
        "«/// Docs.»\n«// Do it AI!»\n",
        "«#!/bin/sh»\n«# Do it AI!»\n",
        "«# Other.»\n\n«# Do it AI!»\n",
        "«# Other.»\n    «# Do it AI!»\n",
        "x = 1  «# Other.»\ny = 12 «# Do it AI!»\n",
        "«/* Other. */»\n«// Do it AI!»\n",
    ],
)
def test_other_comments_near_it_are_no_part_of_it(text: str) -> None:
    check(text, (Marker.DO, "Do it"))


def test_instruction_has_priority_over_a_question() -> None:
    check("«# Why? AI?»\n«# Do it AI!»\n", (Marker.DO, "Why?\nDo it"))


@pytest.mark.parametrize(
    ("text", "comment", "wanted"),
    [
        ("a\n# x AI!\nb\n", "# x AI!", "a\nb\n"),
        ("a\r\n  # x AI!\r\nb\r\n", "# x AI!", "a\r\nb\r\n"),
        ("a  # x AI!\nb\n", "# x AI!", "a\nb\n"),
        ("a  # x AI!  \nb\n", "# x AI!", "a\nb\n"),
        ("f(1 /* x AI! */, 2)\n", "/* x AI! */", "f(1, 2)\n"),
        ("  /* x AI! */ f()\n", "/* x AI! */", "  f()\n"),
        ("a\n# x AI!", "# x AI!", "a\n"),
        ("# x AI!", "# x AI!", ""),
        ("a /* x\n AI! */\nb", "/* x\n AI! */", "a\nb"),
    ],
)
def test_a_comment_goes_with_its_line_or_the_white_space_at_it(
    text: str, comment: str, wanted: str
) -> None:
    start = text.index(comment)
    edit = TextEdit((removal_edit(text, start, start + len(comment)),))
    assert edit.apply(text) == wanted


@pytest.mark.parametrize(
    ("line", "marker", "instruction"),
    [
        ("x = 1  # Do it AI!", Marker.DO, "Do it"),
        ("// AI? Why", Marker.ANSWER, "Why"),
        (" * and this. AI!", Marker.DO, "and this."),
        (" end of it AI! -->", Marker.DO, "end of it"),
        ("<!-- AI! do -->", Marker.DO, None),
        ("{- do AI! -}", Marker.DO, None),
        ("x = OpenAI!", None, None),
        ("plain words, AI!", None, None),
        ("x != ai", None, None),
        ("", None, None),
    ],
)
def test_instruction_on_line_reads_marker_and_text(
    line: str, marker: Marker | None, instruction: str | None
) -> None:
    found, text = instruction_on_line(line)
    assert found == marker
    if instruction is not None:
        assert text == instruction


@given(PIECES, st.data())
def test_whatever_the_spans_are_the_place_is_right_and_the_rest_stays(
    text: str, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    found = find_ai_comments(text, spans)
    for one in found:
        source = text[one.start : one.end]
        assert source == source.strip()
        assert "ai" in source.lower()
        gone = removal_edit(text, one.start, one.end)
        assert (gone.start <= one.start, gone.end >= one.end, gone.text) == (True, True, "")
        around = text[gone.start : one.start] + text[one.end : gone.end]
        assert not around.strip()
    assert [one.start for one in found] == sorted(one.start for one in found)


@given(st.text(alphabet="#/*<!->AI?! xé\t", max_size=40))
def test_any_line_is_parsed_without_an_error(line: str) -> None:
    marker, instruction = instruction_on_line(line)
    assert marker is None or "ai" in line.lower()
    assert isinstance(instruction, str)


def test_an_instruction_knows_its_place() -> None:
    assert find_ai_comments("x # a AI!\n", [(2, 9)]) == (AiComment(Marker.DO, "a", 2, 9),)
