"""The tables beside this module: read, and split by a fixed hash."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Entry:
    """A name that some document speaks of.

    Attributes:
        name: Relative to a root, with `/` between its parts.
        group: What it belongs to.
        program: What reads it.
        source: The document that says so: its address.
    """

    name: str
    group: str
    program: str
    source: str

    @property
    def is_held_out(self) -> bool:
        """Whether no rule may be tuned on it: about one half of all names, by their hash."""
        return hashlib.sha256(self.name.encode()).digest()[0] % 2 == 1


@dataclass(frozen=True, slots=True)
class Touched:
    """A file that a patch of a package changes, makes, renames or removes."""

    package: str
    version: str
    name: str


def protected() -> list[Entry]:
    """Names of files that some program obeys unasked."""
    return [Entry(*row) for row in _rows("protected.tsv")]


def secrets() -> list[Entry]:
    """Names of files that hold a secret."""
    return [Entry(*row) for row in _rows("secrets.tsv")]


LATER = (2, 3)
"""Numbers of the lists that were made after the rules, each before any of its rates was looked
at.
"""


def protected_later(number: int) -> list[Entry]:
    """Other names of files that some program obeys, of one of the `LATER` lists."""
    return [Entry(*row) for row in _rows(f"protected{number}.tsv")]


def secrets_later(number: int) -> list[Entry]:
    """Other names of files that hold a secret, of one of the `LATER` lists."""
    return [Entry(*row) for row in _rows(f"secrets{number}.tsv")]


def touched() -> list[Touched]:
    """Ordinary edits of sources."""
    return [Touched(*row) for row in _rows("touched.tsv")]


def _rows(name: str) -> list[list[str]]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("# ")]
