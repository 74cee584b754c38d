"""Every place of a text in another, or of whole lines among others, however often they repeat themselves."""

from collections.abc import Sequence
from itertools import accumulate


def places_of(text: str, wanted: str) -> list[int]:
    """Where `wanted` is in `text`, overlapping places too; in time that grows with both.

    In a text full of repeats it stands at nearly every step, and comparing all of it each time would
    take the product of both. Two places that overlap by half or more say that `wanted` repeats itself
    at their distance: then it stands as far behind the second again if that little more is there, and
    nowhere between (Fine and Wilf, 1965).
    """
    places: list[int] = []
    at, n = text.find(wanted), len(wanted)
    while at >= 0:
        step = at - places[-1] if places else n
        places.append(at)
        if 2 * step <= n and text.startswith(wanted[n - step :], at + n):
            at += step
        else:
            at = text.find(wanted, at + 1)
    return places


def line_places(lines: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """From which of `lines` on the lines `wanted`, at least one, stand; all with their line ends."""
    starts = list(accumulate(map(len, lines), initial=0))
    line_at = {start: at for at, start in enumerate(starts)}
    text, own = "".join(lines), "".join(wanted)
    found = (line_at.get(place) for place in places_of(text, own) if place + len(own) in line_at)
    # The same text may be other lines, as a `\r` and a `\n` are one line end or two.
    n = len(wanted)
    return [
        at
        for at in found
        if at is not None and starts[at + n : at + n + 1] == [starts[at] + len(own)]
    ]
