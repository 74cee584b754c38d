"""Whether a line looks like an instruction in a comment: asked at every move of the cursor, so quick.

Only fixed strings are searched for. Whether it is a comment at all is found out elsewhere.
"""

from stet.text.ai_comment_markers import AT_START, BLOCKS, Marker, marker_of

MAX_LINE = 2000
"""Code points of a line that are looked at for a mark, where it must be quick."""
MAX_CLOSING = 8
"""Code points of what may end a comment behind its mark."""

_SIGNS = ("#", "//", "--", ";", "%", "/*", "<!--", "(*", "{-", "{#")
"""What comments begin with, wherever they do."""
_SIGNS_AT_START = ("*", '"', "'", "!", "..", "rem ", "dnl ")
"""The same, at the beginning of a line only: elsewhere they mean other things."""
_CLOSINGS = tuple(closing for _, closing in BLOCKS if not closing[0].isalpha())
_MAX_MARKS = 4
"""Of several marks on a line, how many are looked at."""


def marker_on_line(line: str) -> Marker | None:
    """What a comment on this line wants, at a glance: a string that reads like one is taken for one.

    A line of a comment whose sign stands on another line counts only if it shows where that ends.
    """
    found = _quick_match(line)
    return None if found is None else found[0]


def comment_text_on_line(line: str) -> str:
    """What a comment that `marker_on_line` sees on a line says there, without sign and mark."""
    found = _quick_match(line)
    return "" if found is None else found[1]


def _quick_match(line: str) -> tuple[Marker, str] | None:
    """Mark and words; by searches for fixed strings, because it is asked at every move of the cursor."""
    line = line[-MAX_LINE:].strip()
    folded = line.lower()
    places = [place for mark in ("ai!", "ai?") if (place := folded.rfind(mark)) >= 0]
    if not places:
        return None
    at = max(places)
    before, after = line[:at], line[at + 3 :].strip()
    is_end = not after or (len(after) <= MAX_CLOSING and after.endswith(_CLOSINGS))
    if is_end and (not before or not _is_of_word(before[-1])):
        signs = [place + len(sign) for sign in _SIGNS if (place := before.find(sign)) >= 0]
        signs += [len(sign) for sign in _SIGNS_AT_START if folded.startswith(sign)]
        if signs or after:
            return marker_of(line[at + 2]), before[min(signs, default=0) :].strip(" \t*!")
    return _quick_match_at_start(line, folded)


def _quick_match_at_start(line: str, folded: str) -> tuple[Marker, str] | None:
    """As `_quick_match`, for a mark right behind the sign."""
    at = -1
    for _ in range(_MAX_MARKS):
        at = min(
            (n for mark in ("ai!", "ai?") if (n := folded.find(mark, at + 1)) >= 0), default=-1
        )
        if at < 0:
            return None
        before, said = folded[:at].rstrip(), line[at + 3 :]
        is_begun = before.endswith(_SIGNS) or before in {one.strip() for one in _SIGNS_AT_START}
        if is_begun and (begins := AT_START.match(line, at)):
            closing = next((one for one in _CLOSINGS if said.endswith(one)), "")
            return marker_of(line[at + 2]), line[begins.end() :].removesuffix(closing).strip()
    return None


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"
