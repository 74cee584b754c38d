"""The query and the results of a search, and the search by words as a scan of the workspace.

Files are ranked by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009)
with the weights of fields included in the counts, as in BM25F: a word counts more in a heading, in
the name of a definition, and in the name of the file. Files with more of the different words are
preferred. The best lines of each file are returned. Files are read through `Snapshot.walk` and
`Snapshot.show`.
"""

import asyncio
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from pathlib import PurePosixPath
from typing import Protocol

from stet.outline.line_definitions import defined_name
from stet.privacy.redactor import Redactor
from stet.search.word_stems import folded_text, query_stems, stems
from stet.text.document import TextDocument
from stet.workspace.paths import Located
from stet.workspace.safe_excerpt import redactor_of
from stet.workspace.snapshot import Snapshot
from stet.workspace.walk import run_in_slices


class SearchMode(StrEnum):
    """The way to rank passages."""

    HYBRID = "hybrid"
    """By words in all their forms, and by meaning if there are vectors."""
    KEYWORD = "keyword"
    """By literal words; case is ignored, and `"quotes"` enclose a phrase."""
    SEMANTIC = "semantic"
    """By meaning."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search query.

    Attributes:
        text: The query in the user's or the model's words.
        mode: The way to rank passages.
        folder: Only below this folder; empty for everywhere.
        limit: The maximum number of passages.
    """

    text: str
    mode: SearchMode = SearchMode.HYBRID
    folder: str = ""
    limit: int = 40


