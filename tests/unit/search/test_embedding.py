"""The embedding that works on this machine."""

import numpy as np

from stet.search.embedding import LocalEmbedder


def test_embedding_is_the_same_after_the_word_cache_is_cleared() -> None:
    embedder = LocalEmbedder()
    texts = ["moor the boat", "a gull over the harbour", ""]
    before = embedder.embed(texts)
    embedder.forget_words()
    assert not embedder._sums.any()
    assert np.array_equal(embedder.embed(texts), before)
