r"""Inline blocks: pending changes as lines of the text, rendered and parsed.

A block replaces the changed lines and contains the old and the new lines. The line end of its last
line is the line end of the replaced lines. This line end is not part of the content, so a block at
the end of a text without a final line end has no final line end either.

A Markdown note gets a fenced block of JSON that other tools can read, and a tag to search for:

    ```ai-edit
    {"id":"h12","type":"replace","before":"old words","after":"new words"}
    ```
    #ai_edit

`type` is `add`, `delete` or `replace`; an empty `before` means no line in an `add`, and one empty
line in a `replace`; likewise `after` in a `delete`.

Any other text gets a conflict in git's form, which the merge tools of editors read:

    <<<<<<< yours
    old lines
    =======
    new lines
    >>>>>>> stet h12 (summary)

The markers are longer than seven characters if a line inside looks like a marker; they count only
if all markers of a block have one length.

A block counts only if its id is known: the user's own conflicts are ordinary text, and blocks of
other programs are recognised by their shape (`stet.text.stripped_document`). A known block that is
no longer whole is left alone.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain

from stet.text.document import TextDocument
from stet.text.escape import escape_line
from stet.text.lines import dominant_line_end, line_end, split_lines, without_end
from stet.text.render import fence_for


@dataclass(frozen=True, slots=True)
class BlockForm:
    r"""The form of a block at its place in a text.

    Attributes:
        is_fence: Whether the block is a fenced `ai-edit` block with JSON, and a tag; otherwise the
            block has conflict markers as git writes them.
        line_end: The line end of the block's lines, as in the text; never `"\r"` in a text with
            `"\n"`.
        at_end: Whether no text follows the block.
    """

    is_fence: bool
    line_end: str
    at_end: bool


@dataclass(frozen=True, slots=True)
class InlineBlock:
    """A block found in a text.

    Attributes:
        id: The id of the hunk that the block shows.
        first: The first line of the block, 0-based.
        end: The line after the last line of the block.
        before: The lines that the block replaces, as the block has them now; `""` for none.
        after: The new lines; `""` for none.
    """

    id: str
    first: int
    end: int
    before: str
    after: str


def closing_end(before: str, after: str, form: BlockForm) -> str | None:
    """Return the line end that `before` and `after` share, which becomes the block's line end.

    Returns:
        None if they share none and one is needed: such a change can't be shown as a block.
    """
    values = [value for value in (before, after) if value]
    ends = [line_end(value) for value in values]
    for end in (*ends, "\n"):
        if end and all(value.endswith(end) for value in values):
            return end
    return "" if form.at_end else None


_SIGNS = ("ai-edit", "ai_edit", '"id"', ">>>>>>> stet ")


def form_for(document: TextDocument, end: int, new: str) -> BlockForm:
    r"""Return the form of a block that makes `new` of lines up to `end` (0-based) of `document`.

    The lines of the block end as the lines beside it do.
    """
    lines = document.lines
    neighbours = (lines[max(end - 1, 0)], lines[0])
    found = next(filter(None, map(line_end, neighbours)), dominant_line_end(new))
    if found == "\r" and ("\n" in document.text or "\n" in new):
        found = "\n"  # a `"\r"` would join the `"\n"` of an empty line
    at_end = end >= len(lines) or (end == len(lines) - 1 and not lines[end])
    return BlockForm(is_fence=document.is_markdown, line_end=found, at_end=at_end)


def render_block(
    block_id: str, before: str, after: str, form: BlockForm, summary: str = ""
) -> str | None:
    """Return the lines that show a change of the lines `before` into `after`.

    Args:
        block_id: The id of the block.
        before: Whole lines of the text; `""` for no lines.
        after: The new lines; different from `before`.
        form: The form of the block.
        summary: A few words for the reader, if the style has room for them.

    Returns:
        The lines; None if line ends are so mixed that no block can separate the two texts.
    """
    end = closing_end(before, after, form)
    if end is None:
        return None
    if form.is_fence:
        return _render_fence(block_id, before, after, form, end)
    return _render_conflict(block_id, (before, after), form, end, summary)


def find_blocks(lines: Sequence[str], known: Collection[str]) -> tuple[InlineBlock, ...]:
    """Return the whole blocks of known ids in `lines` (with their line ends), of either style."""
    readers = {"`": _read_fence, "<": _read_conflict}
    blocks: list[InlineBlock] = []
    copied_to = 0
    for number, line in enumerate(lines if known else ()):
        read = readers.get(line[:1])
        block = read(lines, number, known) if read and number >= copied_to else None
        if block is not None:
            blocks.append(block)
            copied_to = block.end
    return tuple(blocks)


def block_ids_in(text: str) -> frozenset[str]:
    """Return the ids that lines of a text name as a block does, known or not."""
    lines = split_lines(text) if may_hold_blocks(text) else ()
    return frozenset(found for line in lines if (found := _block_id_at(line)) is not None)


def _block_id_at(line: str) -> str | None:
    return _fence_id(line) or _conflict_id(line)


def is_leftover(line: str) -> bool:
    """Return whether a line looks like a part of a block: of a fenced block, or a line that names
    a hunk.
    """
    return _is_fence_leftover(line) or _block_id_at(line) is not None


def may_hold_blocks(text: str) -> bool:
    """Return whether a text may contain blocks, by a quick check."""
    return any(sign in text for sign in _SIGNS)


def has_leftovers(lines: Sequence[str], before: str, after: str) -> bool:
    """Return whether the lines at a block's former place still contain a part of the block.

    Args:
        lines: The present lines at this place.
        before: The old lines of the block.
        after: The new lines of the block.
    """
    content = {without_end(line) for line in (*split_lines(before), *split_lines(after))}
    size = _marker_size(before, after)
    left = [line for line in lines if without_end(line) not in content]
    return any(
        _is_fence_leftover(line) or _fence_id(line) is not None or _is_conflict_leftover(line, size)
        for line in left
    )


TAG = "#ai_edit"
_FIELDS = ("id", "type", "before", "after")
_FENCE_OPENING = re.compile(r"(`{3,})ai-edit[ \t]*")
_FENCE = re.compile(r"(`{3,})[ \t]*")
_NAMED = re.compile(r"""[ \t]*\{[ \t]*"id"[ \t]*:[ \t]*"([^"]*)\"""")
_ACTING = re.compile(
    "[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""Characters that are hidden, end a line in some editors or are not valid UTF-8; JSON-escaped."""


