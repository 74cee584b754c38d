r"""Three-way merge of whole lines: the user's version of some lines with the agent's version.

Lines are merged as `diff3` does (Khanna, Kunal and Pierce, "A Formal Investigation of Diff3",
2007), with two differences. Changes of adjacent lines do not conflict unless both add lines there,
whose order would be a guess. If both changed the same lines and all three sides have as many lines,
each line is merged by its tokens. Nothing is ever guessed: `None` is a conflict.

Line ends are not content. Each is merged separately, and the user's wins; if one side converted all
line ends of one kind into another, the new lines of the other side are converted too. Whether the
last line has an end is a property of the whole text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from stet.text.diff import LineHunk, apply_hunks, diff_lines, unchanged_lines
from stet.text.lines import dominant_line_end, line_end, whole_lines, without_end
from stet.text.sequence import common_ends, n_common

_ENDS = ("\r", "\n")


def merge(base: str, ours: str, theirs: str) -> str | None:
    """Return `base` with the changes that lead to `ours` and `theirs`; None on a conflict.

    Args:
        base: The old lines.
        ours: The user's version of these lines.
        theirs: The agent's version of these lines.
    """
    return Merger(base, theirs).merge(ours)


class MergeConflict(NamedTuple):
    """Lines that both sides have changed in different ways.

    Attributes:
        first: The first of the user's lines, 0-based.
        end: The line after the last of them.
        base: The old lines.
        theirs: The agent's version of these lines.
    """

    first: int
    end: int
    base: str
    theirs: str


class PartialMerge(NamedTuple):
    """A merged text that has the user's lines where the sides conflict.

    Attributes:
        text: The whole text.
        conflicts: The conflicts, in order of place.
    """

    text: str
    conflicts: tuple[MergeConflict, ...] = ()


def merge_partly(base: str, ours: str, theirs: str) -> PartialMerge | None:
    """Merge as `merge` does, but leave the user's lines where the sides conflict.

    If both sides add lines at one place, the user's lines come first, and there is no conflict.

    Args:
        base: The old text.
        ours: The user's version of the text.
        theirs: The agent's version of the text.

    Returns:
        The merged text and the conflicts; None if line ends can't be merged.
    """
    if (whole := merge(base, ours, theirs)) is not None:
        return PartialMerge(whole)
    lines, conflicts = whole_lines(base), list[MergeConflict]()
    made = _merge_lines(
        lines, _side(lines, whole_lines(ours)), _side(lines, whole_lines(theirs)), conflicts
    )
    if made is None:
        return None
    ended = _with_all_ends(made[0], ours, theirs, base)
    text = "".join(ended)
    if "\r" in text and whole_lines(text) != tuple(ended):
        return None
    return PartialMerge(text, tuple(conflicts))


@dataclass(frozen=True)  # without slots: what is computed once is kept in the instance
class Merger:
    """A merge that is repeated while the user types: the agent's changes are computed once.

    Attributes:
        base: The old lines.
        theirs: The agent's version of these lines.
    """

    base: str
    theirs: str

    @cached_property
    def _base(self) -> tuple[str, ...]:
        return whole_lines(self.base)

    @cached_property
    def _side(self) -> "_Side":
        return _side(self._base, whole_lines(self.theirs))

    def merge(self, ours: str) -> str | None:
        """Return `ours` with the agent's changes, as the function `merge`; None on a conflict."""
        found = self.merge_detailed(ours)
        return None if found is None else found.text

    def merge_detailed(self, ours: str) -> "MergeResult | None":
        """Merge `ours` as `merge` does. The result also says whether a line has changes of both
        sides.
        """
        if ours == self.base:
            return MergeResult(self.theirs)
        if self.theirs in {self.base, ours}:
            return MergeResult(ours)
        made = _merge_lines(self._base, _side(self._base, whole_lines(ours)), self._side)
        if made is None:
            return None
        merged, is_mixed = made
        lines = _with_all_ends(merged, ours, self.theirs, self.base)
        text = "".join(lines)
        if "\r" in text and whole_lines(text) != tuple(lines):
            return None  # a `\r` is now before a `\n` of another line
        return MergeResult(text, is_mixed)


class MergeResult(NamedTuple):
    """A merged text.

    Attributes:
        text: The whole text.
        is_mixed: Whether a line of the text has changes of both sides.
    """

    text: str
    is_mixed: bool = False


