"""How many lines of a long chat document are read for each piece: counted, so no clock is
needed.
"""

from collections.abc import Iterator
from typing import SupportsIndex, overload

import pytest

from stet.chat.chat_document import ChatDocument, ChatTurn
from stet.chat.chat_layout import (
    LINES_AT_ONCE,
    ChatSections,
    after_draft,
    before_draft,
    has_ended,
    new_document,
)
from stet.chat.chat_transcript import ChatTranscript
from stet.lsp.chat.insertion_watch import InsertionWatch
from stet.text.buffer import TextBuffer
from stet.text.edit import TextChange
from stet.text.lines import split_lines
from stet.text.position import Position, Range
from tests.support.chat_text import written

N_PIECES = 30
N_BLOCKS = 10_000
KINDS = {
    "table": "| a | b |\n|---|---|\n| one | two |\n",
    "fences": "```python\nx = 1\n```\n\n",
    "nested": "- a\n  - b\n    > c\n> > d\n",
    "CRLF": "a\r\n\r\nb\r\n",
    "blank": "\n\n\n",
}


class CountedLines(list[str]):
    """Lines that count how many of them are read.

    Attributes:
        n_read: So many by now.
    """

    n_read = 0

    @overload
    def __getitem__(self, key: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: SupportsIndex | slice) -> str | list[str]:
        found = super().__getitem__(key)
        self.n_read += 1 if isinstance(found, str) else len(found)
        return found

    def __iter__(self) -> Iterator[str]:
        self.n_read += len(self)
        return super().__iter__()

    def __reversed__(self) -> Iterator[str]:
        self.n_read += len(self)
        return super().__reversed__()


class Typed:
    """A chat document in which its user types, in the draft and above, while an answer comes."""

    def __init__(self, more: str) -> None:
        text = new_document("main") + more
        self.lines = CountedLines(split_lines(text))
        self.buffer = TextBuffer(text, self.lines)
        self.document = ChatSections(self.buffer.lines)
        self.watch = InsertionWatch("")
        self.lines.n_read = 0

    def put(self, line: int, text: str) -> None:
        """Insert text at the start of a line."""
        at = Position(line, 0)
        change = self.buffer.apply(TextChange(Range(at, at), text))
        self.document.apply_changes([change])
        self.watch.follow([change], self.buffer.lines)

    def type_round(self) -> None:
        """Type in the last line, in the first one, and a new line below that."""
        self.put(len(self.lines) - 1, "z")
        self.put(0, "y")
        self.put(1, "\n")


def lines_read(more: str) -> int:
    """How many lines an answer has read that comes piece by piece while the user types."""
    typed, transcript = Typed(more), ChatTranscript(str)
    page = ChatDocument("main", "chat.md", "file:///chat.md")
    page.add(ChatTurn("t1", "Why?", transcript))
    for n in range(N_PIECES):
        transcript.add_text(f"word {n} ")
        while step := page.next_insertion(typed.document):
            typed.watch = InsertionWatch(step.insertion.text)
            for _ in range(3):
                typed.type_round()
                assert not typed.watch.has_come
            step = page.next_insertion(typed.document)
            assert step is not None
            at = step.insertion.at
            change = typed.buffer.apply(TextChange(Range(at, at), step.insertion.text))
            typed.document.apply_changes([change])
            typed.watch.follow([change], typed.buffer.lines)
            assert typed.watch.has_come
            step.done()
    n_read = typed.lines.n_read
    streamed = "".join(f"word {n} " for n in range(N_PIECES))
    assert written(typed.buffer.text, "t1") == streamed.strip()
    return n_read


@pytest.mark.parametrize("kind", KINDS)
def test_a_piece_reads_as_many_lines_of_a_long_document_as_of_a_short_one(kind: str) -> None:
    short, long = lines_read(KINDS[kind] * 40), lines_read(KINDS[kind] * N_BLOCKS)
    assert long <= short + 100


def test_unclosed_fence_costs_no_more() -> None:
    short, long = (lines_read("```python\n" + "x = 1\n" * n) for n in (100, 3 * N_BLOCKS))
    assert long <= short + 100


def test_a_document_that_is_loaded_anew_in_many_changes_is_not_read_for_each() -> None:
    typed = Typed("a\nb\n" * N_BLOCKS)
    text = typed.buffer.text
    new = "an answer"
    anew = text.replace("a\nb\n" * 50, "A\nb\n" + "a\nb\n" * 49) + new
    changes = typed.buffer.replace_all(anew)
    assert len(changes) > 200
    typed.watch = InsertionWatch(new)
    typed.lines.n_read = 0
    typed.watch.follow(changes, typed.buffer.lines)
    assert typed.watch.has_come
    other = InsertionWatch("something else")
    other.follow(changes, typed.buffer.lines)
    assert not other.has_come
    assert typed.lines.n_read < 1_000


def test_sent_message_is_found_without_reading_the_text_after_it() -> None:
    typed = Typed("\n\nHello\nthere\n" + "more\n" * N_BLOCKS)
    heading = typed.document.headings[-1].line
    at = after_draft(typed.document, "Hello\nthere", "t1").at
    assert at == Position(heading + 5, len("there"))
    assert typed.lines.n_read < 2 * LINES_AT_ONCE + 20


@pytest.mark.parametrize("n_lines", [1, LINES_AT_ONCE, LINES_AT_ONCE + 1, 3 * LINES_AT_ONCE + 7])
def test_sent_message_ends_at_its_end_whatever_its_length(n_lines: int) -> None:
    streamed = "a line of it\n" * n_lines + "end"
    for more in ("", " and more", "\n\nmore\n"):
        document = ChatSections(split_lines(f"## You\n\n{streamed}{more}"))
        assert after_draft(document, streamed, "t1").at == Position(n_lines + 2, 3)
        at = document.end()
        assert after_draft(document, f"{streamed}less", "t1").at == at


def test_question_from_a_command_is_inserted_before_an_unread_draft() -> None:
    typed = Typed("Hm\n" + "\n" * N_BLOCKS)
    assert before_draft(typed.document, "Why?", "t1").at.line == typed.document.headings[-1].line
    assert typed.lines.n_read < 20


def test_a_turn_has_ended_by_how_a_line_begins_and_ends() -> None:
    long = "* " * N_BLOCKS
    for line in ("*completed · 9 tokens*", "*failed* \t\r\n", f"*limited {long}*\n"):
        assert has_ended(["text\n", line])
    for line in ("*completed", f"*completed {long}x\n", "*completedly*", "*done*", " *completed*"):
        assert not has_ended(["text\n", line])


def test_repeated_text_around_a_longer_insertion_does_not_hide_it() -> None:
    typed = Typed("a" * 100)
    watch = InsertionWatch("a")
    at = Position(len(typed.lines) - 1, 3)
    watch.follow([typed.buffer.apply(TextChange(Range(at, at), "aa"))], typed.buffer.lines)
    assert watch.has_come
