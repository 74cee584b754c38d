"""Texts as vectors, by the static embedding that `wordllama` ships with its weights.

The vector of a text is the normalized sum of the vectors of its tokens; no neural network is run.
Words are repeated often, so the sum of each word's tokens is cached, and a text is the sum of a few
rows of a table. Nothing is downloaded.
"""

import importlib.util
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

LOCAL = "wordllama-l2-supercat-256"
"""The name of the vectors of `LocalEmbedder` in the index."""
MAX_WORDS = 256
"""The most words of a text that are embedded."""
MAX_WORD = 64
"""The most code points of a word that are embedded."""
_MAX_KNOWN = 16_000
"""The number of words whose sums are cached, at a kilobyte each."""


def can_embed() -> bool:
    """Return whether the packages of the local embedding are installed."""
    return all(
        importlib.util.find_spec(name) is not None
        for name in ("wordllama", "tokenizers", "safetensors", "numpy")
    )


class LocalEmbedder:
    """The embedding of the package `wordllama`; see the module.

    The files of the weights and of the tokenizer are read directly: the package's loader searches
    for the tokenizer in the wrong folder, and it is ten times slower for repeated words.
    """

    name = LOCAL

    def __init__(self) -> None:
        """Load the weights.

        Raises:
            ImportError: If the package is not installed.
            OSError, ValueError: If the files of the package can't be read.
        """
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        spec = importlib.util.find_spec("wordllama")
        if spec is None or spec.origin is None:
            raise ImportError("the package `wordllama` is not installed")
        home = Path(spec.origin).parent
        (tokenizer,) = sorted((home / "tokenizers").glob("l2_supercat*.json"))
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokens = load_file(home / "weights" / "l2_supercat_256.safetensors")[
            "embedding.weight"
        ]
        self._n_dimensions = self._tokens.shape[1]
        self._known: dict[str, int] = {}
        self.forget_words()

    def embed(self, texts: Sequence[str]) -> "np.ndarray[Any, Any]":
        """Return a row of unit length for each text. A text without words has zeros."""
        import numpy as np

        split = [[word[:MAX_WORD] for word in text.split()[:MAX_WORDS]] for text in texts]
        self._learn(word for words in split for word in words)
        places = [self._known[word] for words in split for word in words]
        starts = [0, *accumulate(map(len, split))]
        vectors = np.zeros((len(texts), self._n_dimensions), dtype=np.float32)
        filled = [at for at, words in enumerate(split) if words]
        if filled:
            first = [starts[at] for at in filled]
            vectors[filled] = np.add.reduceat(self._sums[places], first, axis=0)
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return vectors

    def forget_words(self) -> None:
        """Clear the cached sums; rows of zeros take no memory until they are filled."""
        import numpy as np

        self._known.clear()
        self._sums = np.zeros((_MAX_KNOWN, self._n_dimensions), dtype=np.float32)

    def _learn(self, words: Iterable[str]) -> None:
        """Add the sums of words to the table. If it gets full, clear all other words."""
        import numpy as np

        requested = dict.fromkeys(words)
        new = [word for word in requested if word not in self._known]
        if len(self._known) + len(new) > len(self._sums):
            self._known.clear()
            new = list(requested)
            if len(new) > len(self._sums):
                self._sums = np.zeros((2 * len(new), self._n_dimensions), dtype=np.float32)
        for word, encoding in zip(
            new, self._tokenizer.encode_batch(new, add_special_tokens=False), strict=True
        ):
            place = self._known[word] = len(self._known)
            ids = [each for each in encoding.ids if each < len(self._tokens)]
            self._sums[place] = self._tokens[ids].astype(np.float32).sum(axis=0)
