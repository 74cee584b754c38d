"""Comparison of sequences: common parts of two sequences, and occurrences of one in another.

The comparison is the core of the line diff. It is never quadratic for any input. It has three
steps, each bounded:

1. Common ends are cut off.
2. Items that occur exactly once on both sides are paired by the longest increasing run (patience
   diff, Bram Cohen 2008) and the gaps between them are treated the same way, a few levels deep.
3. A gap without such items goes to the greedy algorithm of E. W. Myers, "An O(ND) Difference
   Algorithm and Its Variations" (1986). After `_MAX_EDITS` edits the farthest path is chosen and
   the algorithm starts again from its end, so the work is proportional to the length of the gap.

The search for occurrences takes linear time too, however often the text repeats itself.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeVar

_T = TypeVar("_T")
_MAX_DEPTH = 16
_MAX_EDITS = 64


Run = tuple[int, int, int]
"""The start of a common run in each of two sequences, and its length."""


class _Gap(NamedTuple):
    """A stretch of both sides, half-open, that is still to be compared."""

    a0: int
    a1: int
    b0: int
    b1: int
    depth: int


def common_runs(a: Sequence[str], b: Sequence[str]) -> Iterator[Run]:
    """Return the common runs of both, as (start in `a`, start in `b`, length), in order.

    The runs are disjoint and equal in both; no common items were found between them.
    """
    # Two texts are mostly equal at both ends, and slices of one type compare fast.
    a, b = list(a), list(b)
    head, tail = common_ends(a, b)
    names: dict[str, int] = {}
    ids_a = [names.setdefault(item, len(names)) for item in a[head : len(a) - tail]]
    ids_b = [names.setdefault(item, len(names)) for item in b[head : len(b) - tail]]
    if head:
        yield 0, 0, head
    for i, j, n in _runs(ids_a, ids_b, _Gap(0, len(ids_a), 0, len(ids_b), 0)):
        yield i + head, j + head, n
    if tail:
        yield len(a) - tail, len(b) - tail, tail


def n_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items (or characters) both begin with, found by halving: slices compare
    fast.
    """
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_ends(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """Return how many items (or characters) both begin with, and end with after that."""
    head = n_common(one, other)
    return head, n_common(one[head:][::-1], other[head:][::-1])


def _runs(a: Sequence[int], b: Sequence[int], gap: _Gap) -> Iterator[Run]:
    """Yield the common runs of a gap, in order of place."""
    a0, a1, b0, b1, depth = gap
    while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
        a0, b0 = a0 + 1, b0 + 1
    while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
        a1, b1 = a1 - 1, b1 - 1
    if a0 > gap.a0:
        yield gap.a0, gap.b0, a0 - gap.a0
    if a0 < a1 and b0 < b1:
        yield from _inner_runs(a, b, _Gap(a0, a1, b0, b1, depth))
    if a1 < gap.a1:
        yield a1, b1, gap.a1 - a1


def _inner_runs(a: Sequence[int], b: Sequence[int], gap: _Gap) -> Iterator[Run]:
    """Yield the common runs of a gap whose ends differ, in order of place."""
    if set(a[gap.a0 : gap.a1]).isdisjoint(b[gap.b0 : gap.b1]):
        return  # the fast path for most gaps: all lines were replaced
    anchors = _anchors(a, b, gap) if gap.depth < _MAX_DEPTH else []
    if not anchors:
        yield from _greedy(a, b, gap)
        return
    a0, b0 = gap.a0, gap.b0
    for i, j, n in (*_as_runs(anchors), (gap.a1, gap.b1, 0)):
        if a0 < i and b0 < j:
            yield from _runs(a, b, _Gap(a0, i, b0, j, gap.depth + 1))
        if n:
            yield i, j, n
        a0, b0 = i + n, j + n


def _anchors(a: Sequence[int], b: Sequence[int], gap: _Gap) -> list[tuple[int, int]]:
    """Return pairs of items that are unique on both sides, as many as are in the same order."""
    part_a, part_b = a[gap.a0 : gap.a1], b[gap.b0 : gap.b1]
    n_a, n_b = Counter(part_a), Counter(part_b)
    where = {item: j for j, item in enumerate(part_b, gap.b0) if n_b[item] == 1}
    unique = ((i, item) for i, item in enumerate(part_a, gap.a0) if n_a[item] == 1)
    return _longest_increasing([(i, where[item]) for i, item in unique if item in where])


def _longest_increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest run of `pairs` (increasing in the first) that increases in the second."""
    if all(one[1] < other[1] for one, other in pairwise(pairs)):
        return pairs
    ends: list[int] = []  # the smallest second number that ends a run of each length
    last: list[int] = []  # the pair of each end
    before: list[int] = []
    for at, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [at]
    run, at = [], last[-1]
    while at >= 0:
        run.append(pairs[at])
        at = before[at]
    return run[::-1]


def _greedy(a: Sequence[int], b: Sequence[int], gap: _Gap) -> list[Run]:
    """Return the runs of a gap without unique items (Myers), in legs of at most `_MAX_EDITS`
    edits.
    """
    in_a, in_b = set(a[gap.a0 : gap.a1]), set(b[gap.b0 : gap.b1])
    unique_a = [i for i in range(gap.a0, gap.a1) if a[i] in in_b]
    unique_b = [j for j in range(gap.b0, gap.b1) if b[j] in in_a]
    left, right = [a[i] for i in unique_a], [b[j] for j in unique_b]
    pairs: list[tuple[int, int]] = []
    x = y = 0
    while x < len(left) and y < len(right):
        steps, x, y = _leg(left, right, x, y)
        pairs += steps
    return _as_runs([(unique_a[x], unique_b[y]) for x, y in pairs])


def _as_runs(pairs: Sequence[tuple[int, int]]) -> list[Run]:
    """Return pairs in order, those that follow one another on both sides as one run."""
    runs: list[Run] = []
    first, second, n = -1, -1, 0
    for i, j in pairs:
        if i == first + n and j == second + n:
            n += 1
            continue
        if n:
            runs.append((first, second, n))
        first, second, n = i, j, 1
    return [*runs, (first, second, n)] if n else runs


def _leg(a: list[int], b: list[int], x0: int, y0: int) -> tuple[list[tuple[int, int]], int, int]:
    """Return one leg from (x0, y0): the pairs on its path, and where it ended.

    It ends at the end of both, or where the farthest path is after `_MAX_EDITS` edits. A diagonal
    is `(x - x0) - (y - y0)`, from `-_MAX_EDITS` to `_MAX_EDITS`: Python's negative indices hold
    the lower half.
    """
    reach = [x0] * (2 * _MAX_EDITS + 3)
    trace: list[list[int]] = []
    for edits in range(_MAX_EDITS + 1):
        trace.append(reach[:])
        for diagonal in range(-edits, edits + 1, 2):
            x = max(reach[diagonal + 1], reach[diagonal - 1] + 1) if edits else x0
            if abs(diagonal) == edits and edits:
                x = reach[diagonal + 1] if diagonal < 0 else reach[diagonal - 1] + 1
            y = y0 + x - x0 - diagonal
            while x < len(a) and y < len(b) and a[x] == b[y]:
                x, y = x + 1, y + 1
            reach[diagonal] = x
            if x >= len(a) and y >= len(b):
                return _path(trace, (x0, y0), (x, y)), x, y
    ends = [(reach[k], y0 + reach[k] - x0 - k) for k in range(-_MAX_EDITS, _MAX_EDITS + 1, 2)]
    x, y = max((end for end in ends if end[0] <= len(a) and end[1] <= len(b)), key=sum)
    return _path(trace, (x0, y0), (x, y)), x, y


def _path(
    trace: list[list[int]], start: tuple[int, int], end: tuple[int, int]
) -> list[tuple[int, int]]:
    """Walk back from `end`, and return the pairs on the way in order."""
    x, y = end
    pairs: list[tuple[int, int]] = []
    for edits in range(len(trace) - 1, 0, -1):
        diagonal = (x - start[0]) - (y - start[1])
        reach = trace[edits]
        down = diagonal == -edits or (
            diagonal != edits and reach[diagonal - 1] + 1 <= reach[diagonal + 1]
        )
        before = reach[diagonal + 1] if down else reach[diagonal - 1]
        after = before if down else before + 1
        while x > after:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = before, start[1] + before - start[0] - (diagonal + 1 if down else diagonal - 1)
    while x > start[0]:
        x, y = x - 1, y - 1
        pairs.append((x, y))
    return pairs[::-1]


def split_when(items: Iterable[_T], is_split: Callable[[_T, _T], bool]) -> Iterator[list[_T]]:
    """Yield items in groups, in order; two neighbours with `is_split` are in different groups."""
    group: list[_T] = []
    for item in items:
        if group and is_split(group[-1], item):
            yield group
            group = []
        group.append(item)
    if group:
        yield group


def find_occurrences(text: str, query: str) -> list[int]:
    """Return the offsets of `query` in `text`, overlapping places too, in linear time.

    In a text full of repeats `query` occurs at nearly every step, and comparing all of it each time
    would take the product of both lengths. Two places that overlap by half or more show that
    `query` repeats itself at their distance: then the next possible place is at the same distance
    after the second, where only the end of `query` is compared (Fine and Wilf, 1965).
    """
    places: list[int] = []
    at, n = text.find(query), len(query)
    while at >= 0:
        step = at - places[-1] if places else n
        places.append(at)
        if 2 * step <= n and text.startswith(query[n - step :], at + n):
            at += step
        else:
            at = text.find(query, at + 1)
    return places


def find_line_runs(lines: Sequence[str], query: Sequence[str]) -> list[int]:
    """Return the places in `lines` of the lines `query`, at least one; all with their line ends."""
    starts = list(accumulate(map(len, lines), initial=0))
    line_at = {start: at for at, start in enumerate(starts)}
    needle = "".join(query)
    found = (
        (line_at[place], line_at[place + len(needle)])
        for place in find_occurrences("".join(lines), needle)
        if place in line_at and place + len(needle) in line_at
    )
    # The same text may have other lines, because a `\r` and a `\n` are one line end or two.
    return [at for at, end in found if end - at == len(query)]
