"""Secrets that have been seen once, found again wherever they stand, whole or in part.

Pieces of each secret are looked up at every place of a text, so a text takes the same time however many
are known, and none is ever forgotten.
"""

from collections import defaultdict
from collections.abc import Iterator

LEAST = 8
"""Characters of a secret that is looked for; shorter ones would be met by chance."""
_LEAST_PLAIN = 12
"""The same of one that could be a word or a number."""
PART = 16
"""Characters of a part of a secret by which it is known, wherever in the secret it stands."""
_STEP = PART - LEAST + 1
"""A part of that length holds a piece that begins at a multiple of this."""
_FEW = 64
"""Pieces that are looked for one by one before every place of a text is looked at."""
_MOST_ALIKE = 32
"""Secrets that are looked at for one piece: a stranger may write a thousand that begin alike."""


class KnownSecrets:
    """Secrets with their kinds, in the order in which they came to be known."""

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._order: list[str] = []
        self._pieces: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._kinds.items())

    def add(self, secret: str, kind: str) -> None:
        """Know a secret from now on, if it is one that is not met by chance."""
        has_both = any(map(str.isdigit, secret)) and any(map(str.isalpha, secret))
        if secret in self._kinds or len(secret) < (LEAST if has_both else _LEAST_PLAIN):
            return
        if secret.isalpha() or secret.isdigit():
            return
        self._kinds[secret] = kind
        self._order.append(secret)
        for at in _piece_starts(secret):
            alike = self._pieces[secret[at : at + LEAST]]
            alike.append((secret, at))
            if len(alike) > _MOST_ALIKE:
                del alike[0]

    def may_contain(self, text: str, since: int) -> bool:
        """Whether a secret that came behind the first `since` may stand in a text."""
        return any(
            secret[at : at + LEAST] in text
            for secret in self._order[since:]
            for at in _piece_starts(secret)
        )

    def find_spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and kind of where secrets stand in a text, or parts of them that are long enough."""
        # As nearly always there are few and none is there: far sooner told than by every place.
        if len(self._pieces) <= _FEW and not any(piece in text for piece in self._pieces):
            return
        after = 0
        for at in range(len(text) - LEAST + 1):
            alike = self._pieces.get(text[at : at + LEAST]) if at >= after else None
            for secret, piece in alike or ():
                start, end = _extend_match(text, at, secret, piece)
                if end - start >= min(PART, len(secret)):
                    yield start, end, self._kinds[secret]
                    after = max(after, end - LEAST + 1)


def _piece_starts(secret: str) -> list[int]:
    """Where the pieces of a secret begin: so that each part of `PART` characters holds one."""
    last = len(secret) - LEAST
    return sorted({*range(0, last + 1, _STEP), last})


def _extend_match(text: str, at: int, secret: str, piece: int) -> tuple[int, int]:
    """How far text and secret are alike around a piece that stands in both."""
    n_before = 0
    while n_before < min(at, piece) and text[at - n_before - 1] == secret[piece - n_before - 1]:
        n_before += 1
    n = LEAST
    while piece + n < len(secret) and text[at + n : at + n + 1] == secret[piece + n]:
        n += 1
    return at - n_before, at + n
