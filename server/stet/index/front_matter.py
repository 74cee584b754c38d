"""Where the YAML front matter of a note stands, and the other names it gives the note."""

import re
from dataclasses import dataclass

MAX_CHARACTERS = 64 * 1024
"""A longer front matter is not read: no person wrote it."""

_OPENING = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\n|\r)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_ALIASES = re.compile(
    r"^alias(?:es)?:[ \t]*(?:\[(?P<flow>[^\]]*)\]|(?P<one>[^\s\[#][^\r\n]*)|(?P<items>(?:#[^\r\n]*)?(?:(?:\r\n|\n|\r)[ \t]*-[ \t][^\r\n]*)*))",
    re.MULTILINE | re.IGNORECASE,
)
_ITEM = re.compile(r"^[ \t]*-[ \t]+([^\r\n]+)", re.MULTILINE)


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
        names = found["flow"].split(",")
    elif found["one"] is not None:
        names = found["one"].split(",")
    else:
        names = _ITEM.findall(found["items"] or "")
    return tuple(name for each in names if (name := _unquoted(each)))


def _unquoted(name: str) -> str:
    name = name.strip()
    if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'":
        return name[1:-1]
    return name