class _Side(NamedTuple):
    """One side's version of the base.

    Attributes:
        lines: All lines of the version, with their line ends.
        hunks: The changes of the base, except those of line ends.
        ends: The line ends that were converted everywhere, with their replacements.
    """

    lines: tuple[str, ...]
    hunks: tuple[LineHunk, ...]
    ends: dict[str, str]


class _Stretch(NamedTuple):
    """Corresponding lines of all three sides."""

    base: Sequence[str]
    ours: Sequence[str]
    theirs: Sequence[str]


def _side(base: Sequence[str], lines: tuple[str, ...]) -> _Side:
    """Return the changes that lead from `base` to `lines`."""
    head, tail = common_ends(base, lines)
    old, new = base[head : len(base) - tail], lines[head : len(lines) - tail]
    inner = diff_lines([without_end(line) for line in old], [without_end(line) for line in new])
    same = unchanged_lines(inner, len(old))
    found = {(line_end(old[i]), line_end(new[j])) for i, j in same}
    hunks = tuple(hunk.slid(head) for hunk in inner)
    return _Side(lines, hunks, _conversion(found, [*base[:head], *base[len(base) - tail :]]))


def _conversion(hunks: set[tuple[str, str]], unchanged: Sequence[str]) -> dict[str, str]:
    """Return the new line end for each line end that changed in all lines that both sides have."""
    ends = {old: new for old, new in hunks if old != new and old and new}
    if ends:
        unchanged_ends = {*map(line_end, unchanged), *(old for old, new in hunks if old == new)}
        several = {old for old, new in hunks if new and ends.get(old, new) != new}
        ends = {old: new for old, new in ends.items() if old not in unchanged_ends | several}
    return ends


def _merge_lines(
    base: Sequence[str], ours: _Side, theirs: _Side, conflicts: list[MergeConflict] | None = None
) -> tuple[list[str], bool] | None:
    """Return the merged lines, and whether one of them is mixed; a line that is not the last may
    lack its line end.

    Conflicts are added to `conflicts`; without this list, the first one ends the merge with None.
    """
    made: list[str] = []
    is_mixed = False
    done = our_shift = their_shift = 0
    for our_hunks, their_hunks in (*_overlapping_hunks(ours.hunks, theirs.hunks), ((), ())):
        both = (*our_hunks, *their_hunks)
        first = min((hunk.old_start for hunk in both), default=len(base))
        end = max((hunk.old_end for hunk in both), default=len(base))
        our_first, their_first = first + our_shift, first + their_shift
        made += _untouched(
            base[done:first],
            ours.lines[done + our_shift : our_first],
            theirs.lines[done + their_shift : their_first],
        )
        our_shift += _line_delta(our_hunks)
        their_shift += _line_delta(their_hunks)
        stretch = _Stretch(
            base[first:end],
            ours.lines[our_first : end + our_shift],
            theirs.lines[their_first : end + their_shift],
        )
        if not their_hunks:
            made += _one_sided(stretch.base, stretch.ours, stretch.theirs, theirs.ends)
        elif not our_hunks:
            made += _one_sided(stretch.base, stretch.theirs, stretch.ours, ours.ends)
        else:
            same_size = all(len(hunk.old) == len(hunk.new) for hunk in both)
            settled = _resolve(stretch, theirs.ends, same_size=same_size)
            if settled is None:
                if conflicts is None:
                    return None
                settled = [*stretch.ours], False
                if stretch.base:
                    is_last = our_first + len(stretch.ours) == len(ours.lines)
                    conflicts.append(_conflict(stretch, our_first, ours.ends, is_last=is_last))
                else:
                    settled[0].extend(_converted(stretch.theirs, ours.ends))
            made += settled[0]
            is_mixed |= settled[1]
        done = end
    return made, is_mixed


def _conflict(
    stretch: _Stretch, first: int, ends: dict[str, str], *, is_last: bool
) -> MergeConflict:
    """Return the conflict of a stretch.

    Args:
        stretch: The lines.
        first: The first of the user's lines, 0-based.
        ends: The user's conversion of line ends.
        is_last: Whether the stretch is at the end of the user's text.
    """
    base, theirs = ("".join(_converted(lines, ends)) for lines in (stretch.base, stretch.theirs))
    if theirs and not line_end(theirs) and not is_last:
        theirs += line_end(stretch.ours[-1]) if stretch.ours else "\n"
    return MergeConflict(first, first + len(stretch.ours), base, theirs)


