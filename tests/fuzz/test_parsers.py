"""Parsers with hostile input: only declared errors, and time proportional to the length."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.links.links import find_links
from stet.llm.completion_stream import EventDecoder, EventTooLong
from stet.notes.note_content import aliases_in
from stet.notes.note_properties import InvalidYaml, read_properties
from stet.outline.headings import find_front_matter
from stet.text.ai_comments import find_ai_comments
from stet.text.block_codec import find_blocks
from stet.text.document import TextDocument
from stet.text.lines import split_lines
from stet.text.stripped_document import strip_blocks
from stet.workspace.comments.comment_helper import comments_by_sign, comments_of_markdown
from tests.support.growth import grows_evenly
from tests.support.settings_parsing import parse_settings

FEW = settings(max_examples=200, deadline=None)
NAMES = ("a.md", "a.py", "a.rs", "a.go", "a.ts", "a.css", "a.html", "a.c", "a.java", "a.php")
PIECES = (
    "[", "](", "[[", "]]", "|", "[a](b)", "![", "`", "```", "\n", "\r", "<!--", "-->", "/*", "*/", "# ",
    "//", "AI!", "AI?", "---\n", "aliases: [", "- ", ": ", '"', "'", "\\", "import ", "from . import (",
    "use a::{", "#include <", "{", "}", "(", ")", "%%", "h1", "```ai-edit h1\n", "<<<<<<< h1\n", "=======\n",
    ">>>>>>> h1\n", "é", "\ud800", "\0", "\u2028", " ", "a",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def by_sign(text: str) -> object:
    return find_ai_comments(text, comments_by_sign(text))


def of_markdown(text: str) -> object:
    return find_ai_comments(text, comments_of_markdown(text))


def blocks(text: str) -> object:
    return find_blocks(split_lines(text), {"h1"})


def without_blocks(text: str) -> object:
    return strip_blocks(TextDocument("file:///a.md", text), {"h1"})


def all_links(text: str) -> object:
    return [find_links(text, name) for name in NAMES]


PARSERS: tuple[Callable[[str], object], ...] = (
    by_sign, of_markdown, blocks, without_blocks, all_links, find_front_matter, aliases_in,
)  # fmt: skip


@FEW
@given(TEXTS, st.sampled_from(NAMES))
def test_any_text_is_read_and_what_is_found_is_where_it_is_reported(text: str, name: str) -> None:
    for link in find_links(text, name):
        assert 0 <= link.start <= link.end <= len(text)
    end = 0
    for first, last in comments_by_sign(text):
        assert end <= first < last <= len(text)
        end = last
    for one in find_ai_comments(text, comments_by_sign(text)):
        assert 0 <= one.start < one.end <= len(text)
    stripped = without_blocks(text)
    assert stripped is None or "h1" in text
    for parser in PARSERS:
        _ = parser(text)


@FEW
@given(TEXTS)
def test_properties_are_read_or_refused_as_declared(text: str) -> None:
    note = f"---\n{text}\n---\nBody"
    front = find_front_matter(note)
    assert front is not None
    assert note[front.start : front.end] == front.yaml
    with suppress(InvalidYaml):
        assert all(isinstance(name, str) for name in read_properties(note))


@FEW
@given(st.lists(st.binary(max_size=40), max_size=6), st.lists(st.text(max_size=9), max_size=4))
def test_a_stream_of_anything_gives_events_or_the_declared_error(
    rubbish: list[bytes], message: list[str]
) -> None:
    decoder = EventDecoder()
    for piece in rubbish:
        _ = decoder.feed(piece)
    _ = decoder.flush()
    whole = [text.replace("\r", "").replace("\n", "") for text in message]
    sent = "".join(f"data: {text}\n\n" for text in whole)
    events = decoder.feed(f"\n\n{sent}".encode())
    assert [event.data for event in events][-len(whole) or len(events) :] == whole


def test_a_stream_whose_event_never_ends_is_broken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stet.llm.completion_stream.MAX_EVENT_BYTES", 1000)
    decoder = EventDecoder()
    lines = b"data\n" * 150
    for _ in range(2):
        _ = decoder.feed(lines)
    with pytest.raises(EventTooLong):
        _ = decoder.feed(lines)


@FEW
@given(st.recursive(st.none() | st.booleans() | st.floats() | TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8))  # fmt: skip
def test_settings_of_anything_are_settings(value: object) -> None:
    parsed = parse_settings(value)
    assert all(str(problem).isprintable() for problem in parsed.problems)


@pytest.mark.parametrize("sign", ["<!-- ", "/* ", "<!--AI! ", "# ", "<!-- /* "])
def test_comments_without_an_end_take_no_longer_than_they_are_long(sign: str) -> None:
    assert grows_evenly(by_sign, lambda n: sign * (n // len(sign)), 8_000)
