"""The difference of two texts: as hunks of lines, as sequential changes, as a unified diff.

If the lines before an inserted block equal the block's last lines, the block can be placed a few
lines higher (git calls such blocks sliders). If one of these places makes the block equal to a
block that was removed at another place, the lines were moved, and this place is used.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

from stet.text.edit import LineChange, Replacement, Splice, TextChange, TextEdit
from stet.text.large_document import LARGE
from stet.text.lines import end_of, line_end, line_ends, n_breaks, split_lines, without_end
from stet.text.position import Position, Range
from stet.text.sequence import Run, common_ends, common_runs, n_common, split_when


@dataclass(frozen=True, slots=True)
class LineHunk:
    """A replacement of the lines `old` by the lines `new`; line numbers are 0-based.

    Attributes:
        old_start: The first line of `old`; the line before which `new` is inserted if `old` is
            empty.
        old: The old lines; two hunks have at least one common line between them.
        new_start: The first line of `new`, among the new lines.
        new: The new lines.
    """

    old_start: int
    old: tuple[str, ...]
    new_start: int
    new: tuple[str, ...]

    @property
    def old_end(self) -> int:
        """The line after `old`."""
        return self.old_start + len(self.old)

    def slid(self, n: int, block: tuple[str, ...] | None = None) -> "LineHunk":
        """Return the hunk moved `n` lines down, with `block` as the inserted or removed
        lines if it is given.
        """
        old, new = self.old, self.new
        if block is not None:
            old, new = (block, ()) if self.old else ((), block)
        return LineHunk(self.old_start + n, old, self.new_start + n, new)


_MAX_HUNKS = 100
_MAX_SLIDE = 64
_MAX_LINES = 1_000


def apply_hunks(hunks: Iterable[LineHunk], lines: Sequence[str]) -> list[str]:
    """Return `lines` with the new lines of these hunks, which are in order, for the old ones."""
    made: list[str] = []
    done = 0
    for hunk in hunks:
        made += [*lines[done : hunk.old_start], *hunk.new]
        done = hunk.old_end
    return [*made, *lines[done:]]


def join_moved_blocks(
    hunks: Sequence[LineHunk], old: Sequence[str], new: Sequence[str]
) -> tuple[LineHunk, ...]:
    """Return `hunks`, which lead from `old` to `new`, with each moved block as one whole block.

    A moved block is removed whole at one place and inserted at another. More than `_MAX_HUNKS`
    hunks are returned unchanged, to bound the work.
    """
    out = [nth for nth, hunk in enumerate(hunks) if hunk.old and not hunk.new]
    put = [nth for nth, hunk in enumerate(hunks) if hunk.new and not hunk.old]
    sizes = {len(hunks[nth].old) for nth in out} & {len(hunks[nth].new) for nth in put}
    if not sizes or len(hunks) > _MAX_HUNKS:
        return tuple(hunks)
    result = list(hunks)
    blocks = _removable_blocks(hunks, [nth for nth in out if len(hunks[nth].old) in sizes], old)
    for nth in put:
        for slid in _slides(result, nth, new) if len(hunks[nth].new) in sizes else ():
            match = blocks.get(slid.new)
            if match is not None and _have_lines_between(result, match, (nth, slid)):
                result[match[0]], result[nth] = match[1], slid
                break
    return tuple(result)


def _removable_blocks(
    hunks: Sequence[LineHunk], out: Sequence[int], old: Sequence[str]
) -> dict[tuple[str, ...], tuple[int, LineHunk] | None]:
    """Return the blocks that a hunk of `hunks` can be described as removing from `old`.

    The value is None for a block that two hunks can remove.
    """
    blocks: dict[tuple[str, ...], tuple[int, LineHunk] | None] = {}
    for nth in out:
        for slid in _slides(hunks, nth, old):
            blocks[slid.old] = None if slid.old in blocks else (nth, slid)
    return blocks


def _slides(hunks: Sequence[LineHunk], nth: int, lines: Sequence[str]) -> Iterator[LineHunk]:
    """Yield all descriptions of a hunk that is just a block of `lines`, nearest first."""
    hunk = hunks[nth]
    block = hunk.old or hunk.new
    first = hunk.old_start if hunk.old else hunk.new_start
    n = len(block)
    if n > _MAX_LINES:
        return
    yield hunk
    above = hunk.old_start - (hunks[nth - 1].old_end if nth else 0)
    end = len(lines) - first - n
    below = hunks[nth + 1].old_start - hunk.old_end if nth + 1 < len(hunks) else end
    for sign, room in ((1, below), (-1, above)):
        for by in range(1, min(room, _MAX_SLIDE) + 1):
            one = first + by - 1 if sign > 0 else first - by
            if lines[one] != lines[one + n]:
                break
            at = first + sign * by
            yield hunk.slid(sign * by, tuple(lines[at : at + n]))


def _have_lines_between(hunks: Sequence[LineHunk], *others: tuple[int, LineHunk]) -> bool:
    """Return whether any two hunks have a common line between them after some replacements."""
    result = list(hunks)
    for nth, slid in others:
        result[nth] = slid
    return all(one.old_end < later.old_start for one, later in pairwise(result))


def diff_lines(old: Sequence[str], new: Sequence[str]) -> tuple[LineHunk, ...]:
    """Return the hunks that lead from `old` to `new`, in order.

    The result is right for any input, though not always the shortest: see `stet.text.sequence`.
    Lines that were moved as one block are reported as one block: see `stet.text.diff`.
    """
    return join_moved_blocks([*_hunks_outside(common_runs(old, new), old, new)], old, new)


def line_edit(old: Sequence[str], new: Sequence[str], start: int = 0) -> TextEdit:
    """Return the edit of whole lines that turns the lines `old`, at the offset `start`, into
    `new`.
    """
    starts = list(accumulate(map(len, old), initial=start))
    return TextEdit(
        tuple(
            Replacement(starts[hunk.old_start], starts[hunk.old_end], "".join(hunk.new))
            for hunk in diff_lines(old, new)
        )
    )


def unchanged_lines(hunks: Iterable[LineHunk], n: int) -> Iterator[tuple[int, int]]:
    """Yield which of `n` old lines no hunk touches, each with its place in the new lines."""
    done = shift = 0
    for hunk in (*hunks, LineHunk(n, (), 0, ())):
        yield from ((at, at + shift) for at in range(done, hunk.old_start))
        done = hunk.old_end
        shift = hunk.new_start + len(hunk.new) - done


def _hunks_outside(
    runs: Iterable[Run], old: Sequence[str], new: Sequence[str]
) -> Iterator[LineHunk]:
    """Yield the hunks between common runs (`stet.text.sequence`)."""
    i = j = 0
    for start, new_start, n in (*runs, (len(old), len(new), 0)):
        if start > i or new_start > j:
            yield LineHunk(i, tuple(old[i:start]), j, tuple(new[j:new_start]))
        i, j = start + n, new_start + n


def line_changes(first: int, old: Sequence[str], new: Sequence[str]) -> tuple[LineChange, ...]:
    """Return the line changes that lead from the lines `old`, from line `first` on, to `new`.

    Returns:
        Sequential changes, bottom to top; lines that both sides have are left out.
    """
    if len(old) == len(new) == 1:
        return (LineChange(first, 1, 1),) if old[0] != new[0] else ()
    # Fast path: most changes are one stretch, and a message may have thousands of changes.
    head, tail = common_ends(old, new)
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    if not old and not new:
        return ()
    if set(old).isdisjoint(new):
        return (LineChange(first + head, len(old), len(new)),)
    ends = [frozenset(map(line_end, lines)) for lines in (old, new)]
    hunks = _converted(old, new) if _is_converted(*ends) else diff_lines(old, new)
    above = first + head
    return tuple(
        LineChange(above + one.old_start, len(one.old), len(one.new)) for one in reversed(hunks)
    )


def changes_between(old: str, new: str) -> tuple[TextChange, ...]:
    """Return the changes that lead from `old` to `new`, sequential, bottom to top. The changes are
    as small as hunks of lines with their common ends cut off.
    """
    if min(len(old), len(new)) >= LARGE:
        return long_changes_between(old, new)
    return tuple(_change(hunk) for hunk in reversed(_hunks_between(old, new)))


def long_changes_between(old: str, new: str) -> tuple[TextChange, ...]:
    """Return `changes_between` for very long texts: only the lines from the first to the last that
    differ are split and compared.
    """
    head = _line_start(old, new, n_common(old, new))
    tail = n_common(old[head:][::-1], new[head:][::-1])
    # The end of the common part is the start of a line in both, or the end of the text.
    while tail and not (
        _starts_line(old, at := len(old) - tail) and _starts_line(new, len(new) - tail)
    ):
        breaks = [n for n in (old.find("\n", at), old.find("\r", at)) if n >= 0]
        tail = len(old) - min(breaks) - 1 if breaks else 0
    part, new_part = old[head : len(old) - tail], new[head : len(new) - tail]
    first = n_breaks(old[:head])
    return tuple(_change(hunk, first) for hunk in reversed(_hunks_between(part, new_part)))


def _hunks_between(old: str, new: str) -> tuple[LineHunk, ...]:
    is_converted = _is_converted(line_ends(old), line_ends(new))
    return (_converted if is_converted else diff_lines)(split_lines(old), split_lines(new))


def _line_start(old: str, new: str, at: int) -> int:
    """Return the start of the line that contains the offset `at` in both texts. The texts are equal
    up to `at`.
    """
    while not (_starts_line(old, at) and _starts_line(new, at)):
        at = max(old.rfind("\n", 0, at - 1), old.rfind("\r", 0, at - 1)) + 1
    return at


def _starts_line(text: str, at: int) -> bool:
    r"""Return whether a line starts at an offset: not between `\r` and `\n`."""
    before = text[at - 1 : at] if at else "\n"
    return before == "\n" or (before == "\r" and text[at : at + 1] != "\n")


def _is_converted(old: Set[str], new: Set[str]) -> bool:
    r"""Return whether a text has other line ends than before, and none is a lone `\r`.

    A line that is inserted after a `\r` might change it into another line end.
    """
    return bool((old ^ new) - {""}) and "\r" not in old | new


def _converted(old: Sequence[str], new: Sequence[str]) -> tuple[LineHunk, ...]:
    """Return the hunks between texts with different line ends; match lines by their words.

    Hunks may touch. Otherwise both texts would only share lines that had the right line end
    already: empty lines, for example, which all look the same.
    """
    # Only the last line has no line end.
    words = (
        [without_end(line) + (line_end(line) and "\n") for line in lines] for lines in (old, new)
    )
    runs = list(common_runs(*words))
    hunks = [*_hunks_outside(runs, old, new)]
    hunks += (hunk for run in runs for hunk in _respelt(old, new, run))
    return tuple(sorted(hunks, key=lambda hunk: (hunk.old_start, hunk.new_start)))


def _respelt(old: Sequence[str], new: Sequence[str], run: Run) -> Iterator[LineHunk]:
    """Yield the hunks in a run of lines that differ only in their line ends."""
    i, j, n = run
    for differ, places in groupby(range(n), lambda at: old[i + at] != new[j + at]):
        if differ:
            at, *rest = places
            end = at + 1 + len(rest)
            there, here = tuple(old[i + at : i + end]), tuple(new[j + at : j + end])
            yield LineHunk(i + at, there, j + at, here)


def _change(hunk: LineHunk, above: int = 0) -> TextChange:
    """Return the change that a hunk makes, without the characters that both sides begin or end
    with. `above` lines are before the text of the hunk.
    """
    first = hunk.old_start + above
    old, new = "".join(hunk.old), "".join(hunk.new)
    head, tail = _common_ends(old, new)
    start = end_of(Position(first, 0), old[:head])
    end = end_of(start, old[head : len(old) - tail])
    lines = (LineChange(first, len(hunk.old), len(hunk.new)),)
    splice = Splice(first, hunk.old, hunk.new)
    return TextChange(Range(start, end), new[head : len(new) - tail], lines, splice)


def _common_ends(old: str, new: str) -> tuple[int, int]:
    r"""Return how many characters both texts begin and end with; no `\r\n` is split."""
    head = n_common(old, new)
    if old[:head].endswith("\r") and "\n" in (old[head : head + 1], new[head : head + 1]):
        head -= 1
    tail = n_common(old[head:][::-1], new[head:][::-1])
    if tail and old[-tail] == "\n" and "\r" in (old[-tail - 1 :][:1], new[-tail - 1 :][:1]):
        tail -= 1
    return head, tail


def unified_diff(old: str, new: str, old_name: str, new_name: str, context: int = 3) -> str:
    r"""Return the unified diff of two texts, for people and for `patch`; `""` if the texts are
    equal.

    Lines end at `\n` only, as for every tool that reads such diffs: a `\r` is shown as part of its
    line. A missing final line end is marked `\ No newline at end of file`.

    Args:
        old: The text before.
        new: The text after.
        old_name: The name in the `---` line; line breaks and the like in it are escaped.
        new_name: The name in the `+++` line.
        context: The number of common lines to show around each hunk.
    """
    a, b = _patch_lines(old), _patch_lines(new)
    # Hunks whose context would touch are shown together.
    parts = split_when(diff_lines(a, b), lambda one, two: two.old_start - one.old_end > 2 * context)
    shown = "".join(_section(a, b, group, context) for group in parts)
    return f"--- {_plain(old_name)}\n+++ {_plain(new_name)}\n{shown}" if shown else ""


def _patch_lines(text: str) -> list[str]:
    r"""Return lines that end at `\n` only, each with its end; none for an empty text."""
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _plain(name: str) -> str:
    """Return `name` on one line."""
    return name if name.isprintable() else ascii(name)[1:-1]


def _section(a: Sequence[str], b: Sequence[str], group: list[LineHunk], context: int) -> str:
    """Return one `@@` section: the hunks of `group` with `context` common lines round them."""
    first, last = group[0], group[-1]
    n_before = min(context, first.old_start)
    start, end = first.old_start - n_before, min(last.old_end + context, len(a))
    n_new = end - start + sum(len(hunk.new) - len(hunk.old) for hunk in group)
    lines, done = [], start
    for hunk in group:
        lines += [_shown(" ", line) for line in a[done : hunk.old_start]]
        lines += [_shown("-", line) for line in hunk.old]
        lines += [_shown("+", line) for line in b[hunk.new_start : hunk.new_start + len(hunk.new)]]
        done = hunk.old_end
    lines += [_shown(" ", line) for line in a[done:end]]
    places = f"-{format_span(start, end - start)} +{format_span(first.new_start - n_before, n_new)}"
    return f"@@ {places} @@\n{''.join(lines)}"


def format_span(start: int, n: int) -> str:
    """Format a line range as in an `@@` header: 1-based, with a count of 1 omitted. An empty range
    is written as the line before.
    """
    if n == 1:
        return str(start + 1)
    return f"{start + 1 if n else start},{n}"


def _shown(mark: str, line: str) -> str:
    ending = "" if line.endswith("\n") else "\n\\ No newline at end of file\n"
    return f"{mark}{line}{ending}"