def _overlapping_hunks(
    ours: Sequence[LineHunk], theirs: Sequence[LineHunk]
) -> Iterator[tuple[tuple[LineHunk, ...], tuple[LineHunk, ...]]]:
    """Yield overlapping hunks of both sides together and other hunks alone, in order of place."""
    tagged = [(hunk, 0) for hunk in ours] + [(hunk, 1) for hunk in theirs]
    group: tuple[list[LineHunk], list[LineHunk]] = ([], [])
    for hunk, side in sorted(tagged, key=lambda one: (one[0].old_start, len(one[0].old))):
        opposite = group[1 - side]
        if any(group) and not (opposite and _overlap(opposite[-1], hunk)):
            yield tuple(group[0]), tuple(group[1])
            group = ([], [])
        group[side].append(hunk)
    if any(group):
        yield tuple(group[0]), tuple(group[1])


def _overlap(hunk: LineHunk, other: LineHunk) -> bool:
    """Return whether two hunks share a line, or touch and both add lines; `hunk` starts no
    later.
    """
    if other.old_start == hunk.old_end:
        return _line_delta([hunk]) > 0 and _line_delta([other]) > 0
    return other.old_start < hunk.old_end


def _line_delta(hunks: Sequence[LineHunk]) -> int:
    """Return how many lines more there are after these hunks."""
    return sum(len(hunk.new) - len(hunk.old) for hunk in hunks)


