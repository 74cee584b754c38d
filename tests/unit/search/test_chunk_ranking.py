"""Which of the passages found are the answer."""

from collections import defaultdict
from typing import Any

import pytest

from stet.search.chunk import ChunkRow
from stet.search.chunk_ranking import (
    WEIGHTS,
    ChunkRanks,
    PreparedQuery,
    explain,
    features,
    rank_chunks,
    score,
)
from stet.search.file_ranker import ChunkSpans, FileRank, FileRanker

ASKED = PreparedQuery.prepare({"pars": "parse", "dat": "dates"}, {"pars": 10, "dat": 3}, 100)
ROW = ChunkRow(
    1, "file:///src/app.py", "src/app.py", 0, 9, "parse", "", 1, "src app", "pars", "def pars",
    "def pars text dat",
)  # fmt: skip
FILE = FileRank(place=3, named=0.7, cover=0.7, subject=1.0, n_chunks=9)
RANKS = ChunkRanks(by_words=3, by_meaning=5, cosine=0.4, relevance=0.7, file=FILE)


def value(ranks: ChunkRanks = RANKS, asked: PreparedQuery = ASKED, **changed: Any) -> float:
    return score(asked, ROW._replace(**changed), ranks)


def test_every_feature_has_a_weight() -> None:
    assert len(features(ASKED, ROW, RANKS)) == len(WEIGHTS)


def test_rare_word_has_a_higher_weight() -> None:
    assert ASKED.rarity["dat"] > ASKED.rarity["pars"] > 0


@pytest.mark.parametrize(
    "worse",
    [
        {"ranks": RANKS._replace(by_words=30)},
        {"ranks": RANKS._replace(by_words=None, relevance=0.0)},
        {"ranks": RANKS._replace(cosine=0.1)},
        {"ranks": RANKS._replace(file=FILE._replace(subject=0.0))},
        {"ranks": RANKS._replace(file=FILE._replace(cover=0.1))},
        {"ranks": RANKS._replace(file=FILE._replace(named=0.1))},
        {"body": "def pars text"},
        {"name": "read", "title": "read"},
        {"name": "pars mor things too", "title": "parse_more_things_too"},
        {"file": "tests/app.py"},
        {"file": "src/__tests__/app.ts"},
        {"file": "src/_vendor/app.py"},
        {"file": "node_modules/app/index.js"},
    ],
)
def test_a_passage_is_lower_that(worse: dict[str, Any]) -> None:
    assert value(**worse) < value()


@pytest.mark.parametrize("file", ["locale/app.po", "CHANGELOG.md", "package-lock.json"])
def test_lock_files_and_changelogs_rank_lower_unless_they_are_asked_for(file: str) -> None:
    assert value(file=file, is_definition=0) < value(file="src/other.py", is_definition=0)
    asked = PreparedQuery.prepare(
        {"lock": "lock", "de": "de", "changelog": "changelog"},
        {"lock": 1, "de": 1, "changelog": 1},
        9,
    )
    assert features(asked, ROW._replace(file=file), RANKS)[-1] == float(file == "locale/app.po")


def test_tests_are_not_lower_for_a_question_about_tests() -> None:
    asked = PreparedQuery.prepare({"test": "tests"}, {"test": 1}, 10)
    assert value(asked=asked, file="tests/app.py") == value(asked=asked)


@pytest.mark.parametrize(
    "file", ["src/latest/app.py", "contest/app.py", "distance/app.py", "news/app.py"]
)
def test_a_name_that_only_looks_alike_costs_nothing(file: str) -> None:
    assert value(file=file) == value()


def test_rank_of_a_chunk_is_known_for_each_ranking() -> None:
    rows = {chunk: ROW._replace(id=chunk, uri=uri) for chunk, uri in ((1, "a"), (2, "b"), (3, "a"))}
    files = FileRanker(ChunkSpans([(1, 1), (2, 1), (3, 1)]), covered=defaultdict(float, {2: 0.5}))
    found = rank_chunks(rows, [(2, 8.0), (1, 4.0)], [(3, 0.9), (1, 0.5)], {1: 0.5, 3: 0.9}, files)
    plain = {row.id: ranks._replace(neighbours=0.0, file=FileRank()) for row, ranks in found}
    assert plain == {
        1: ChunkRanks(2, 2, 0.5, 0.9, 0.5),
        2: ChunkRanks(1, None, 0.0, 0.9, 1.0),
        3: ChunkRanks(None, 1, 0.9, 0.9, 0.0),
    }
    beside = {row.id: ranks.neighbours for row, ranks in found}
    assert beside[2] == 0.0 < beside[3]
    of_file = {row.id: ranks.file for row, ranks in found}
    assert of_file[2] == FileRank(cover=0.5, n_chunks=1)
    assert of_file[1] == FileRank(n_chunks=1)


def test_reason_names_the_places_of_the_query_words() -> None:
    assert explain(ASKED, ROW, RANKS) == "named: parse; text: dates; similar meaning (no. 5)"
    nothing = ROW._replace(path="", name="", head="", body="")
    assert explain(ASKED, nothing, ChunkRanks(None, 1)) == "similar meaning (no. 1)"


def test_query_without_known_words_is_ranked() -> None:
    asked = PreparedQuery.prepare({}, {}, 100)
    assert score(asked, ROW, ChunkRanks(None, 1, 0.9)) > score(asked, ROW, ChunkRanks(None, 9, 0.1))
