"""A word that one passage has finds that passage, whatever vectors say of it."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from stet.search.index_store import IndexStore
from stet.search.search_engine import ChunkQuery, SearchEngine
from tests.support.search_engine import entry, files_of

pytestmark = pytest.mark.slow


N = 1000
"""Passages."""
WORDS = [
    "ship",
    "sail",
    "water",
    "moon",
    "stone",
    "river",
    "hall",
    "door",
    "lamp",
    "paper",
    "table",
    "bread",
    "north",
    "wind",
    "rain",
]
NOTE = "# Trade\n\nLong ago somebody paid a zorkmid for bread and a lamp.\n"
CODE = "def pay(bread, lamp):\n    return bread * lamp * zorkmid\n"
QUESTIONS = ("zorkmid", "what is a zorkmid", "where is the zorkmid paid for bread", "Zorkmids?")
SPREADS = [0.0, 0.04, 0.06, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0]
PLACES = ("least", "random", "most")
Indexed = tuple[SearchEngine, list[tuple[bytes, str]]]
QUESTION: Sequence[float] = [1.0, *[0.0] * 31]
"""The vector of each question."""


@pytest.fixture(scope="module", params=["note", "code"])
def indexed(request: pytest.FixtureRequest) -> Indexed:
    """An engine for a thousand files, one of which has the word; the vectors are given later."""
    chance = random.Random(7)
    made = SearchEngine(IndexStore(":memory:"), is_embedded=True)
    texts = {}
    for number in range(N - 1):
        some = " ".join(chance.choices(WORDS, k=20))
        is_code = request.param == "code"
        name = f"file{number}.{'py' if is_code else 'md'}"
        texts[name] = (
            f"def {chance.choice(WORDS)}_{number}(bread):\n    # {some}\n    return bread\n"
            if is_code
            else f"# {chance.choice(WORDS)} {number}\n\n{some}\n"
        )
    texts["unique.py" if request.param == "code" else "unique.md"] = (
        CODE if request.param == "code" else NOTE
    )
    made.add(entry(name, text) for name, text in texts.items())
    return made, made._store.pending_texts(2 * N)


def give_vectors(indexed: Indexed, spread: float, place: str) -> None:
    """Give each passage a vector, so that the cosines to the question spread evenly."""
    chance = random.Random(11)
    engine, texts = indexed
    vectors = []
    for meant, text in texts:
        share = chance.random()
        if "zorkmid" in text:
            share = {"least": 0.0, "random": chance.random(), "most": 1.0}[place]
        cosine = 1 - spread * (1 - share)
        rest = np.array([chance.gauss(0, 1) for _ in QUESTION[1:]])
        rest *= np.sqrt(1 - cosine**2) / np.linalg.norm(rest)
        vectors.append((meant, np.array([cosine, *rest])))
    engine.add_vectors(vectors)


def rank(engine: SearchEngine, question: str) -> int:
    """The rank of the passage that has the word; one more than there are passages for none."""
    found = files_of(engine.search(ChunkQuery(question, limit=N, vector=QUESTION)))
    return next((at for at, name in enumerate(found, 1) if "unique" in name), N + 1)


@pytest.mark.parametrize("place", PLACES)
def test_a_unique_word_is_first_at_any_spread(indexed: Indexed, place: str) -> None:
    ranks = {}
    for spread in SPREADS:
        give_vectors(indexed, spread, place)
        for question in QUESTIONS:
            ranks[spread, question] = rank(indexed[0], question)
    assert ranks == dict.fromkeys(ranks, 1)
