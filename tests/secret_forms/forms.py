"""Forms of secrets as `forms.tsv` lists them, examples made from them, and how many are marked.

A form is tuned on or held out by a hash of its name, so that nobody chooses which.
"""

import hashlib
import random
import re
import string
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stet.text.secrets import find_secrets

LIST = Path(__file__).with_name("forms.tsv")
SEEDS = range(5)
CONTEXTS = ("{}", "x = '{}'\n", "see {}, please", '{{"a": "{}"}}', "export X={}\n", "- {}\n")
"""What an example stands in: nothing here says that it is a secret."""

_AN = string.ascii_letters + string.digits
LETTERS = {
    "num": string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "low": string.ascii_lowercase + string.digits,
    "up": string.ascii_uppercase + string.digits,
    "alpha": string.ascii_letters,
    "an": _AN,
    "url": _AN + "_-",
    "b64": _AN + "+/",
    "b32": string.ascii_uppercase + "234567",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
_PIECE = re.compile(r"\{(?P<kind>\w+):(?P<n>\d+)\}|(?P<uuid>\{uuid\})|(?P<open>\[\[)|(?P<end>\]\])")


@dataclass(frozen=True)
class Form:
    """What one kind of secret looks like.

    Attributes:
        name: Whose it is, and what.
        source: The letter of a source in the list.
        text: The form, as it is written in the list.
    """

    name: str
    text: str
    source: str

    @property
    def is_held_out(self) -> bool:
        """Whether nothing may be tuned on it."""
        return bool(hashlib.sha256(self.name.encode()).digest()[0] % 2)

    def example(self, seed: int) -> "Example":
        """A text of this form; the same for the same seed."""
        chance = random.Random(f"{self.name}/{seed}")
        parts: list[str] = []
        made: list[tuple[int, int]] = []
        bracketed: list[tuple[int, int]] = []
        at = n = 0
        start = 0
        for piece in _PIECE.finditer(self.text):
            parts.append(self.text[at : piece.start()])
            n, at = n + len(parts[-1]), piece.end()
            if piece["open"]:
                start = n
            elif piece["end"]:
                bracketed.append((start, n))
            else:
                parts.append(_letters(piece, chance))
                made.append((n, n + len(parts[-1])))
                n += len(parts[-1])
        parts.append(self.text[at:])
        if bracketed:
            made = [(a, b) for a, b in made if any(c <= a and b <= d for c, d in bracketed)]
        return Example("".join(parts), tuple(made))


@dataclass(frozen=True)
class Example:
    """A text of some form.

    Attributes:
        text: The whole of it.
        made: Stretches of it that were made up, so that they are the secret.
    """

    text: str
    made: tuple[tuple[int, int], ...]

    def is_marked(self) -> bool:
        """Whether nothing of what was made up is told, whatever it stands in."""
        return all(self._is_marked_in(context) for context in CONTEXTS)

    def _is_marked_in(self, context: str) -> bool:
        whole = context.format(self.text)
        shift = whole.index(self.text)
        hidden = {n for one in find_secrets(whole) for n in range(one.start, one.end)}
        return all(shift + n in hidden for start, end in self.made for n in range(start, end))


def _letters(piece: re.Match[str], chance: random.Random) -> str:
    if piece["uuid"]:
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))
    return "".join(chance.choices(LETTERS[piece["kind"]], k=int(piece["n"])))


@cache
def forms() -> tuple[Form, ...]:
    """All forms of the list."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return tuple(Form(*line.split("\t")) for line in lines if not line.startswith("#"))


def halves() -> tuple[list[Form], list[Form]]:
    """The forms that are tuned on, and those that are held out."""
    return [one for one in forms() if not one.is_held_out], [
        one for one in forms() if one.is_held_out
    ]


def misses(chosen: Iterable[Form]) -> Iterator[tuple[Form, int]]:
    """The forms of which an example is told, with its seed."""
    for form in chosen:
        for seed in SEEDS:
            if not form.example(seed).is_marked():
                yield form, seed


def rate(chosen: list[Form]) -> float:
    """The share of examples that are marked, in percent."""
    return 100 - 100 * len(list(misses(chosen))) / (len(chosen) * len(SEEDS))