def _render_fence(block_id: str, before: str, after: str, form: BlockForm, end: str) -> str:
    """Return the block for a change of the lines `before` into `after`, whose line end is `end`."""
    kind = "add" if not before else "replace" if after else "delete"
    old, new = before.removesuffix(end), after.removesuffix(end)
    fields = {"id": block_id, "type": kind, "before": old, "after": new}
    content = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    content = _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", content)
    fence = fence_for(content)
    return form.line_end.join((f"{fence}ai-edit", content, fence, TAG)) + end


def _read_fence(lines: Sequence[str], first: int, known: Collection[str]) -> InlineBlock | None:
    """Return the whole block of a known id that begins at line `first`, or None."""
    opening = _FENCE_OPENING.fullmatch(without_end(lines[first]))
    if opening is None:
        return None
    last = first + 1
    while last < len(lines) and not (closing := _FENCE.match(lines[last])):
        last += 1
    if last == len(lines):
        return None
    closing = _FENCE.fullmatch(without_end(lines[last]))
    if closing is None or len(closing[1]) < len(opening[1]):
        return None
    fields = _parse_fields("".join(lines[first + 1 : last]), known)
    if fields is None:
        return None
    return json_block(fields, lines, first, last)


def json_block(fields: dict[str, str], lines: Sequence[str], first: int, fence: int) -> InlineBlock:
    """Return the block of these fields, between its first line and its closing fence."""
    last = tag_line(lines, fence)
    end = line_end(lines[last])
    kind, before, after = fields["type"], fields["before"], fields["after"]
    before = "" if kind == "add" and not before else before + end
    after = "" if kind == "delete" and not after else after + end
    return InlineBlock(fields["id"], first, last + 1, before, after)


def _fence_id(line: str) -> str | None:
    """Return the id in a line that looks like the JSON of a block; None for any other line."""
    found = _NAMED.match(line) if "{" in line else None
    return found[1] if found else None


def _is_fence_leftover(line: str) -> bool:
    """Return whether a line can only be the rest of a fenced block."""
    plain = without_end(line).rstrip()
    return plain == TAG or _FENCE_OPENING.fullmatch(plain) is not None


def tag_line(lines: Sequence[str], fence: int) -> int:
    """Return the line of the tag after the closing fence, or of the fence if there is no tag.

    A formatter may have put an empty line between them.
    """
    for line in (fence + 1, fence + 2):
        if line < len(lines) and lines[line].strip() == TAG:
            return line
        if line == len(lines) or lines[fence + 1].strip():
            break
    return fence


