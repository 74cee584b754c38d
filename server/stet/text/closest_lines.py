"""The lines most like a block that was not found: to be shown, never to be edited."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

_WORD = re.compile(r"\w+")
_MAX_HOMES = 8
"""How many wanted lines one word votes for; a word in more of them tells little."""


def closest_lines(lines: Sequence[str], query: Sequence[str]) -> tuple[int, int] | None:
    """The stretch of `lines` most like `query`: first line and end (0-based, half-open).

    Every word that a line shares with a wanted line votes for the place where the block would
    start; rare words weigh more. None if nothing is shared.
    """
    home: dict[str, list[int]] = defaultdict(list)
    for i, line in enumerate(query):
        for word in set(_WORD.findall(line)):
            home[word].append(i)
    shared = [
        (at, tuple(words))
        for at, line in enumerate(lines)
        if (words := home.keys() & _WORD.findall(line))
    ]
    counts = Counter(word for _, found in shared for word in found)
    votes: defaultdict[int, float] = defaultdict(float)
    for at, found in shared:
        for word in found:
            for i in home[word][:_MAX_HOMES]:
                votes[max(0, at - i)] += 1 / (counts[word] * len(home[word]))
    if not votes:
        return None
    first = max(votes, key=lambda start: (votes[start], -start))
    return first, min(first + len(query), len(lines))
