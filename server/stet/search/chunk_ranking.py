"""The final ranking of the found chunks, from two rankings and from features of each chunk.

The score is a weighted reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009) of the
ranking by words and the ranking by meaning, plus weighted features: how much of the question a
chunk covers, and in which field. The weights were fitted by `tests/eval` on the training half of
its data. Names matter differently in code and in notes, so there are two sets of weights.

`diversify` keeps a file of similar passages, or a text that was copied into many files, from taking
all places of a ranking: a table of a hundred thousand lines or a vendored copy would displace the
right file. A ranking of a hundred places over the source of large packages has at least 18 files,
and usually 50; so only a ranking with fewer than ten files is made again, without those that have
too many places.
"""

import math
import operator
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

from stet.search.chunk import NO_EXCLUSION, ChunkRow, Exclusion, words
from stet.search.file_ranker import FileRank, FileRanker
from stet.search.lexical_ranker import Ranking

_K = 20
"""The constant of reciprocal rank fusion: the larger, the slower the weight of a rank falls."""
_FEW = 3
_ONE_IN = 50
"""A word in at most `_FEW` chunks, or in one chunk of `_ONE_IN`, certainly names the right chunk.

A word in twice as many chunks is half as certain.
"""
MAX_EXPLAINED = 5
"""The most words of the question that an explanation names for each field."""
_TESTS = re.compile(
    r"(^|/)(tests?|testing|specs?|__tests__|fixtures?)/|(^|/)(test_|conftest\.)|[._](test|spec)\."
)
_VENDORED = re.compile(
    r"(^|/)(_?vendor(ed)?|third[_-]?party|node_modules|external|dist|build)/|[.-]min\."
)
_GENERATED = re.compile(
    r"\.(po|pot|lock|map|svg|snap|sum)$|(^|/)package-lock\.json$|(^|/)(changelog|changes|news)(\.(md|rst|txt))?$",
    re.IGNORECASE,
)
"""Generated files and files that repeat others: translations, lock files, change logs."""