def _parse_fields(content: str, known: Collection[str]) -> dict[str, str] | None:
    """Return the fields of the JSON. Return None if the id is unknown or the content is not a
    block's.
    """
    if not any(f'"{block_id}"' in content for block_id in known):
        return None
    fields = read_fields(content)
    return None if isinstance(fields, str) or fields["id"] not in known else fields


def read_fields(content: str) -> dict[str, str] | str:
    """Return the fields of a block's JSON, or a description of the problem."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return "its content is not valid JSON"
    if not isinstance(found, dict):
        return "its content is not a JSON object"
    wrong = [name for name in _FIELDS if not isinstance(found.get(name), str)]
    return f"{wrong[0]!r} must be a string" if wrong else {name: found[name] for name in _FIELDS}


_MARKER_SIZE = 7
_MAX_SUMMARY = 60
_MARKER_OPENING = re.compile(r"(<{7,}) yours[ \t]*")
_SPLIT = re.compile(r"(={7,})[ \t]*")
_CLOSING = re.compile(r"(>{7,}) stet (\S+)(?: .*)?")
_RUN = re.compile(r"<{7,}|={7,}|>{7,}|\|{7,}")


def _render_conflict(
    block_id: str, lines: tuple[str, str], form: BlockForm, end: str, summary: str
) -> str:
    """Return the block for a change of `lines[0]` into `lines[1]`, whose line end is `end`."""
    before, after = lines
    size = _marker_size(before, after)
    shown_summary = escape_line(summary).strip()[:_MAX_SUMMARY]
    note = f" ({shown_summary})" if shown_summary else ""
    return (
        f"{'<' * size} yours{form.line_end}{_content(before, end, form)}"
        f"{'=' * size}{form.line_end}{_content(after, end, form)}"
        f"{'>' * size} stet {block_id}{note}{end}"
    )


def _marker_size(before: str, after: str) -> int:
    """Return the length that the markers around these lines need."""
    runs = map(_RUN.match, chain(split_lines(before), split_lines(after)))
    return max((len(run[0]) for run in runs if run), default=_MARKER_SIZE - 1) + 1


def _read_conflict(lines: Sequence[str], first: int, known: Collection[str]) -> InlineBlock | None:
    """Return the whole block of a known id that begins at line `first`, or None."""
    opening = _MARKER_OPENING.fullmatch(without_end(lines[first]))
    if opening is None:
        return None
    size, middle = len(opening[1]), -1
    for number in range(first + 1, len(lines)):
        run = _RUN.match(lines[number])
        if run is None or len(run[0]) != size:
            continue
        line = without_end(lines[number])
        if _SPLIT.fullmatch(line) and middle < 0:
            middle = number
            continue
        closing = _CLOSING.fullmatch(line)
        if closing is None or middle < 0 or closing[2] not in known:
            return None  # one marker too many: the parts of the block are unclear
        end = line_end(lines[number])
        before, after = lines[first + 1 : middle], lines[middle + 1 : number]
        return InlineBlock(closing[2], first, number + 1, _value(before, end), _value(after, end))
    return None


def _conflict_id(line: str) -> str | None:
    """Return the id in a line that looks like the last line of a block; None for any other line."""
    found = _CLOSING.fullmatch(without_end(line)) if line.startswith(">" * _MARKER_SIZE) else None
    return found[2] if found else None


def _is_conflict_leftover(line: str, size: int) -> bool:
    """Return whether a line looks like a marker of this length, left of a block."""
    plain = without_end(line)
    marks = (_MARKER_OPENING.fullmatch(plain), _SPLIT.fullmatch(plain), _CLOSING.fullmatch(plain))
    return any(mark is not None and len(mark[1]) == size for mark in marks)


def _content(value: str, end: str, form: BlockForm) -> str:
    r"""Return the lines as they are inside a block, where the last one always has a line end."""
    if not value:
        return ""
    body = value.removesuffix(end)
    # Add a separate line end: `"\n"` would join a `"\r"` before it.
    return body + (end or ("\r" if body.endswith("\r") else form.line_end))


def _value(lines: Sequence[str], end: str) -> str:
    """Return the text that lines inside a block represent, given the line end after the block."""
    if not lines:
        return ""
    text = "".join(lines)
    if end and text.endswith(end):
        return text
    return text.removesuffix(line_end(lines[-1])) + end
