"""The model server of all arms: llama.cpp's own server in a child process, on loopback.

`python -m tests.agent_eval.model_server` is the child. One JSON line on stdin holds the options;
one JSON line on stdout answers `{"port": n}` or `{"error": "…"}`. It ends when stdin is closed.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

LOADING_SECONDS = 120
BATCH = 256
"""Tokens of a prompt that are read at once: a request that its client has left ends after them."""
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How the model is run, the same for all arms.

    Attributes:
        model: The path of the GGUF file.
        context: Tokens of a prompt with its answer.
        threads: Threads that compute.
    """

    model: str
    context: int = 16_384
    threads: int = 2


class ModelServerFailed(Exception):
    """The server could not be started; the message says why."""


@contextlib.asynccontextmanager
async def model_server(options: ServerOptions) -> AsyncIterator[str]:
    """Run a server during the block; give its address without a path.

    Raises:
        ModelServerFailed: If llama.cpp can't load the model.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.agent_eval.model_server",
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(asdict(options)).encode() + b"\n")
        async with asyncio.timeout(LOADING_SECONDS):
            line = await process.stdout.readline()
        answer = json.loads(line or b'{"error": "it ended"}')
        if "error" in answer:
            raise ModelServerFailed(f"{options.model} can't be run: {answer['error']}")
        yield f"http://127.0.0.1:{answer['port']}"
    finally:
        process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(10):
                await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()


def main() -> None:
    """Read the options, load the model, serve until stdin ends."""
    options = json.loads(sys.stdin.readline())
    answer = os.dup(1)
    # llama.cpp prints on both: its output must not mix with the answer line.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    server = None
    try:
        server = _serve(options)
        reply: dict[str, Any] = {"port": urlsplit(server.listening_address).port}
    except (ImportError, RuntimeError, OSError, ValueError) as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    os.write(answer, json.dumps(reply).encode() + b"\n")
    if server is not None:
        sys.stdin.read()
    os._exit(0)  # the server's threads would delay an ordinary exit


def _serve(options: Mapping[str, Any]) -> Any:
    """Load the model and listen. Return the server, which stops when it is garbage-collected."""
    import xllamacpp  # late: it prints on import, and may be missing

    params = xllamacpp.CommonParams()
    params.model.path = options["model"]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = options["context"]
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options["threads"]
    params.n_threads_http = 4
    params.use_jinja = True
    params.offline = True
    params.verbosity = 0
    params.warmup = False
    params.ui = False
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
