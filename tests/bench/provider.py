"""A provider on loopback in a process of its own, so that its work is not counted as the client's.

Run as `python -m tests.bench.provider N`: prints its address, then answers N requests, each with
300 chunks, and ends with its standard input.
"""

import asyncio
import sys

from tests.support import openai_server as api
from tests.support.openai_server import OpenAIServer, Reply

CHUNKS = 300


async def main(n_replies: int) -> None:
    """Serve until standard input ends."""
    chunks = [api.delta(content=f"word {n} ") for n in range(CHUNKS)]
    reply = Reply([*chunks, api.delta(finish="stop"), api.usage(100_000, CHUNKS)])
    async with OpenAIServer([reply] * n_replies) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
