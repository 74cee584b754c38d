"""The ranking by words finds what weighing every chunk would find."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stet.search.chunk import NO_EXCLUSION, Chunk, ChunkFields, Exclusion, FileStamp, IndexEntry
from stet.search.index_store import IndexStore
from stet.search.lexical_ranker import LexicalRanker
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
        meant = [digest(words.meant)]
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
        n_of_word = {word: store.frequency(word) for word in asked}
        terms = sorted((word for word in asked if n_of_word[word]), key=lambda it: n_of_word[it])
        if not terms:
            return
        everything = " OR ".join(f'"{term}"' for term in terms)
        ranking = LexicalRanker(store, len(texts), n_of_word, few=0)

        assert ranking.best(terms, limit, folder) == store.best(everything, limit, folder)


def test_chunks_with_a_common_word_alone_are_not_weighed() -> None:
    rare = [(["rare", "common"], ["rare"])] * 3
    with store_of(rare + [([], ["common"])] * 20 + [([], ["other"])] * 40) as store:
        weighed: list[str] = []
        weigh = store.best

        def noted(
            wanted: str, limit: int, folder: str = "", without: Exclusion = NO_EXCLUSION
        ) -> list[tuple[int, float]]:
            weighed.append(wanted)
            return weigh(wanted, limit, folder, without)

        store.best = noted  # type: ignore[method-assign]
        ranking = LexicalRanker(store, 63, {"rare": 3, "common": 23}, few=0)

        assert [chunk for chunk, _ in ranking.best(["rare", "common"], 3)] == [1, 2, 3]
    assert weighed == ['"rare" AND ("common")', '"rare"']
