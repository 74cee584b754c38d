"""Searching the workspace by words or by meaning: the question and its answer, whoever gives it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from stet.workspace.snapshot import Snapshot


class SearchMode(StrEnum):
    """How passages are ranked."""

    HYBRID = "hybrid"
    """By words in all their forms, and by meaning where there is an index of it."""
    KEYWORD = "keyword"
    """By the words to the letter; case is ignored, `"quotes"` hold several together."""
    SEMANTIC = "semantic"
    """By meaning."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is looked for.

    Attributes:
        text: In the user's or the model's words.
        mode: How to rank.
        folder: Only below this folder; empty for everywhere.
        limit: At most so many passages.
    """

    text: str
    mode: SearchMode = SearchMode.HYBRID
    folder: str = ""
    limit: int = 40


@dataclass(frozen=True, slots=True)
class SearchPassage:
    """One place found.

    Attributes:
        uri: Of the file.
        name: What models and people call the file.
        line: 1-based.
        text: The line, without its end.
        score: Higher is better; comparable within one answer only.
        lexical_rank: Place of the file in the ranking by words, from 1; None if it is not in it.
        vector_rank: Place in the ranking by meaning; None where nobody ranked by it.
        first: The first line of all that was found, 0-based.
        end: The line behind its last.
        title: What is defined there, or the heading; empty for what is neither.
        why: Why it is here, in words for people.
    """

    uri: str
    name: str
    line: int
    text: str
    score: float
    lexical_rank: int | None = None
    vector_rank: int | None = None
    first: int = 0
    end: int = 0
    title: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The answer.

    Attributes:
        passages: The best first; those of one file together.
        n_more: How many others there are.
        used_vectors: Whether meaning had a say in the order.
        is_cut: Whether files were left out because there are too many.
        n_files_so_far: How many files the answer was looked for in, where the index is still being
            built; None where it is whole.
    """

    passages: tuple[SearchPassage, ...]
    n_more: int = 0
    used_vectors: bool = False
    is_cut: bool = False
    n_files_so_far: int | None = None


class Searcher(Protocol):
    """Answers questions about the files that may be shown, unsaved text included."""

    async def search(self, snapshot: Snapshot, query: SearchQuery) -> SearchResults:
        """Return the passages that fit best.

        Raises:
            PathRefused: If the folder is no name for something in the workspace.
        """
        ...
