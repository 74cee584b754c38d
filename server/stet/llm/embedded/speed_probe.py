"""The process that measures how fast a model would write here, without its weights.

Started as `python -I -m stet.llm.embedded.speed_probe`. One JSON line on stdin contains the options:
`model`, its size in the catalog, and `folder`, for the files. The answer on stdout is the seconds that
a token takes; it is empty if the model can't be run.

A model of the same shape is run, with random weights. A small one has all its layers. A larger one
is run with few layers; what another layer takes is the difference of two models with a small
vocabulary, which are quickly loaded.
"""

import json
import os
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from stet.llm.embedded.llama_server import START_ERRORS, free_threads, serve, silence
from stet.llm.weights.catalog import CatalogModel, find_model
from stet.llm.weights.local_model import catalog_model
from stet.llm.weights.model_shape import ModelShape
from stet.llm.weights.random_weights import write_random_weights

WHOLE = 150_000_000
"""The size in bytes up to which a model is written with all its layers."""
FEW, MORE = 2, 6
"""The numbers of layers of a larger model. Both are even, because every second layer is stored in
another way."""
SMALL_VOCABULARY = 8192
WRITTEN = 8
"""The tokens of a request."""
_PROMPT = [1, 2, 3, 4]
_CONTEXT = 256
_SECONDS = 0.3
"""How long each file is measured."""
_LEAST = 2
"""The fewest requests for each file; one more comes first and is not counted."""


def main() -> None:
    """Read the options, measure and answer."""
    order = json.loads(sys.stdin.readline())
    answer = silence()
    model = find_model(order["model"])
    if model is not None:
        with suppress(*START_ERRORS):  # no room in memory or on the disk, or no llama.cpp
            os.write(answer, str(_token_seconds(model, Path(order["folder"]))).encode())
    os._exit(0)  # the server's threads would delay an ordinary exit


def _token_seconds(model: CatalogModel, folder: Path) -> float:
    """Return how long a model takes to write a token, in seconds.

    Raises:
        ImportError, RuntimeError, OSError, ValueError: If it can't be run.
    """
    # For all files: a thread more or less in between would be extrapolated, too.
    n_threads = free_threads(catalog_model(model, folder).max_threads)
    shape = model.shape
    path = folder / "random.gguf"
    if model.weights.size <= WHOLE:
        return _run(path, shape, n_threads)
    quick = replace(shape, n_tokens=SMALL_VOCABULARY)
    some = _run(path, replace(shape, n_layers=FEW), n_threads)
    few = _run(path, replace(quick, n_layers=FEW), n_threads)
    more = _run(path, replace(quick, n_layers=MORE), n_threads)
    return extrapolate(some, few, more, shape.n_layers)


def extrapolate(some: float, few: float, more: float, n_layers: int) -> float:
    """Return the time of a token with all layers.

    Args:
        some: The time with `FEW` layers.
        few: The time with `FEW` layers and a small vocabulary.
        more: The time with `MORE` layers and a small vocabulary.
        n_layers: The number of all layers.
    """
    return some + max(0.0, more - few) / (MORE - FEW) * (n_layers - FEW)


def _run(path: Path, shape: ModelShape, n_threads: int) -> float:
    """Return how long a model of a shape takes for a token, in seconds.

    Args:
        path: Where its file is written. The file is removed.
        shape: The shape.
        n_threads: The number of threads.

    Raises:
        ImportError, RuntimeError, OSError, ValueError: If it can't be run.
    """
    write_random_weights(path, shape)
    order = {"model": str(path), "key": "", "context": _CONTEXT, "lookup": False}
    server = serve(order, n_threads)
    _write(server)  # the first request reads the file
    until = time.monotonic() + _SECONDS
    measured: list[float] = []
    while len(measured) < _LEAST or time.monotonic() < until:
        measured.append(_write(server))
    del server  # some systems don't remove a file that is in use
    path.unlink()
    return median(measured)


def _write(server: Any) -> float:
    """Let a model write; return how long a token took, in seconds.

    Raises:
        ValueError: If the answer does not state it.
    """
    request = {
        "prompt": _PROMPT,
        "n_predict": WRITTEN,
        "ignore_eos": True,
        "temperature": 0,
        "cache_prompt": False,
    }
    answer = server.handle_completions(request)
    answer = json.loads(answer) if isinstance(answer, str | bytes) else answer
    timings = answer.get("timings", {})
    if timings.get("predicted_n") != WRITTEN:
        raise ValueError(f"llama.cpp did not write {WRITTEN} tokens")
    # The first token is part of the reading of the prompt.
    return float(timings["predicted_ms"]) / 1000 / (WRITTEN - 1)


if __name__ == "__main__":
    main()