WEIGHTS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "by_words": (1.05, 1.92),
        "by_meaning": (0.53, 0.98),
        "cosine": (9.44, 7.24),
        "relevance": (-0.17, 1.15),
        "cover": (4.6, 1.35),
        "in_name": (2.95, 2.02),
        "name_in": (1.29, 2.27),
        "in_head": (3.97, -2.5),
        "in_path": (-6.38, 2.23),
        "file_in": (-0.82, 1.33),
        "rarest": (-0.02, -4.19),
        "phrase": (2.01, 1.29),
        "first": (1.06, -0.01),
        "size": (-0.01, 0.22),
        "neighbours": (0.13, -0.28),
        "by_file": (0.62, -0.51),
        "file_named": (1.21, 0.83),
        "file_cover": (3.09, -0.04),
        "subject": (3.73, 5.4),
        "file_size": (-0.16, 0.24),
        "definition": (1.79, 0.0),
        "hidden": (-0.36, -3.28),
        "tests": (-0.6, -0.61),
        "vendored": (-0.3, -1.22),
        "generated": (0.0, -4.06),
    }
)
"""The weights of each feature of a chunk: for a chunk that is a definition, and for other chunks
(notes, and text between definitions).

    by_words: The reciprocal of the chunk's rank by words.
    by_meaning: The reciprocal of the chunk's rank by meaning.
    cosine: The cosine similarity of the chunk and the question.
    relevance: The chunk's score by words, as a share of the best score.
    cover: The share of the question that is anywhere in the chunk, its path included.
    in_name: The share of the question that is in the chunk's name.
    name_in: The share of the chunk's name that is in the question.
    in_head: The share of the question that is in the chunk's head and not in its name.
    in_path: The share of the question that is in the chunk's path.
    file_in: The share of the file's name that is in the question.
    rarest: The weight of the rarest word in the chunk's name.
    phrase: The share of adjacent words of the question that are adjacent in the chunk's text.
    first: Whether the question begins with a word of the chunk's name.
    size: The logarithm of the chunk's length.
    neighbours: How well other chunks of the file rank.
    by_file: The reciprocal of the file's rank.
    file_named: How much of the question the file's path contains, relative to the best path.
    file_cover: The share of the question that is anywhere in the file, the path included.
    subject: The share of the question's subject that is in the file's path.
    file_size: The logarithm of the number of chunks of the file.
    definition: Whether the chunk is a definition.
    hidden: Whether the chunk's name begins with an underscore.
    tests: Whether the chunk is in a test, and the question is not about tests.
    vendored: Whether the chunk is third-party code.
    generated: Whether the file is generated, and the question does not name the file.
"""
_OF_DEFINITIONS, _OF_OTHERS = zip(*WEIGHTS.values(), strict=True)


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A question, ready for comparison.

    Attributes:
        rarity: The weight of each word of the question, in order.
        words: All words of the question.
        spaced: Each word between spaces, as it occurs in a field, with its weight.
        spellings: By word, the word as written.
        certain: By word, how certainly it names the right chunk, times its share of the weight of
            all words that occur anywhere; from 0 to 1.
        total: The weight of all words together.
        highest: The weight of the rarest word.
        first: The first word.
        pairs: Adjacent words, as they occur in a text.
    """

    rarity: Mapping[str, float]
    words: frozenset[str]
    spaced: Sequence[tuple[str, float]]
    spellings: Mapping[str, str]
    certain: Mapping[str, float]
    total: float
    highest: float
    first: str | None
    pairs: Sequence[str]

    @classmethod
    def prepare(
        cls, spellings: Mapping[str, str], frequencies: Mapping[str, int], n_chunks: int
    ) -> "PreparedQuery":
        """Prepare a question.

        Args:
            spellings: By word of the question, the word as written.
            frequencies: By word, the number of chunks that contain it.
            n_chunks: The number of all chunks.
        """
        rarity = {
            term: math.log(1 + (n_chunks - n + 0.5) / (n + 0.5)) for term, n in frequencies.items()
        }
        found = {term: n for term, n in frequencies.items() if n}
        in_all = sum(rarity[term] for term in found) or 1.0
        few = min(_FEW, n_chunks / _ONE_IN)
        return cls(
            rarity,
            frozenset(rarity),
            [(f" {term} ", weight) for term, weight in rarity.items()],
            spellings,
            {term: min(1.0, few / n) * rarity[term] / in_all for term, n in found.items()},
            total=sum(rarity.values()) or 1.0,
            highest=max(rarity.values(), default=1.0),
            first=next(iter(rarity), None),
            pairs=[f" {first} {second} " for first, second in pairwise(rarity)],
        )


class ChunkRanks(NamedTuple):
    """The ranks of a chunk, from 1; None if the chunk is not in a ranking.

    Attributes:
        by_words: The rank by words.
        by_meaning: The rank by meaning.
        cosine: The cosine similarity of the chunk and the question.
        best_cosine: The highest cosine similarity of any chunk.
        relevance: The score by words, as a share of the best score.
        neighbours: How well other chunks of the file rank.
        file: The rank of the file.
    """

    by_words: int | None
    by_meaning: int | None
    cosine: float = 0.0
    best_cosine: float = 0.0
    relevance: float = 0.0
    neighbours: float = 0.0
    file: FileRank = FileRank()


def rank_chunks(
    rows: Mapping[int, ChunkRow],
    by_words: Ranking,
    by_meaning: Ranking,
    cosines: Mapping[int, float],
    files: FileRanker,
) -> list[tuple[ChunkRow, ChunkRanks]]:
    """Return the ranks of each of the chunks `rows`."""
    placed = {chunk: place for place, (chunk, _) in enumerate(by_words, 1)}
    meaning = {chunk: place for place, (chunk, _) in enumerate(by_meaning, 1)}
    scores = dict(by_words)
    best = by_words[0][1] if by_words else 0.0
    nearest = max(cosines.values(), default=0.0)
    alone = {
        chunk: _reciprocal(placed.get(chunk)) + _reciprocal(meaning.get(chunk)) for chunk in rows
    }
    of_file: defaultdict[str, float] = defaultdict(float)
    for chunk, row in rows.items():
        of_file[row.uri] += alone[chunk]
    return [
        (
            row,
            ChunkRanks(
                placed.get(chunk),
                meaning.get(chunk),
                cosines.get(chunk, 0.0),
                nearest,
                scores.get(chunk, 0.0) / best if best > 0 else 0.0,
                math.log1p(of_file[row.uri] - alone[chunk]),
                files.rank(chunk),
            ),
        )
        for chunk, row in rows.items()
    ]


def features(query: PreparedQuery, row: ChunkRow, ranks: ChunkRanks) -> tuple[float, ...]:
    """Return the features of a chunk, in the order of `WEIGHTS`."""
    name, head, path, body = f" {row.name} ", f" {row.head} ", f" {row.path} ", f" {row.body} "
    in_path, in_name, in_head, covered, rarest, certain = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for spaced, weight in query.spaced:
        known = True
        if spaced in name:
            in_name += weight
            rarest = max(rarest, weight)
        elif spaced in head:
            in_head += weight
        else:
            known = False
        if spaced in path:
            in_path += weight
            known = True
        if known or spaced in body:
            covered += weight
            certain += query.certain.get(spaced.strip(" "), 0.0)
    file_names, tests, vendored, generated = _of_file(row.file)
    file_in = _share(file_names, query)
    names = set(row.name.split())
    total = query.total
    return (
        _reciprocal(ranks.by_words),
        _toward(1.0, _reciprocal(ranks.by_meaning), certain),
        _toward(max(ranks.best_cosine, ranks.cosine), ranks.cosine, certain),
        ranks.relevance,
        covered / total,
        in_name / total,
        _share(names, query),
        in_head / total,
        in_path / total,
        file_in,
        rarest / query.highest,
        sum([pair in body for pair in query.pairs]) / (len(query.pairs) or 1),
        float(query.first in names),
        math.log(len(body) - 1),
        ranks.neighbours,
        _reciprocal(ranks.file.place),
        ranks.file.named,
        ranks.file.cover,
        ranks.file.subject,
        math.log1p(ranks.file.n_chunks),
        float(row.is_definition),
        float(row.title.startswith("_")),
        float(tests and "test" not in query.rarity),
        float(vendored),
        float(generated and not file_in),
    )


def _toward(best: float, value: float, certain: float) -> float:
    """Return a value of the ranking by meaning, moved towards the best value by `certain`.

    The cosines of one embedding may be ten times as far apart as those of another, and vectors may
    be meaningless: no vector may outrank the only chunk with the word of the question. Because of
    the square, long questions, in which no word is certain, are hardly affected.
    """
    return value + (best - value) * certain * certain


def _share(words_: Set[str], query: PreparedQuery) -> float:
    """Return the share of `words_` that are in the question."""
    return len(words_ & query.words) / len(words_) if words_ else 0.0


@lru_cache(maxsize=10_000)
def _of_file(file: str) -> tuple[frozenset[str], bool, bool, bool]:
    """Return the words of a file's name, and whether the file is a test, vendored, or generated."""
    return (
        frozenset(words(PurePosixPath(file).stem).split()),
        _TESTS.search(file) is not None,
        _VENDORED.search(file) is not None,
        _GENERATED.search(file) is not None,
    )


