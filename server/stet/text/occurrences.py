"""Every place of a text in another, or of whole lines among others, however often they repeat themselves."""

from collections.abc import Sequence
from itertools import accumulate


def find_occurrences(text: str, query: str) -> list[int]:
    """Where `query` is in `text`, overlapping places too; in time that grows with both.

    In a text full of repeats it stands at nearly every step, and comparing all of it each time would
    take the product of both. Two places that overlap by half or more say that `wanted` repeats itself
    at their distance: then it stands as far behind the second again if that little more is there, and
    nowhere between (Fine and Wilf, 1965).
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
    """From which of `lines` on the lines `query`, at least one, stand; all with their line ends."""
    starts = list(accumulate(map(len, lines), initial=0))
    line_at = {start: at for at, start in enumerate(starts)}
    text, first_line = "".join(lines), "".join(query)
    found = (
        line_at.get(place)
        for place in find_occurrences(text, first_line)
        if place + len(first_line) in line_at
    )
    # The same text may be other lines, as a `\r` and a `\n` are one line end or two.
    n = len(query)
    return [
        at
        for at in found
        if at is not None and starts[at + n : at + n + 1] == [starts[at] + len(first_line)]
    ]
