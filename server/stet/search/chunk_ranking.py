"""Which of the chunks found are the answer: two rankings that err differently, and rules.

Weighted reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009) of the ranking by words
and of that by meaning; added to it is what a rule can tell: how much of the question a chunk covers,
and where. The weights were fitted by `tests/eval`, on the half of its data that is for that; a name
says something else in code than in notes, so there are two sets of them.

Neither a file whose passages all read alike, nor a text that was copied into many files, takes all
places of a ranking (`diversify`): a table of a hundred thousand lines or a vendored copy would push
out the file that is asked for. A ranking of a hundred places over the source of large packages names
18 files at least, and mostly 50; so only one that names fewer than ten is asked again, without what
takes too much of it.
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
"""How slowly a rank loses weight with its number."""
_FEW = 3
_ONE_IN = 50
"""A word in at most `_FEW` chunks, or one chunk in `_ONE_IN`, decides which chunk is meant.

A word in twice as many decides half.
"""
MAX_EXPLAINED = 5
"""Words of the question that a reason names for each place."""
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
"""Files that nobody writes, or that repeat other files: translations, locks, change logs."""

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
"""The weights of each feature of a chunk: for a chunk that defines something, and for all other chunks
(notes, and text between definitions).

    by_words: The reciprocal of its rank by words.
    by_meaning: The reciprocal of its rank by meaning.
    cosine: Its similarity in meaning.
    relevance: Its score by words, as a share of the best score.
    cover: The share of the question that is anywhere in the chunk, its path included.
    in_name: The share of the question that is in its name.
    name_in: The share of its name that is in the question.
    in_head: The share of the question that is in its head and not in its name.
    in_path: The share of the question that is in its path.
    file_in: The share of its file's name that is in the question.
    rarest: The weight of the rarest word in its name.
    phrase: The share of adjacent words of the question that are adjacent in its text.
    first: Whether the question begins with a word of its name.
    size: The logarithm of its length.
    neighbours: How well other chunks of its file rank.
    by_file: The reciprocal of the rank of its file.
    file_named: How much of the question its file's path contains, as a share of the best path.
    file_cover: The share of the question that is anywhere in its file, the path included.
    subject: The share of the question's subject that is in its file's path.
    file_size: The logarithm of the number of chunks of its file.
    definition: Whether the chunk is a definition.
    hidden: Whether its name begins with an underscore.
    tests: Whether the chunk is in a test, and the question is not about tests.
    vendored: Whether the chunk is third-party code.
    generated: Whether its file is generated, and the question does not name the file.
"""
_OF_DEFINITIONS, _OF_OTHERS = zip(*WEIGHTS.values(), strict=True)


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A question, ready for comparison.

    Attributes:
        rarity: The weight of each of its words, in order.
        words: All of its words.
        spaced: The same words, each as it occurs in a field that begins and ends with a space.
        spellings: The words as they were written.
        certain: The share of the answer that each rare word decides by itself, from 0 to 1: its
            weight, of the weight of all words that occur anywhere.
        total: The weight of all its words together.
        highest: The weight of its rarest word.
        first: Its first word.
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
        """Prepare the question whose words are in `frequencies` chunks each, of `n_chunks`."""
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
    """The ranks of a chunk, from 1; None if the chunk was not found.

    Attributes:
        by_words: Its rank by words.
        by_meaning: Its rank by meaning.
        cosine: Its similarity in meaning.
        best_cosine: The similarity of the chunk that is nearest in meaning.
        relevance: Its score by words, as a share of the best score.
        neighbours: How well other chunks of its file rank.
        file: The rank of its file.
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


def features(asked: PreparedQuery, row: ChunkRow, ranks: ChunkRanks) -> tuple[float, ...]:
    """Return what is known of a chunk, in the order of `WEIGHTS`."""
    name, head, path, body = f" {row.name} ", f" {row.head} ", f" {row.path} ", f" {row.body} "
    in_path, in_name, in_head, covered, rarest, certain = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for spaced, weight in asked.spaced:
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
            certain += asked.certain.get(spaced.strip(" "), 0.0)
    file_names, tests, vendored, generated = _of_file(row.file)
    file_in = _share(file_names, asked)
    names = set(row.name.split())
    total = asked.total
    return (
        _reciprocal(ranks.by_words),
        _toward(1.0, _reciprocal(ranks.by_meaning), certain),
        _toward(max(ranks.best_cosine, ranks.cosine), ranks.cosine, certain),
        ranks.relevance,
        covered / total,
        in_name / total,
        _share(names, asked),
        in_head / total,
        in_path / total,
        file_in,
        rarest / asked.highest,
        sum([pair in body for pair in asked.pairs]) / (len(asked.pairs) or 1),
        float(asked.first in names),
        math.log(len(body) - 1),
        ranks.neighbours,
        _reciprocal(ranks.file.place),
        ranks.file.named,
        ranks.file.cover,
        ranks.file.subject,
        math.log1p(ranks.file.n_chunks),
        float(row.is_definition),
        float(row.title.startswith("_")),
        float(tests and "test" not in asked.rarity),
        float(vendored),
        float(generated and not file_in),
    )


