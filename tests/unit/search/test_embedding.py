"""The embedding that works on this machine."""

import numpy as np

from stet.search.embedding import LocalEmbedder


def test_texts_mean_the_same_once_their_words_are_forgotten() -> None:
    embedder = LocalEmbedder()
    texts = ["moor the boat", "a gull over the harbour", ""]
    before = embedder.embed(texts)
    embedder.forget_words()
    assert not embedder._sums.any()
    assert np.array_equal(embedder.embed(texts), before)
