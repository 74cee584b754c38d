"""The parts of an evaluation: files to index, and questions about them."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

MAX_BYTES = 1_000_000
"""The size limit in bytes: a person has not written a longer file."""
SAMPLE = 600
"""The number of questions of each half."""


@dataclass(frozen=True, slots=True)
class Change:
    """Files to add, by name, and files to remove."""

    put: dict[str, str] = field(default_factory=dict)
    drop: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its right answers.

    Attributes:
        text: The question in words.
        right: Names of right files: the answer is in one of them, or is all of them.
        line: The line of the answer, 0-based; None if any place is right.
        held: Whether the question is in the held-out half, which tuning must not use.
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
        """Tell whether an answer is a place in a file, and not just a file."""
        ...

    def steps(self, sample: int) -> Iterator[Step]:
        """Yield the steps in order; at most `sample` questions of each half."""
        ...


def is_held(path: str) -> bool:
    """Tell whether a file is in the held-out half of all files, which is chosen by path."""
    return hashlib.blake2b(path.encode()).digest()[0] % 2 == 1


def sampled(questions: list[Question], sample: int) -> list[Question]:
    """Return at most `sample` questions of each half, always the same ones, in order."""

    def drawn(question: Question) -> bytes:
        return hashlib.blake2b(question.text.encode("utf-8", "replace")).digest()

    chosen = {
        id(each)
        for held in (False, True)
        for each in sorted((q for q in questions if q.held is held), key=drawn)[:sample]
    }
    return [each for each in questions if id(each) in chosen]


def text_of(data: bytes) -> str | None:
    """Return a file's text; None if a person does not read it."""
    if len(data) > MAX_BYTES or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def files_in(folder: Path, *endings: str) -> Iterator[tuple[str, str]]:
    """Yield names relative to `folder` and texts of the files with one of the endings, in order."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in endings and path.is_file():
            text = text_of(path.read_bytes())
            if text is not None:
                yield path.relative_to(folder).as_posix(), text
