"""An edit as a page: what an editor would not apply, for the user to apply by hand or by `patch`."""

from collections.abc import Iterator, Sequence

from stet.text.diff import LineHunk, diff_lines
from stet.text.escape import escape_line
from stet.text.lines import split_lines, without_end

CONTEXT = 3
_NO_END = "\\ No newline at end of file\n"


def patch(name: str, before: str, after: str) -> str:
    """The unified diff of a file.

    Args:
        name: What it is called, from its root.
        before: Its text.
        after: What is to become of it.
    """
    old, new = _lines(before), _lines(after)
    shown = escape_line(name)
    head = f"--- a/{shown}\n+++ b/{shown}\n"
    groups = _grouped(diff_lines(old, new))
    return head + "".join(part for group in groups for part in _section(group, old))


def _grouped(hunks: Sequence[LineHunk]) -> list[list[LineHunk]]:
    """Hunks whose contexts touch go into one section."""
    groups: list[list[LineHunk]] = []
    for hunk in hunks:
        if groups and hunk.old_start - _end(groups[-1][-1]) <= 2 * CONTEXT:
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
    return groups


def _section(hunks: Sequence[LineHunk], old: Sequence[str]) -> Iterator[str]:
    first = max(hunks[0].old_start - CONTEXT, 0)
    end = min(_end(hunks[-1]) + CONTEXT, len(old))
    n_old = end - first
    n_new = n_old + sum(len(hunk.new) - len(hunk.old) for hunk in hunks)
    new_first = first + hunks[0].new_start - hunks[0].old_start
    yield f"@@ -{_place(first, n_old)} +{_place(new_first, n_new)} @@\n"
    at = first
    for hunk in hunks:
        yield from _marked(" ", old[at : hunk.old_start])
        yield from _marked("-", hunk.old)
        yield from _marked("+", hunk.new)
        at = _end(hunk)
    yield from _marked(" ", old[at:end])


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        body = without_end(line)
        yield f"{mark}{body}\n" + (_NO_END if body == line else "")


def _end(hunk: LineHunk) -> int:
    return hunk.old_start + len(hunk.old)


def _place(start: int, n: int) -> str:
    """A place as `@@` writes it: 1-based, or the line before where there are no lines."""
    return f"{start + 1 if n else start},{n}"


def _lines(text: str) -> list[str]:
    lines = split_lines(text)
    return lines if lines[-1] else lines[:-1]
