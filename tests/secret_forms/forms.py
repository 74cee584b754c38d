"""Forms of secrets as the lists beside this module hold them, examples made from them, and how many
are marked.

A form of `forms.tsv` is tuned on or held out by a hash of its name, so that nobody chooses which.
The other lists were made after the rules, to measure them.
"""

import base64
import hashlib
import random
import re
import string
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stet.privacy.secrets import find_secrets

FOLDER = Path(__file__).parent
SEEDS = range(5)
CONTEXTS = ("{}", "x = '{}'\n", "see {}, please", '{{"a": "{}"}}', "export X={}\n", "- {}\n")
"""What an example stands in: nothing here says that it is a secret."""
WITHIN_TEXT = ("{}", "first line\n{}\nlast line\n")
"""The same for an example that is a layout of its own."""

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
    "pass": _AN + "!#%^*?+~",
}
_PIECE = re.compile(
    r"\{(?P<kind>\w+):(?P<n>\d+)\}|(?P<uuid>\{uuid\})|<<(?P<plain>.*?)>>|(?P<open>\[\[)|(?P<end>\]\])",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\\\n|\\n|\\t|\\\\\"")
_ESCAPES = {"\\\\n": "\\n", "\\n": "\n", "\\t": "\t", '\\\\"': '\\"'}


@dataclass(frozen=True)
class Form:
    """What one kind of secret looks like.

    Attributes:
        name: Whose it is, and what.
        text: The form, as it is written in the list, with its escapes read.
        source: The letter of a source in the list.
        contexts: What each example is put into.
    """

    name: str
    text: str
    source: str
    contexts: tuple[str, ...] = CONTEXTS

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
        return Example("".join(parts), tuple(made), self.contexts)


@dataclass(frozen=True)
class Example:
    """A text of some form.

    Attributes:
        text: The whole of it.
        made: Stretches of it that were made up, so that they are the secret.
        contexts: What it is put into.
    """

    text: str
    made: tuple[tuple[int, int], ...]
    contexts: tuple[str, ...]

    def is_marked(self) -> bool:
        """Whether nothing of what was made up is told, whatever it stands in."""
        return all(self._is_marked_in(context) for context in self.contexts)

    def _is_marked_in(self, context: str) -> bool:
        whole = context.format(self.text)
        shift = whole.index(self.text)
        hidden = {n for one in find_secrets(whole) for n in range(one.start, one.end)}
        return all(shift + n in hidden for start, end in self.made for n in range(start, end))


def _letters(piece: re.Match[str], chance: random.Random) -> str:
    if piece["uuid"]:
        return str(uuid.UUID(int=chance.getrandbits(128), version=4))
    if piece["plain"]:
        plain = _PIECE.sub(lambda inner: _letters(inner, chance), piece["plain"])
        return base64.b64encode(plain.encode()).decode()
    return "".join(chance.choices(LETTERS[piece["kind"]], k=int(piece["n"])))


@cache
def forms() -> tuple[Form, ...]:
    """All forms that rules may be made from, or from one half of which."""
    return _read("forms.tsv", CONTEXTS)


@cache
def unseen() -> tuple[Form, ...]:
    """Forms of keys that were listed after the rules were made."""
    return _read("unseen.tsv", CONTEXTS)


@cache
def layouts() -> tuple[Form, ...]:
    """Layouts of files and messages that hold secrets, listed after the rules were made."""
    return _read("layouts.tsv", WITHIN_TEXT)


@cache
def unseen_later() -> tuple[Form, ...]:
    """Forms of keys that were listed after the rules by pairs of letters were made."""
    return _read("unseen2.tsv", CONTEXTS)


@cache
def layouts_later() -> tuple[Form, ...]:
    """Layouts that were listed after the rules by names were made."""
    return _read("layouts2.tsv", WITHIN_TEXT)


def _read(name: str, contexts: tuple[str, ...]) -> tuple[Form, ...]:
    rows = [
        line.split("\t")
        for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    return tuple(
        Form(name, _ESCAPE.sub(lambda found: _ESCAPES[found.group()], text), source, contexts)
        for name, text, source in rows
    )


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