@dataclass(frozen=True, slots=True)
class SearchPassage:
    """One passage found.

    Attributes:
        uri: The URI of the file.
        name: The displayed name of the file.
        line: The best line of the passage, 1-based.
        text: The text of this line, without its end.
        score: The score; higher is better, comparable within one answer only.
        lexical_rank: The rank of the passage, or of its file in a scan, by words, from 1; None if
            it is not in this ranking.
        vector_rank: The rank by meaning, from 1; None if it is not in this ranking.
        first: The first line of the passage, 0-based.
        end: The line after the last line of the passage, 0-based.
        title: The defined name, or the heading; empty if there is neither.
        why: The reason for the result, for people.
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
    """The results of a search.

    Attributes:
        passages: The passages found, the best first.
        n_more: The number of further passages.
        used_vectors: Whether the ranking by meaning was used.
        is_cut: Whether files were left out because there are too many.
        n_files_so_far: The number of files searched while the index is still being built; None if
            the index is complete.
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
            PathRefused: If the folder is not in the workspace.
        """
        ...


MAX_FILES = 20_000
"""The most files that are read in one search."""
MAX_CHARACTERS = 100_000_000
"""The most characters that are read in one search."""
LINES_PER_FILE = 4
"""The most lines that are returned of one file."""
MAX_LINES = 500
"""The most matching lines of one file that are scored."""
MAX_LINE = 1000
"""The most code points of a line that are scored."""
MAX_TERMS = 32

_SATURATION = 1.2
_LENGTH_SHARE = 0.5
_IN_TITLE = 3.0
_IN_FILE_NAME = 4.0
_IN_FOLDER_NAME = 1.5
_PART_OF_WORD = 0.25
_PHRASE = 1.5
_LITERAL = re.compile(r'"([^"]+)"|(\S+)')
_WHY = "found by words"
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")


@dataclass(frozen=True, slots=True)
class _ScoredLine:
    """A line with the weight of each term in the line."""

    number: int
    text: str
    weights: tuple[float, ...]
    has_phrase: bool


@dataclass(frozen=True, slots=True)
class _ScoredFile:
    """A file with the weight of each term in the file."""

    located: Located
    size: int
    weights: tuple[float, ...]
    lines: tuple[_ScoredLine, ...]


@dataclass(slots=True)
class _Tally:
    """The totals over all files that the ranking needs."""

    n_files: int = 0
    n_characters: int = 0
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class WordSearcher:
    """A searcher that ranks by words in every mode, as it has no vectors, and reports this."""

    async def search(self, snapshot: Snapshot, query: SearchQuery) -> SearchResults:
        """See `Searcher.search`."""
        query_terms = _QueryTerms.parse(query)
        tally = _Tally()
        files = await run_in_slices(
            _scan(snapshot, query.folder, query_terms, tally), snapshot.system
        )
        matched = [file for file in files if file is not None]
        passages = await asyncio.to_thread(_rank, matched, tally, len(query_terms.terms))
        shown = passages[: query.limit]
        return SearchResults(tuple(shown), len(passages) - len(shown), is_cut=tally.is_cut)


@dataclass(frozen=True)
class _QueryTerms:
    """The terms of a question.

    Attributes:
        terms: Stems, or literal texts; all folded.
        is_literal: Whether the terms are literal.
        phrase: The question as written, folded.
        pattern: Matches any of the terms.
    """

    terms: tuple[str, ...]
    is_literal: bool
    phrase: str
    pattern: re.Pattern[str] = field(repr=False)

    @classmethod
    def parse(cls, query: SearchQuery) -> "_QueryTerms":
        found = [] if query.mode is SearchMode.KEYWORD else query_stems(query.text)
        is_literal = not found
        if is_literal:
            found = [folded_text(one or other) for one, other in _LITERAL.findall(query.text)]
        found = list(dict.fromkeys(found))[:MAX_TERMS] or [folded_text(query.text)]
        phrase = " ".join(folded_text(query.text).replace('"', " ").split())
        return cls(tuple(found), is_literal, phrase, re.compile("|".join(map(re.escape, found))))

    def weigh(self, text: str) -> tuple[float, ...]:
        """Return the weight of each term in `text`: its number, or less for a part of a word."""
        folded = folded_text(text)
        if self.is_literal:
            return tuple(float(folded.count(term)) for term in self.terms)
        words = stems(text)
        return tuple(float(words.count(term)) or _part_weight(term, folded) for term in self.terms)


def _part_weight(term: str, folded: str) -> float:
    """Return the weight of a term that occurs only as a part of a word."""
    # A short term is in nearly every text, unless its script has no spaces.
    is_telling = len(term) > 3 or not term.isascii()
    return _PART_OF_WORD if is_telling and term in folded else 0.0


def _scan(
    snapshot: Snapshot, folder: str, query_terms: _QueryTerms, tally: _Tally
) -> Iterator[_ScoredFile | None]:
    """Yield each file with its score, or None for a file without the terms. Blocks on the disk."""
    redactor = redactor_of(snapshot)
    for located in snapshot.walk(folder):
        if tally.n_files >= MAX_FILES or tally.n_characters >= MAX_CHARACTERS:
            tally.is_cut = True
            return
        document = snapshot.show_or_none(located.uri)
        if document is None:
            continue  # the file may have been deleted since it was listed
        tally.n_files += 1
        tally.n_characters += 0 if document.is_large else len(document.text)
        yield _score_document(located, document, query_terms, redactor)


def _redact_document(document: TextDocument, redactor: Redactor) -> TextDocument:
    """Return a redacted document that may be shown; it has the same lines."""
    text = redactor.redact(document.text).text
    return document if text == document.text else TextDocument(document.uri, text)


def _score_document(
    located: Located, document: TextDocument, query_terms: _QueryTerms, redactor: Redactor | None
) -> _ScoredFile | None:
    in_path = _path_weights(located.name, query_terms)
    lines: tuple[_ScoredLine, ...] = ()
    # A very long text is found only by its name, like a file of this size on the disk.
    if not document.is_large and query_terms.pattern.search(folded_text(document.text)) is not None:
        # Search the redacted text: otherwise, searches could find out a key letter by letter.
        redacted = document if redactor is None else _redact_document(document, redactor)
        lines = tuple(islice(_lines(redacted, document, query_terms), MAX_LINES))
    weights = tuple(map(sum, zip(in_path, *(line.weights for line in lines), strict=True)))
    if not any(weights):
        return None
    if not lines:  # found only by its name: the first line represents it
        first = next((n for n, line in enumerate(document.lines) if line.strip()), 0)
        text, nothing = document.lines[first][:MAX_LINE], (0.0,) * len(query_terms.terms)
        lines = (_ScoredLine(first + 1, text, nothing, has_phrase=False),)
    return _ScoredFile(located, 0 if document.is_large else len(document.text), weights, lines)


def _path_weights(name: str, query_terms: _QueryTerms) -> tuple[float, ...]:
    path = PurePosixPath(name)
    stem_weights, above = query_terms.weigh(path.stem), query_terms.weigh(str(path.parent))
    return tuple(
        _IN_FILE_NAME * min(here, 1.0) + _IN_FOLDER_NAME * min(there, 1.0)
        for here, there in zip(stem_weights, above, strict=True)
    )


def _lines(
    redacted: TextDocument, document: TextDocument, query_terms: _QueryTerms
) -> Iterator[_ScoredLine]:
    for number, line in enumerate(redacted.lines, 1):
        text = line[:MAX_LINE]
        folded = folded_text(text)
        if query_terms.pattern.search(folded) is None:
            continue
        weights = query_terms.weigh(text)
        if any(weights):
            factor = _IN_TITLE if _is_title(text, redacted) else 1.0
            phrase = len(query_terms.terms) > 1 and query_terms.phrase in " ".join(folded.split())
            source_line = document.lines[number - 1][:MAX_LINE]
            weights = tuple(factor * weight for weight in weights)
            yield _ScoredLine(number, source_line, weights, phrase)


def _is_title(line: str, document: TextDocument) -> bool:
    """Return whether a line is a heading, or begins a definition."""
    if document.is_markdown:
        return _HEADING.match(line) is not None
    return defined_name(line) is not None


def _rank(files: Sequence[_ScoredFile], tally: _Tally, n_terms: int) -> list[SearchPassage]:
    n_with = [sum(file.weights[nth] > 0 for file in files) for nth in range(n_terms)]
    rarity = [math.log(1 + (tally.n_files - n + 0.5) / (n + 0.5)) for n in n_with]
    usual = max(1.0, tally.n_characters / max(1, tally.n_files))
    scored = sorted(
        ((_score(file, rarity, usual), file) for file in files),
        key=lambda each: (-each[0], each[1].located.name),
    )
    found: list[SearchPassage] = []
    for rank, (score, file) in enumerate(scored, 1):
        best = sorted(file.lines, key=lambda line: (-_line_score(line, rarity), line.number))
        uri, name = file.located.uri, file.located.name
        for line in best[:LINES_PER_FILE]:
            at = line.number
            found.append(
                SearchPassage(uri, name, at, line.text, score, rank, first=at - 1, end=at, why=_WHY)
            )
    return found


def _score(file: _ScoredFile, rarity: Sequence[float], usual: float) -> float:
    length = 1 - _LENGTH_SHARE + _LENGTH_SHARE * file.size / usual
    total = sum(
        rare * weight * (_SATURATION + 1) / (weight + _SATURATION * length)
        for rare, weight in zip(rarity, file.weights, strict=True)
    )
    met = sum(rare * min(1.0, each) for rare, each in zip(rarity, file.weights, strict=True))
    phrase = _PHRASE if any(line.has_phrase for line in file.lines) else 1.0
    return total * phrase * met / max(sum(rarity), 1e-9)


def _line_score(line: _ScoredLine, rarity: Sequence[float]) -> float:
    # Different words matter more than repeated ones.
    met = sum(
        rare * weight / (weight + 0.5) for rare, weight in zip(rarity, line.weights, strict=True)
    )
    return met * (_PHRASE if line.has_phrase else 1.0)