def _reciprocal(rank: int | None) -> float:
    return 0.0 if rank is None else _K / (_K + rank - 1)


def score(query: PreparedQuery, row: ChunkRow, ranks: ChunkRanks) -> float:
    """Return the score of a chunk; higher is better, comparable within one question."""
    weights = _OF_DEFINITIONS if row.is_definition else _OF_OTHERS
    value: float = sum(map(operator.mul, features(query, row, ranks), weights))
    return value


def explain(query: PreparedQuery, row: ChunkRow, ranks: ChunkRanks) -> str:
    """Return why a chunk was found, for people: `named: user, names; near in meaning (no. 3)`."""
    reasons = []
    where = (
        ("named", row.name),
        (("in its heading"), row.head),
        ("path", row.path),
        ("text", row.body),
    )
    left = [spaced for spaced, _ in query.spaced]
    for word, field in where:
        text = f" {field} "
        here = [spaced for spaced in left if spaced in text]
        if here:
            left = [spaced for spaced in left if spaced not in here]
            shown = dict.fromkeys(
                query.spellings[spaced.strip(" ")] for spaced in here[:MAX_EXPLAINED]
            )
            reasons.append(f"{word}: {', '.join(shown)}")
    if ranks.by_meaning is not None:
        reasons.append(f"similar meaning (no. {ranks.by_meaning})")
    return "; ".join(reasons)


