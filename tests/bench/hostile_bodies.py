"""A provider whose answers decompress to gigabytes: their cost in memory and response time.

Run as `python -m tests.bench.hostile_bodies`: print the address, answer one question in words and
all others with bombs, and end with the standard input.
"""

import asyncio
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from tests.bench.process import INITIALIZE, STET, ServerProcess, running
from tests.bench.statuses import command, is_ready
from tests.bench.table import Row, at_most
from tests.support import openai_server as api
from tests.support.bombs import Bomb
from tests.support.openai_server import OpenAIServer

N_BYTES = 4_000_000_000
WHOLE = ("json", "objects")
BOMBS = (
    *(Bomb(kind, coding, N_BYTES) for kind in WHOLE for coding in ("gzip", "")),
    *(Bomb("error", coding, N_BYTES) for coding in ("gzip", "gzip, gzip", "")),
    Bomb("events", "gzip", N_BYTES),
    Bomb("many events", "gzip", N_BYTES),
    Bomb("blank lines", "gzip", N_BYTES),
)
"""Each question gets one bomb, and the same bomb if the request is repeated."""


def rows() -> Iterator[Row]:
    """Yield the added megabytes, and the milliseconds without an answer to `stet.status`."""
    what = "an answer of 4 GB, compressed"
    memory, silence = 0.0, 0.0
    with (
        tempfile.TemporaryDirectory() as folder,
        _provider() as model,
        running(STET, model) as server,
    ):
        server.ask("initialize", {**INITIALIZE, "rootUri": Path(folder).as_uri()})
        server.notify("initialized", {})
        is_ready(server)
        _asked(server, "Hello")
        for bomb in BOMBS:
            before = _held(server, "VmRSS")
            Path(f"/proc/{server.pid}/clear_refs").write_text("5")  # reset the peak
            silence = max(silence, _asked(server, f"{bomb.kind} {bomb.coding}"))
            memory = max(memory, _held(server, "VmHWM") - before)
    yield Row(f"{what}: peak memory", "MB", memory, must=at_most(60), aim=at_most(30))
    yield Row(f"{what}: longest silence", "ms", silence, must=at_most(250), aim=at_most(100))


def _asked(server: ServerProcess, prompt: str) -> float:
    """Ask a question to its end; return the longest wait for `stet.status` meanwhile."""
    command(server, "stet.ask", prompt=prompt, mode="ask", chat=prompt)
    longest, turns = 0.0, ["?"]
    while turns:
        begun = perf_counter()
        turns = command(server, "stet.status")["turns"]
        longest = max(longest, 1000 * (perf_counter() - begun))
    return longest


def _held(server: ServerProcess, name: str) -> float:
    """Return the megabytes in a field of `/proc/PID/status`."""
    status = Path(f"/proc/{server.pid}/status").read_text()
    found = re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1000


@contextmanager
def _provider() -> Iterator[dict[str, str]]:
    argv = [sys.executable, "-m", "tests.bench.hostile_bodies"]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as provider:
        assert provider.stdout is not None
        try:
            address = provider.stdout.readline().strip()
            yield {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": address, "no_proxy": "*"}
        finally:
            provider.kill()


async def main() -> None:
    """Serve until standard input ends."""
    replies = [api.say("Hello.")]
    for bomb in BOMBS:
        if bomb.kind == "error":
            replies.append(bomb.reply(400))
        else:
            kind = "application/json" if bomb.kind in WHOLE else "text/event-stream"
            replies += [bomb.reply(200, kind)] * 2
    async with OpenAIServer(replies) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
