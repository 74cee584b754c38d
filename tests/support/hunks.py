"""Hunks as values, for code that only reads hunks.

[first, second] = hunks_between("a\\nb\\nc\\n", "A\\nb\\nC\\n")
"""

from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.text.diff import diff_lines
from stet.text.document import TextDocument
from stet.text.position import Position, Range

URI = "file:///ws/a.txt"
START = Range(Position(0, 0), Position(0, 0))


def make_hunk(
    number: int, kind: HunkKind, *, old: str = "", new: str = "", **given: object
) -> Hunk:
    """Make the hunk `h1`, `h2` and so on."""
    values: dict[str, object] = {
        "id": f"h{number}",
        "proposal": "p1",
        "turn": "t1",
        "chat": "main",
        "uri": URI,
        "kind": kind,
        "state": HunkState.PENDING,
        "range": START,
        "old": old,
        "new": new,
        "base": old,
        "proposed": new,
        "summary": f"Change {number}",
        "group": "p1",
        "author": "model",
    }
    return Hunk(**{**values, **given})  # type: ignore[arg-type]


def hunks_between(old: str, new: str, uri: str = URI) -> list[Hunk]:
    """Return the hunks from one text to another, one for each range of lines."""
    document, made = TextDocument(uri, old), []
    for number, change in enumerate(diff_lines(document.lines, TextDocument(uri, new).lines), 1):
        before, after = "".join(change.old), "".join(change.new)
        place = Range(
            document.clamp(Position(change.old_start, 0)),
            document.clamp(Position(change.old_start + len(change.old), 0)),
        )
        kind = HunkKind.REPLACE if before and after else HunkKind.DELETE
        made.append(
            make_hunk(
                number,
                kind if before else HunkKind.ADD,
                old=before,
                new=after,
                range=place,
                uri=uri,
            )
        )
    return made
