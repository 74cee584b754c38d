"""Positions: what they do to the text that was shown, and how they follow the user since."""

import pytest

from stet.review.resolve.edit_instruction import (
    InvalidInstruction,
    parse_instruction,
    resolve_instruction,
)
from stet.review.resolve.edit_resolver import rebase_edit
from stet.text.buffer import TextBuffer
from stet.text.document import TextDocument
from stet.text.edit import TextChange
from stet.text.position import Position, Range


def done(position: str, content: str, text: str, uri: str = "file:///ws/a.md") -> str:
    """`text` after the instruction."""
    document = TextDocument(uri, text)
    return resolve_instruction(parse_instruction(position), content, document).apply(text)


@pytest.mark.parametrize(
    ("position", "content", "text", "after"),
    [
        ("start", "x", "a\nb\n", "x\na\nb\n"),
        ("start", "x", "---\nt: 1\n---\na\n", "---\nt: 1\n---\nx\na\n"),
        ("start", "x", "---\nt: 1\n...\na\n", "---\nt: 1\n...\nx\na\n"),
        ("start", "x", "---\nt: 1\n---", "---\nt: 1\n---\nx"),
        ("start", "x", "---\nno end\n", "x\n---\nno end\n"),
        ("end", "x", "a\nb\n", "a\nb\nx\n"),
        ("end", "x\n", "a\nb", "a\nb\nx"),
        ("end", "x", "", "x\n"),
        ("insert:1", "x", "a\nb\n", "x\na\nb\n"),
        ("insert: 2", "x\ny\n", "a\nb\n", "a\nx\ny\nb\n"),
        ("insert:3", "x", "a\nb\n", "a\nb\nx\n"),
        ("insert:3", "x", "a\nb", "a\nb\nx"),
        ("insert:1", "x", "", "x\n"),
        ("replace:2", "x", "a\nb\nc\n", "a\nx\nc\n"),
        ("replace:2-3", "x\ny\nz", "a\nb\nc\n", "a\nx\ny\nz\n"),
        ("replace:2", "x", "a\nb", "a\nx"),
        ("replace:1-2", "x", "a\r\nb\r\nc\r\n", "x\r\nc\r\n"),
        ("replace:1", "x\r\ny", "a\nb\n", "x\ny\nb\n"),
        ("replace:2", "", "a\nb\nc\n", "a\nc\n"),
        ("insert:2", "", "a\nb\n", "a\nb\n"),
        ("end", "", "a", "a"),
        ("insert:2", "\n", "a\nb\n", "a\n\nb\n"),
        ("delete:2", "", "a\nb\nc\n", "a\nc\n"),
        ("delete: 1 - 2", "", "a\nb\nc\n", "c\n"),
        ("delete:2", "", "a\nb", "a\n"),
        ("insert:2", "x", "a\fb\u2028c\nd\n", "a\fb\u2028c\nx\nd\n"),
    ],
)
def test_a_position_means_whole_lines_with_the_files_own_ends(
    position: str, content: str, text: str, after: str
) -> None:
    assert done(position, content, text) == after


def test_a_document_mark_of_yaml_is_no_front_matter() -> None:
    assert done("start", "x: 1", "---\na: 1\n---\n", "file:///a.yaml") == "x: 1\n---\na: 1\n---\n"


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ("replace:4", "past the end: the text has 3 lines"),
        ("delete:2-9", "past the end: the text has 3 lines"),
        ("insert:5", "insert:4 appends"),
        ("replace:3-2", "the first is not after the last"),
        ("replace:0", "lines count from 1"),
        ("insert:1-2", "`insert` takes one line number, `insert:1`"),
        ("replace:-1", "There is no position 'replace:-1'"),
        ("replace:1" + "0" * 5000, "There is no position"),
        ("replace:²", "There is no position"),
        ("after:", "There is no position"),
        ("", "There is no position"),
        ("middle", "Use one of: start, end, after:## Heading"),
        ("create", "The file already exists"),
        ("after:## None", "There is no heading '## None'. The headings are: # A."),
    ],
)
def test_invalid_position_is_answered_with_a_remedy(position: str, message: str) -> None:
    with pytest.raises(InvalidInstruction) as error:
        done(position, "x", "# A\nb\nc\n")
    assert message in str(error.value)


NOTE = """\
---
title: A
---
# Top

## Setup
text

### Linux
one

## Use ##
```
## Setup
```

Under
=====

### Linux
two
> ## Quoted
- ## Listed
"""


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        ("# Top", 5),
        ("## Setup", 7),
        ("Setup", 7),
        ("## Setup ##", 7),
        ("##  Setup", 7),
        ("## Use", 13),
        ("Under", 19),
        ("# Under", 19),
        ("## Setup > ### Linux", 10),
        ("# Top > ### Linux", 10),
        ("# Under > ### Linux", 21),
    ],
)
def test_a_heading_means_the_line_below_it(heading: str, line: int) -> None:
    lines = NOTE.splitlines(keepends=True)
    after = "".join([*lines[: line - 1], "new\n", *lines[line - 1 :]])
    assert done(f"after:{heading}", "new", NOTE) == after


@pytest.mark.parametrize("heading", ["## Quoted", "## Listed", "title: A", "### Setup", "# Use"])
def test_text_that_resembles_a_heading_is_no_heading(heading: str) -> None:
    with pytest.raises(InvalidInstruction, match="There is no heading"):
        done(f"after:{heading}", "new", NOTE)


def test_an_ambiguous_heading_is_refused_with_its_lines() -> None:
    with pytest.raises(InvalidInstruction, match=r"is at lines 9, 20\. Add its parent"):
        done("after:### Linux", "new", NOTE)


def test_a_heading_on_the_last_line_without_end() -> None:
    assert done("after:# A", "new", "# A") == "# A\nnew"


def carried(position: str, content: str, shown: str, *typed: TextChange) -> str:
    """What becomes of the live text, when the user typed since `shown` was shown."""
    before, buffer = TextDocument("u", shown), TextBuffer(shown)
    changes = tuple(buffer.apply(change) for change in typed)
    live = TextDocument("u", buffer.text)
    return rebase_edit(
        resolve_instruction(parse_instruction(position), content, before), before, changes, live
    ).apply(live.text)


def at(first: int, column: int, last: int, end: int, text: str) -> TextChange:
    return TextChange(Range(Position(first, column), Position(last, end)), text)


def test_a_position_follows_what_the_user_typed_since() -> None:
    typed = (at(0, 0, 0, 0, "0\n"), at(4, 0, 4, 0, "behind\n"))
    assert carried("replace:2", "B", "a\nb\nc\nd\n", *typed) == "0\na\nB\nc\nbehind\nd\n"
    assert carried("insert:2", "n", "a\nb\nc\nd\n", *typed) == "0\na\nn\nb\nc\nbehind\nd\n"


@pytest.mark.parametrize("position", ["replace:2", "delete:1-3", "insert:3"])
def test_lines_the_user_changed_since_are_refused(position: str) -> None:
    with pytest.raises(InvalidInstruction, match="changed these lines since"):
        carried(position, "x", "a\nb\nc\nd\n", at(1, 0, 3, 0, "mine\n"))