def _toward(best: float, value: float, certain: float) -> float:
    """Return a value of the ranking by meaning, nearer to the best value the more the words decide.

    Cosines of one embedding are ten times as far apart as those of another, and vectors may say
    nothing at all: no vector may outrank the only chunk that has the word of the question. The
    square leaves long questions, whose words decide little each, as they are.
    """
    return value + (best - value) * certain * certain


def _share(words_: Set[str], asked: PreparedQuery) -> float:
    """Return which share of some words is asked for."""
    return len(words_ & asked.words) / len(words_) if words_ else 0.0


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


def score(asked: PreparedQuery, row: ChunkRow, ranks: ChunkRanks) -> float:
    """Return how good an answer a chunk is; higher is better, comparable within one question."""
    weights = _OF_DEFINITIONS if row.is_definition else _OF_OTHERS
    value: float = sum(map(operator.mul, features(asked, row, ranks), weights))
    return value


def explain(asked: PreparedQuery, row: ChunkRow, ranks: ChunkRanks) -> str:
    """Return why a chunk is among the answers, for people: `named user, names; meaning`."""
    reasons = []
    where = (("named", row.name), ("in its head", row.head), ("path", row.path), ("text", row.body))
    left = [spaced for spaced, _ in asked.spaced]
    for word, field in where:
        text = f" {field} "
        here = [spaced for spaced in left if spaced in text]
        if here:
            left = [spaced for spaced in left if spaced not in here]
            shown = dict.fromkeys(
                asked.spellings[spaced.strip(" ")] for spaced in here[:MAX_EXPLAINED]
            )
            reasons.append(f"{word}: {', '.join(shown)}")
    if ranks.by_meaning is not None:
        reasons.append(f"near in meaning (no. {ranks.by_meaning})")
    return "; ".join(reasons)


SHARE = 10
"""A ranking with fewer files, or texts, than one in so many places limits each of them.

Each then gets at most one in so many places."""
ROUNDS = 6
"""How often a ranking is asked again: a person waits for the answer."""
IN_ANSWER = 4
"""Passages of one file in an answer."""
SAME_IN_ANSWER = 2
"""Passages with the same text in an answer."""


def diversify(
    first: Ranking,
    limit: int,
    rows: dict[int, ChunkRow],
    fetch: Callable[[Sequence[int]], Mapping[int, ChunkRow]],
    again: Callable[[Exclusion], Ranking],
) -> Ranking:
    """Return a ranking in which no file and no text has more than its share of the places.

    Args:
        first: The original ranking.
        limit: The number of places; a shorter ranking has displaced nothing.
        rows: The known chunks, including those of the ranking; others are added.
        fetch: Returns chunks by their id.
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
        # Of a text that is in a file left out, or the other way round, places may come twice.
        best = dict(sorted(others, key=lambda each: (-each[1], each[0])))
        found = list(best.items())[:limit]
        rows.update(fetch([chunk for chunk, _ in found if chunk not in rows]))
    return found


def _limit_shares(
    ranking: Ranking, most: int, rows: Mapping[int, ChunkRow]
) -> tuple[Ranking, Exclusion]:
    """Return what stays of a ranking, and what had too many places. More than `most` places are too
    many where there are too few others.
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
    """Return whether there are `enough` different ones; told by the first few of nearly every
    ranking.
    """
    seen: set[str] = set()
    for one in each:
        seen.add(one)
        if len(seen) >= enough:
            return True
    return False


def _over(counted: Counter[str], most: int) -> frozenset[str]:
    """Return what is counted more than `most` times, if there are only a few others."""
    if len(counted) >= most:
        return frozenset()
    return frozenset(each for each, n in counted.items() if n > most)


def deduplicate(chunks: Iterable[int], rows: Mapping[int, ChunkRow]) -> list[int]:
    """Return some chunks, with only the first of the chunks that have equal texts."""
    first: dict[str, int] = {}
    for chunk in chunks:
        first.setdefault(rows[chunk].text, chunk)
    return list(first.values())


def cap_per_file(rows: Iterable[ChunkRow]) -> Iterator[ChunkRow]:
    """Yield those of some chunks, the best first, that are an answer: few of one file, fewer that
    read the same.
    """
    n_of_file: Counter[str] = Counter()
    n_of_text: Counter[str] = Counter()
    for row in rows:
        if n_of_file[row.uri] < IN_ANSWER and n_of_text[row.text] < SAME_IN_ANSWER:
            n_of_file[row.uri] += 1
            n_of_text[row.text] += 1
            yield row
