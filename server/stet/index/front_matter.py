"""Where the YAML front matter of a note stands, and the other names it gives the note."""

import re
from dataclasses import dataclass

MAX_CHARACTERS = 64 * 1024
"""A longer front matter is not read: no person wrote it."""

_OPENING = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\n|\r)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_QUOTED = r"\"(?P<double>(?:[^\"\\\r\n]|\\.){0,500}+)\"|'(?P<single>(?:[^'\r\n]|''){0,500}+)'"
_IN_FLOW = re.sub(r"\?P<\w+>", "?:", _QUOTED)
_ALIASES = re.compile(
    rf"^[\"']?alias(?:es)?[\"']?:[ \t]*(?:\[(?P<flow>(?:{_IN_FLOW}|[^\]])*+)\]"
    r"|(?P<one>[^\s\[#][^\r\n]*)"
    r"|(?P<items>(?:#[^\r\n]*)?(?:(?:\r\n|\n|\r)[ \t]*-[ \t][^\r\n]*)*))",
    re.MULTILINE | re.IGNORECASE,
)
_ITEM = re.compile(r"^[ \t]*-[ \t]+([^\r\n]+)", re.MULTILINE)
_NAME = re.compile(rf"\s*(?:{_QUOTED})")
_NAMES = re.compile(rf"\s*(?:{_QUOTED}|[^,]+)")
_ESCAPED = re.compile(r"\\([\"\\/])")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The YAML between the first line and the closing one.

    Attributes:
        yaml: The text between the two marks, with its last line end.
        start: Where it begins, in code points of the whole text.
    """

    yaml: str
    start: int

    @property
    def end(self) -> int:
        """Where the closing mark begins, in code points of the whole text."""
        return self.start + len(self.yaml)


def find_front_matter(text: str) -> FrontMatter | None:
    """The front matter of `text`; None if it has none, or its end is missing."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    closing = _CLOSING.search(text, opening.end(), opening.end() + MAX_CHARACTERS)
    return (
        None
        if closing is None
        else FrontMatter(text[opening.end() : closing.start()], opening.end())
    )


def aliases_in(text: str) -> tuple[str, ...]:
    """The `aliases` of a note, read without a YAML parser: a scan asks thousands of notes."""
    front = find_front_matter(text)
    found = None if front is None else _ALIASES.search(front.yaml)
    if found is None:
        return ()
    if found["flow"] is not None:
        names = [each for piece in _NAMES.finditer(found["flow"]) if (each := _plain(piece[0]))]
    elif found["one"] is not None:
        names = _plain(found["one"]).split(",")
    else:
        names = [_plain(each) for each in _ITEM.findall(found["items"] or "")]
    return tuple(name for each in names if (name := each.strip()))


def _plain(name: str) -> str:
    """A name without its quotes, or without the comment behind it."""
    found = _NAME.match(name)
    if found is None:
        return _COMMENT.sub("", name).strip()
    if found["double"] is not None:
        return _ESCAPED.sub(r"\1", found["double"])
    return found["single"].replace("''", "'")
