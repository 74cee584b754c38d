"""A provider on loopback in its own process, so that its work is not counted as the client's.

Run as `python -m tests.bench.provider N [CHUNKS [PAUSE]]`: print the address, then answer N
requests in CHUNKS chunks with PAUSE seconds between them, and end with the standard input.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support import openai_server as api
from tests.support.openai_server import OpenAIServer, Reply

CHUNKS = 300


@contextmanager
def provided(n_replies: int, n_chunks: int = CHUNKS, pause: float = 0) -> Iterator[dict[str, str]]:
    """Run the provider; yield the environment variables that make a server use it as the model.

    Args:
        n_replies: The number of requests that it answers.
        n_chunks: The number of chunks of each answer.
        pause: Seconds between two chunks.
    """
    argv = [sys.executable, "-m", "tests.bench.provider", *map(str, (n_replies, n_chunks, pause))]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as provider:
        assert provider.stdout is not None
        try:
            address = provider.stdout.readline().strip()
            yield {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": address, "no_proxy": "*"}
        finally:
            provider.kill()


async def main(n_replies: int, n_chunks: int = CHUNKS, pause: float = 0) -> None:
    """Serve until standard input ends."""
    chunks = [api.delta(content=f"word {n} ") for n in range(n_chunks)]
    reply = Reply([*chunks, api.delta(finish="stop"), api.usage(100_000, n_chunks)], pause=pause)
    async with OpenAIServer([reply] * n_replies) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:3]), *map(float, sys.argv[3:4])))
