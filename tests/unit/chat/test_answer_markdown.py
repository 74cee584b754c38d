"""The Markdown of an answer fits into its section of the chat document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.chat.answer_markdown import AnswerMarkdown, answer_markdown

CODE = "```py\n# a comment\n```"


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("# X", "### X"),
        ("## X\ntext\n### Y", "#### X\ntext\n##### Y"),
        ("#### X\n##### Y\n###### Z", "###### X\n###### Y\n###### Z"),
        ("## You", "#### You"),
        ("  # X", "# X".replace("#", "###")),
        ("#hashtag\n#!/bin/sh\n####### seven", "#hashtag\n#!/bin/sh\n####### seven"),
        (f"# X\n{CODE}\n# Y", f"### X\n{CODE}\n### Y"),
        ("````\n```\n# a\n```\n````\n# X", "````\n```\n# a\n```\n````\n### X"),
        ("~~~\n```\n# a\n~~~\n# X", "~~~\n```\n# a\n~~~\n### X"),
        ("`` `#` ``\n```a`b\n# X", "`` `#` ``\n```a`b\n### X"),
        ("```\n## You", "```\n\\## You\n```"),
    ],
)
def test_answer_markdown_lowers_headings_outside_of_code(answer: str, shown: str) -> None:
    assert answer_markdown(answer) == shown


@given(st.lists(st.text("a \n\r#`~![]<(", max_size=9), max_size=9))
def test_answer_markdown_is_the_same_in_pieces(pieces: list[str]) -> None:
    markdown, shown, rest = AnswerMarkdown(), "", ""
    for piece in pieces:
        rest += piece
        n = markdown.stable_length(rest)
        shown += markdown.convert(rest[:n])
        rest = rest[n:]
    shown += markdown.convert(rest)
    whole = AnswerMarkdown()
    assert shown == whole.convert("".join(pieces))
    assert markdown.closing_fence == whole.closing_fence
