"""Texts as vectors, by the static embedding that `wordllama` ships with its weights.

The mean of the vectors of a text's tokens: there is no network to run. Words come again and again, so
the sum of each word's tokens is kept; a text is then a few rows of a table. Nothing is downloaded.
"""

import importlib.util
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

LOCAL = "wordllama-l2-supercat-256"
"""What the index calls the vectors of `LocalEmbedder`."""
MAX_WORDS = 256
"""Of a text."""
MAX_WORD = 64
"""How much of a word is read, in code points."""
_MAX_KNOWN = 16_000
"""Words whose sums are kept, a kilobyte each."""


def can_embed() -> bool:
    """Return whether what the local embedding needs is installed."""
    return all(
        importlib.util.find_spec(name) is not None
        for name in ("wordllama", "tokenizers", "safetensors", "numpy")
    )


class LocalEmbedder:
    """The embedding that comes with `wordllama`; see the module.

    Its weights and its tokenizer are read as the files they are: the package's own loader looks for
    the tokenizer in a folder that is not the one it is shipped in, and its way over whole texts is
    ten times slower on words that repeat.
    """

    name = LOCAL

    def __init__(self) -> None:
        """Load the weights.

        Raises:
            ImportError: If the package is not installed.
            OSError, ValueError: If its files can't be read.
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
        """Clear the sums; of a table of zeros only the rows that are filled take memory."""
        import numpy as np

        self._known.clear()
        self._sums = np.zeros((_MAX_KNOWN, self._n_dimensions), dtype=np.float32)

    def _learn(self, words: Iterable[str]) -> None:
        """Take the sums of words into the table; all others are forgotten where it gets full."""
        import numpy as np

        asked = dict.fromkeys(words)
        new = [word for word in asked if word not in self._known]
        if len(self._known) + len(new) > len(self._sums):
            self._known.clear()
            new = list(asked)
            if len(new) > len(self._sums):
                self._sums = np.zeros((2 * len(new), self._n_dimensions), dtype=np.float32)
        for word, encoding in zip(
            new, self._tokenizer.encode_batch(new, add_special_tokens=False), strict=True
        ):
            place = self._known[word] = len(self._known)
            ids = [each for each in encoding.ids if each < len(self._tokens)]
            self._sums[place] = self._tokens[ids].astype(np.float32).sum(axis=0)
