"""The ranking by words finds what weighing every chunk would find."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.search import lexical_ranker
from stet.search.chunk import Chunk, ChunkFields, FileStamp, IndexEntry
from stet.search.index_store import IndexStore
from stet.search.lexical_ranker import best_by_words
from stet.search.search_engine import digest

WORDS = "abcdefg"
"""The later ones are in more chunks: each letter is as likely as its place."""
fields = st.lists(st.sampled_from([word for at, word in enumerate(WORDS) for _ in range(at + 1)]))
chunks = st.lists(st.tuples(fields, fields), min_size=1, max_size=60)


def store_of(texts: list[tuple[list[str], list[str]]]) -> IndexStore:
    store = IndexStore(":memory:")
    for number, (name, body) in enumerate(texts):
        words = ChunkFields("", " ".join(name), "", " ".join(body), str(number))
        stamp = FileStamp(None, 0, b"")
        meant = [digest(words.embedded)]
        with store.writing():
            folder = "even" if number % 2 == 0 else "odd"
            file = f"{folder}/{number}"
            store.save(IndexEntry(f"file:///{file}", file, stamp, [Chunk(0, 1)], [words], meant))
    return store


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    texts=chunks,
    asked=st.sets(st.sampled_from(WORDS), min_size=1),
    limit=st.integers(1, 12),
    folder=st.sampled_from(["", "odd"]),
)
def test_what_is_left_out_would_not_be_among_the_best(
    texts: list[tuple[list[str], list[str]]], asked: set[str], limit: int, folder: str
) -> None:
    with store_of(texts) as store:
        found = sorted((n, word) for word in asked if (n := store.frequency(word)))
        terms = {word: n for n, word in found}
        if not terms:
            return
        everything = " OR ".join(f'"{term}"' for term in terms)
        ask = partial(store.best, limit=limit, folder=folder)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(lexical_ranker, "FEW", 0)
            assert best_by_words(ask, terms, limit, len(texts)) == ask(everything)


def test_chunks_with_a_common_word_alone_are_not_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical_ranker, "FEW", 0)
    rare = [(["rare", "common"], ["rare"])] * 3
    with store_of(rare + [([], ["common"])] * 20 + [([], ["other"])] * 40) as store:
        weighed: list[str] = []

        def ask(wanted: str) -> list[tuple[int, float]]:
            weighed.append(wanted)
            return store.best(wanted, 3)

        found = best_by_words(ask, {"rare": 3, "common": 23}, 3, 63)
        assert [chunk for chunk, _ in found] == [1, 2, 3]
    assert weighed == ['"rare" AND ("common")', '"rare"']