def _untouched(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Sequence[str]:
    """Return lines that all three sides have, with their line ends merged."""
    if base == ours:
        return theirs
    if base == theirs:
        return ours
    lines = zip(base, ours, theirs, strict=True)
    return [their if our == old else our for old, our, their in lines]


def _one_sided(
    base: Sequence[str], new: Sequence[str], other_side: Sequence[str], ends: dict[str, str]
) -> Sequence[str]:
    """Return the lines `new` that one side wrote for `base`, with the line ends of the other side.

    Args:
        base: The old lines.
        new: One side's version of them.
        other_side: The old lines with the line ends of the other side.
        ends: The other side's conversion of line ends.
    """
    if len(base) != len(new):
        return _converted(new, ends)
    if base == other_side:
        return new
    lines = zip(base, new, other_side, strict=True)
    return [
        without_end(line) + line_end(same if old != same else line) for old, line, same in lines
    ]


def _converted(lines: Sequence[str], ends: dict[str, str]) -> Sequence[str]:
    """Return the lines with their line ends converted to other line ends."""
    if not ends:
        return lines
    pairs = ((without_end(line), line_end(line)) for line in lines)
    return [text + ends.get(end, end) for text, end in pairs]


def _resolve(
    stretch: _Stretch, ends: dict[str, str], *, same_size: bool
) -> tuple[list[str], bool] | None:
    """Return lines that both sides changed, and whether one of them is mixed; None if they
    conflict.

    Args:
        stretch: The lines.
        ends: The agent's conversion of line ends.
        same_size: Whether each side changed line by line.
    """
    base, ours, theirs = stretch
    if not same_size:
        same = len(ours) == len(theirs) and all(map(_same_text, ours, theirs))
        return ([*_converted(ours, ends)], False) if same else None
    head, tail = common_ends(base, ours)
    made = [*theirs[:head]]
    is_mixed = False
    for at in range(head, len(base) - tail):
        line = _resolve_line(base[at], ours[at], theirs[at])
        if line is None:
            return None
        made.append(line)
        is_mixed |= not (_same_text(line, ours[at]) or _same_text(line, theirs[at]))
    return [*made, *theirs[len(base) - tail :]], is_mixed


def _same_text(one: str, other: str) -> bool:
    return without_end(one) == without_end(other)


def _resolve_line(base: str, ours: str, theirs: str) -> str | None:
    """Return one line that at least one side changed, with its end."""
    old, our, their = without_end(base), without_end(ours), without_end(theirs)
    if our in {old, their}:
        text: str | None = their
    else:
        text = our if their == old else merge_tokens(old, our, their)
    if text is None:
        return None
    end = line_end(ours)
    return text + (end if end != line_end(base) else line_end(theirs))


def _with_all_ends(lines: list[str], ours: str, theirs: str, base: str) -> list[str]:
    """Return the merged lines, each but the last with a line end. The last line ends as in the
    texts.
    """
    ended = base[-1:] in _ENDS
    ours_ended, theirs_ended = (text[-1] in _ENDS if text else ended for text in (ours, theirs))
    if (base and not ended) or not ours_ended or not theirs_ended:
        lines = [line if line_end(line) else line + _line_end(ours, theirs, base) for line in lines]
        last = without_end(lines[-1]) if lines else ""
        if last and not (theirs_ended if base and ours_ended == ended else ours_ended):
            lines[-1] = last
    return lines


def _line_end(*texts: str) -> str:
    """Return the usual line end of the first text that has any line end."""
    text = next((text for text in texts if "\n" in text or "\r" in text), "")
    return dominant_line_end(text)


TOKEN = re.compile(r"\.\.\.|[\w\u0300-\u036f]+|\s+|.", re.DOTALL)
"""A word, with its combining accents, a stretch of white space or one other sign.

Three dots are one sign, as in typography.
"""

_END_OF_TOKEN = re.compile(r"\s\S")
"""White space after a token, read backwards."""


@dataclass(frozen=True, slots=True)
class _Change:
    """Tokens that one side or both changed.

    Attributes:
        hunk: The old and the new tokens.
        first: The first token of the old line that may be meant: an insertion or removal among
            equal tokens could be at any of them.
        last: The end of these tokens.
    """

    hunk: LineHunk
    first: int
    last: int


def merge_tokens(base: str, ours: str, theirs: str) -> str | None:
    """Return the line `base` with the changes of both sides; None if they are not apart or equal.

    Changes are apart if at least one word or sign that neither side has changed is between a change
    of one side and a change of the other.
    """
    head, tail = _common_ends(base, ours, theirs)
    old = TOKEN.findall(base[head : len(base) - tail])
    our_changes = _changes(old, TOKEN.findall(ours[head : len(ours) - tail]))
    their_changes = _changes(old, TOKEN.findall(theirs[head : len(theirs) - tail]))
    changes = our_changes | their_changes
    end = 0
    has_ours = has_theirs = False
    for change in sorted(changes, key=lambda one: one.first):
        if "".join(old[end : change.first]).strip():
            has_ours = has_theirs = False
        has_ours |= change not in their_changes
        has_theirs |= change not in our_changes
        if has_ours and has_theirs:
            return None
        end = max(end, change.last)
    hunks = sorted((one.hunk for one in changes), key=lambda one: one.old_start)
    return "".join((base[:head], *apply_hunks(hunks, old), base[len(base) - tail :]))


def _changes(old: Sequence[str], new: Sequence[str]) -> set[_Change]:
    """Return the changes that lead from `old` to `new`.

    The place in `new` is left out, so that equal changes of both sides are one change.
    """
    return {_with_leeway(old, replace(hunk, new_start=0)) for hunk in diff_lines(old, new)}


def _with_leeway(old: Sequence[str], hunk: LineHunk) -> _Change:
    """Return a change with how far it can slide, if it only inserts or deletes."""
    first, last = hunk.old_start, hunk.old_end
    if not (hunk.old and hunk.new):
        moved = hunk.old or hunk.new
        n = 0
        while first > 0 and old[first - 1] == moved[-1 - n % len(moved)]:
            first, n = first - 1, n + 1
        n = 0
        while last < len(old) and old[last] == moved[n % len(moved)]:
            last, n = last + 1, n + 1
    return _Change(hunk, first, last)


def _common_ends(base: str, ours: str, theirs: str) -> tuple[int, int]:
    """Return how many characters all three texts begin and end with, cut at white space."""
    head = _before_blank(base, min(n_common(base, ours), n_common(base, theirs)))
    rest = [text[head:][::-1] for text in (base, ours, theirs)]
    tail = min(n_common(rest[0], rest[1]), n_common(rest[0], rest[2]))
    return head, _before_blank(rest[0], tail)


def _before_blank(text: str, end: int) -> int:
    """Return the last place before `end` where a token ends and white space begins, or 0."""
    found = _END_OF_TOKEN.search(text[:end][::-1])
    return end - 1 - found.start() if found else 0
