"""The process that runs the embedded model: llama.cpp's own server, on loopback, with a key.

Started as `python -I -m stet.llm.embedded.llama_server`. One JSON line on stdin contains the
options (`model`, `key`, `context`, `threads`, `lookup`), so that the key is neither in the arguments
nor in the environment; one JSON line on stdout answers `{"port": n}` or `{"error": "…"}`, with `"kind":
"import"` if llama.cpp can't be loaded. The process ends when stdin is closed: when its parent ends,
for any reason.
"""

import hashlib
import json
import os
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

PROBE_SECONDS = 0.1
"""How long the processors are tried before the model is loaded."""
WHOLE = 0.85
"""The share of a processor from which on a thread counts as having one to itself."""
_PIECE = bytes(1_000_000)
START_ERRORS = (ImportError, RuntimeError, OSError, ValueError)
"""What is raised if the model can't be loaded."""
LOOKUP_WORDS, LOOKUP_DRAFT = 6, 24
"""The tokens that must repeat, and the most that are then taken from the prompt at once."""


def main() -> None:
    """Read the options, load the model, serve until stdin ends."""
    order = json.loads(sys.stdin.readline())
    answer = silence()
    reply: dict[str, object]
    try:
        server = serve(order)
        reply = {"port": urlsplit(server.listening_address).port}
    except START_ERRORS as error:
        server, reply = None, describe_failure(error)
    os.write(answer, json.dumps(reply).encode() + b"\n")
    if server is not None:
        sys.stdin.read()
    os._exit(0)  # the server's threads would delay an ordinary exit


def silence() -> int:
    """Discard what is printed from now on; return a descriptor of the old stdout.

    llama.cpp prints on both streams: its output must not mix with the answer or fill a pipe.
    """
    answer = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return answer


def free_threads(most: int) -> int:
    """Return how many threads find a processor that is free now: at least 1, at most `most`.

    Threads wait for each other after each step, so one that has to share a processor slows all
    down: on a busy machine to one token a second.
    """
    if most < 2:
        return 1
    with ThreadPoolExecutor(most) as pool:
        shares = list(pool.map(_processor_share, [time.monotonic() + PROBE_SECONDS] * most))
    return max(1, sum(share >= WHOLE for share in shares))


def _processor_share(until: float) -> float:
    """Return the share of the time that this thread was running while it had work."""
    began, used = time.monotonic(), time.thread_time()
    while time.monotonic() < until:
        hashlib.sha256(_PIECE)  # without the lock of the interpreter
    return (time.thread_time() - used) / (time.monotonic() - began)


def describe_failure(error: BaseException) -> dict[str, object]:
    """Return the answer to a start that has failed with one of `START_ERRORS`."""
    kind = "import" if isinstance(error, ImportError) else ""
    return {"error": f"{type(error).__name__}: {error}", "kind": kind}


def serve(order: Mapping[str, Any], n_threads: int | None = None) -> Any:
    """Load the model and listen. Return the server, which stops when it is garbage-collected.

    Args:
        order: The options.
        n_threads: The number of threads; by default those of the option that are free now.

    Raises:
        ImportError: If llama.cpp can't be loaded.
        RuntimeError, OSError, ValueError: If it can't load the model.
    """
    import xllamacpp  # late: it prints on import, and may be missing

    params = xllamacpp.CommonParams()
    params.model.path = order["model"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [order["key"]]
    params.n_ctx = order["context"]
    params.n_parallel = 1
    n_threads = n_threads or free_threads(order["threads"])
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = n_threads
    params.n_threads_http = 2
    params.use_jinja = True
    params.offline = True
    params.verbosity = 0
    params.warmup = False
    params.ui = False
    params.endpoint_slots = False
    if order["lookup"]:
        # A rewrite repeats most of its prompt: what follows the same words there is tried first.
        # Not the map of n-grams: it proposes nothing from the second prompt on.
        params.speculative.types = [
            xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE
        ]
        params.speculative.ngram_simple.size_n = LOOKUP_WORDS
        params.speculative.ngram_simple.size_m = LOOKUP_DRAFT
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
