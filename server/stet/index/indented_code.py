"""Indented code of a note, blanked: nothing in it is a link, a fence or a comment.

Whether an indented line is code depends on the lists and paragraphs above it, which a parser knows.
It is slow, so it is asked only where such a line could be code and seems to hold what counts.
"""

import re

from stet.index.masking import blank
from stet.index.note_blocks import parse_blocks
from stet.text.lines import split_lines

_MAY_COUNT = re.compile(
    r"(?P<lead>(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]| {1,3}(?=[^ \t]))*+)(?: {4}| {0,3}\t)[^\r\n]*?"
    r"(?:\[\[|\]\(|\]:|<[a-zA-Z!]|`|~~~)"
)
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)[ \t]*+[^\r\n]")
_TEXT = re.compile(r" {0,3}(?:(?:[-*+]|\d{1,9}[.)]) {1,3}(?:\[[ xX]\] )?)?[^\W\d]")
_FOOTNOTE = re.compile(r" {0,3}\[\^[^\]\s]+\]:")


def mask_indented_code(text: str) -> str:
    """The note with its indented code blanked; places stay. A note that is too large stays as it is."""
    lines = split_lines(text)
    if not _may_hold_code(lines):
        return text
    tokens, above = parse_blocks(text)
    of_footnotes = _lines_of_footnotes(lines)
    for token in tokens:
        if token.type != "code_block":
            continue
        first, end = (above + number for number in token.map)
        if token.level or first not in of_footnotes:
            lines[first:end] = map(blank, lines[first:end])
    return "".join(lines)


def _may_hold_code(lines: list[str]) -> bool:
    """Whether a line may be code that counts: not one right below text, which it would go on with."""
    is_text = False
    for line in lines:
        found = _MAY_COUNT.match(line)
        if found is not None and (found["lead"] or not is_text):
            return True
        if _INDENTED.match(line) is None:
            is_text = _TEXT.match(line) is not None
    return False


def _lines_of_footnotes(lines: list[str]) -> frozenset[int]:
    """The indented lines (0-based) that go on with a footnote; the parser knows no footnotes."""
    found = []
    is_footnote = is_below_blank = False
    for number, line in enumerate(lines):
        if not line.strip():
            is_below_blank = True
            continue
        if _FOOTNOTE.match(line):
            is_footnote = True
        elif _INDENTED.match(line) is not None:
            if is_footnote:
                found.append(number)
        elif is_below_blank:
            is_footnote = False
        is_below_blank = False
    return frozenset(found)
