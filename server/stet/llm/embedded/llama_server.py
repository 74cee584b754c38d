"""The process that runs the embedded model: llama.cpp's own server, on loopback, with a key.

Started as `python -I -m stet.llm.embedded.llama_server`. One JSON line on stdin contains the
options (`model`, `key`, `context`), so that the key is neither in the arguments nor in the
environment; one JSON line on stdout answers `{"port": n}` or `{"error": "…"}`, with `"kind":
"import"` if llama.cpp can't be loaded. The process ends when stdin is closed: when its parent ends,
for any reason.
"""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

N_THREADS = 1
"""With two threads, barriers reduce the speed to one token per second on a busy machine."""


def main() -> None:
    """Read the options, load the model, serve until stdin ends."""
    order = json.loads(sys.stdin.readline())
    answer = os.dup(1)
    # llama.cpp prints on both: its output must not mix with the answer line or fill a pipe.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        server = _serve(order)
        reply = {"port": urlsplit(server.listening_address).port}
    except (ImportError, RuntimeError, OSError, ValueError) as exc:
        kind = "import" if isinstance(exc, ImportError) else ""
        server, reply = None, {"error": f"{type(exc).__name__}: {exc}", "kind": kind}
    os.write(answer, json.dumps(reply).encode() + b"\n")
    if server is not None:
        sys.stdin.read()
    os._exit(0)  # the server's threads would delay an ordinary exit


def _serve(order: Mapping[str, Any]) -> Any:
    """Load the model and listen. Return the server, which stops when it is garbage-collected."""
    import xllamacpp  # late: it prints on import, and may be missing

    params = xllamacpp.CommonParams()
    params.model.path = order["model"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [order["key"]]
    params.n_ctx = order["context"]
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = N_THREADS
    params.n_threads_http = 2
    params.use_jinja = True
    params.offline = True
    params.verbosity = 0
    params.warmup = False
    params.ui = False
    params.endpoint_slots = False
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