SHARE = 10
"""If a ranking of n places has fewer than n / SHARE different files, or texts, each of them gets at
most n / SHARE places."""
ROUNDS = 6
"""The most times that a ranking is made again, as a person waits for the answer."""
IN_ANSWER = 4
"""The most passages of one file in an answer."""
SAME_IN_ANSWER = 2
"""The most passages with the same text in an answer."""


def diversify(
    first: Ranking,
    limit: int,
    rows: dict[int, ChunkRow],
    fetch: Callable[[Sequence[int]], Mapping[int, ChunkRow]],
    again: Callable[[Exclusion], Ranking],
) -> Ranking:
    """Return a ranking in which no file and no text has too many places; see `SHARE`.

    Args:
        first: The original ranking.
        limit: The number of places; a shorter ranking has all found chunks and stays unchanged.
        rows: The known chunks, including those of the ranking; other chunks are added.
        fetch: Returns chunks by id.
        again: Makes the ranking again without some files and texts.
    """
    found, without = first, NO_EXCLUSION
    for _ in range(ROUNDS):
        if len(found) < limit:
            break
        within, over = _limit_shares(found, limit // SHARE, rows)
        if not any(over):
            break
        without = Exclusion(without.uris | over.uris, without.texts | over.texts)
        others = [*within, *again(without)]
        # A chunk of an excluded file may have an excluded text, or the other way round, so that it
        # is in both rankings.
        best = dict(sorted(others, key=lambda each: (-each[1], each[0])))
        found = list(best.items())[:limit]
        rows.update(fetch([chunk for chunk, _ in found if chunk not in rows]))
    return found


def _limit_shares(
    ranking: Ranking, most: int, rows: Mapping[int, ChunkRow]
) -> tuple[Ranking, Exclusion]:
    """Return the ranking with at most `most` places for each file or text, and the limited ones.

    Files are limited only if there are fewer than `most` of them, and so are texts.
    """
    if _has_many((rows[chunk].uri for chunk, _ in ranking), most) and _has_many(
        (rows[chunk].text for chunk, _ in ranking), most
    ):
        return ranking, NO_EXCLUSION
    n_of_file = Counter(rows[chunk].uri for chunk, _ in ranking)
    n_of_text = Counter(rows[chunk].text for chunk, _ in ranking)
    over = Exclusion(_over(n_of_file, most), _over(n_of_text, most))
    within: list[tuple[int, float]] = []
    left = Counter(dict.fromkeys((*over.uris, *over.texts), most))
    for chunk, score in ranking:
        named = {rows[chunk].uri} & over.uris | {rows[chunk].text} & over.texts
        if all(left[each] for each in named):
            within.append((chunk, score))
            left.subtract(named)
    return within, over


def _has_many(each: Iterable[str], enough: int) -> bool:
    """Return whether `each` has `enough` different items; usually the first few items suffice."""
    seen: set[str] = set()
    for one in each:
        seen.add(one)
        if len(seen) >= enough:
            return True
    return False


def _over(counted: Counter[str], most: int) -> frozenset[str]:
    """Return the items counted more than `most` times, if there are fewer than `most` items."""
    if len(counted) >= most:
        return frozenset()
    return frozenset(each for each, n in counted.items() if n > most)


def deduplicate(chunks: Iterable[int], rows: Mapping[int, ChunkRow]) -> list[int]:
    """Return the chunks, but only the first of those with equal texts."""
    first: dict[str, int] = {}
    for chunk in chunks:
        first.setdefault(rows[chunk].text, chunk)
    return list(first.values())


def cap_per_file(rows: Iterable[ChunkRow]) -> Iterator[ChunkRow]:
    """Yield chunks in order; at most `IN_ANSWER` of a file and `SAME_IN_ANSWER` of equal text."""
    n_of_file: Counter[str] = Counter()
    n_of_text: Counter[str] = Counter()
    for row in rows:
        if n_of_file[row.uri] < IN_ANSWER and n_of_text[row.text] < SAME_IN_ANSWER:
            n_of_file[row.uri] += 1
            n_of_text[row.text] += 1
            yield row
