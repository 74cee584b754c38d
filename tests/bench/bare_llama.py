"""llama.cpp's own server with its defaults, for a comparison: no lookup, a fixed number of threads.

`python -m tests.bench.bare_llama MODEL CONTEXT THREADS` prints its port, and ends with its standard
input.
"""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from urllib.parse import urlsplit

SECONDS = 600
"""The longest silence of the server."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a model, and how long it took.

    Attributes:
        first: Seconds until the first piece of text.
        whole: Seconds until the end.
        text: The text.
        n_prompt: The tokens of the prompt, those included that were cached.
        n_answer: The tokens of the answer.
    """

    first: float
    whole: float
    text: str
    n_prompt: int
    n_answer: int


@contextmanager
def bare_server(model: Path, context: int, threads: int) -> Iterator[int]:
    """Run a server during the block; yield its port."""
    argv = [sys.executable, "-m", __name__, str(model), str(context), str(threads)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()


def ask(port: int, body: Mapping[str, object]) -> Answer:
    """Send a request for a chat completion, and read the stream to its end."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    pieces: list[str] = []
    first, usage = 0.0, {"prompt_tokens": 0, "completion_tokens": 0}
    begun = perf_counter()
    headers = {"content-type": "application/json"}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
    response = connection.getresponse()
    assert response.status == http.client.OK, response.read()
    for line in response:
        data = line.decode().removeprefix("data: ").strip()
        if not data or data == "[DONE]":
            continue
        chunk = json.loads(data)
        usage = chunk.get("usage") or usage
        piece = "".join(one["delta"].get("content") or "" for one in chunk["choices"])
        first = first or (perf_counter() - begun if piece else 0.0)
        pieces.append(piece)
    whole = perf_counter() - begun
    connection.close()
    tokens = usage["prompt_tokens"], usage["completion_tokens"]
    return Answer(first, whole, "".join(pieces), *tokens)


def main() -> None:
    """Load the model, print the port, serve until the end of the standard input."""
    model, context, threads = sys.argv[1:]
    answer = os.dup(1)
    # llama.cpp prints on both: its output must not mix with the port.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    import xllamacpp  # late: it prints on import

    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = int(context)
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
    params.use_jinja = True
    params.offline = True
    server = xllamacpp.Server(params)
    os.write(answer, f"{urlsplit(server.listening_address).port}\n".encode())
    sys.stdin.read()
    os._exit(0)  # the server's threads would delay an ordinary exit


if __name__ == "__main__":
    main()
