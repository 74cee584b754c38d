r"""A change as a fenced block of a note: JSON that other tools can read, and a tag to search for.

    ```ai-edit
    {"id":"h12","type":"replace","before":"old words","after":"new words"}
    ```
    #ai_edit

`type` is `add`, `delete` or `replace`; an empty `before` means no line in an `add`, and one empty
line in a `replace`; likewise `after` in a `delete`.
"""

import json
import re
from collections.abc import Collection, Sequence

from stet.text.inline_block import BlockForm, InlineBlock, closing_end
from stet.text.lines import line_end, without_end
from stet.text.render import fence_for

TAG = "#ai_edit"
_OPENING = re.compile(r"(`{3,})ai-edit[ \t]*")
_FENCE = re.compile(r"(`{3,})[ \t]*")
_NAMED = re.compile(r"""[ \t]*\{[ \t]*"id"[ \t]*:[ \t]*"([^"]*)\"""")
_ACTING = re.compile(
    "[\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""What is hidden, ends a line in some editors, or can't be written as UTF-8: escaped in the JSON."""


def render(block_id: str, before: str, after: str, form: BlockForm) -> str | None:
    """Return the block for a change of the lines `before` into `after`. Return None if no block can
    show the change.
    """
    end = closing_end(before, after, form)
    if end is None:
        return None
    content = json.dumps(
        {
            "id": block_id,
            "type": "add" if not before else "replace" if after else "delete",
            "before": before.removesuffix(end),
            "after": after.removesuffix(end),
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
    content = _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", content)
    fence = fence_for(content)
    return form.line_end.join((f"{fence}ai-edit", content, fence, TAG)) + end


def read(lines: Sequence[str], first: int, known: Collection[str]) -> InlineBlock | None:
    """Return the whole block of a known id that begins at line `first`, or None."""
    opening = _OPENING.fullmatch(without_end(lines[first]))
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
    last = tag_line(lines, last)
    end = line_end(lines[last])
    kind, before, after = fields["type"], fields["before"], fields["after"]
    return InlineBlock(
        fields["id"],
        first,
        last + 1,
        "" if kind == "add" and not before else before + end,
        "" if kind == "delete" and not after else after + end,
    )


def block_id_at(line: str) -> str | None:
    """Return the id in a line that looks like the JSON of a block; None for any other line."""
    found = _NAMED.match(line) if "{" in line else None
    return found[1] if found else None


def is_leftover(line: str) -> bool:
    """Whether a line can only be what is left of a block."""
    plain = without_end(line).rstrip()
    return plain == TAG or _OPENING.fullmatch(plain) is not None


def tag_line(lines: Sequence[str], fence: int) -> int:
    """Return the line of the tag after the closing fence, or the fence itself if the tag is gone.

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
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    fields = {name: found.get(name) for name in ("id", "type", "before", "after")}
    if fields["id"] not in known or not all(isinstance(text, str) for text in fields.values()):
        return None
    return fields  # type: ignore[return-value]
