"""What an evaluation is made of: files that are put into an index, and questions asked of it."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

MAX_BYTES = 1_000_000
"""A longer file was not written by a person."""
SAMPLE = 600
"""Questions of each half that are asked."""


@dataclass(frozen=True, slots=True)
class Change:
    """Files to be put in, by name, and files to be taken out."""

    put: dict[str, str] = field(default_factory=dict)
    drop: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and what would be a right answer.

    Attributes:
        text: In words.
        right: Names of files; in one of them lies what is asked for, or all of them are.
        line: Where in it, 0-based; None if any place will do.
        held: Whether it belongs to the half that nothing may be tuned on.
    """

    text: str
    right: frozenset[str]
    held: bool
    line: int | None = None


Step = Change | Question


class Corpus(Protocol):
    """Questions of one kind about one folder."""

    @property
    def by_line(self) -> bool:
        """Whether a place in a file is asked for, and not just the file."""
        ...

    def steps(self, sample: int) -> Iterator[Step]:
        """What happens, in order; at most `sample` questions of each half."""
        ...


def is_held(path: str) -> bool:
    """Whether questions about a file are never used for tuning: half of all files, by their path."""
    return hashlib.blake2b(path.encode()).digest()[0] % 2 == 1


def sampled(questions: list[Question], sample: int) -> list[Question]:
    """At most `sample` questions of each half, always the same ones, in their order."""

    def drawn(question: Question) -> bytes:
        return hashlib.blake2b(question.text.encode("utf-8", "replace")).digest()

    chosen = {
        id(each)
        for held in (False, True)
        for each in sorted((q for q in questions if q.held is held), key=drawn)[:sample]
    }
    return [each for each in questions if id(each) in chosen]


def text_of(data: bytes) -> str | None:
    """A file's text; None for what no person reads."""
    if len(data) > MAX_BYTES or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def files_in(folder: Path, *endings: str) -> Iterator[tuple[str, str]]:
    """Names, from `folder` on, and texts of the files with one of the endings, in order."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in endings and path.is_file():
            text = text_of(path.read_bytes())
            if text is not None:
                yield path.relative_to(folder).as_posix(), text
