"""The cost of a model round in this process, compared with the plain `openai` client.

The request is long (about 420 kB of prompt: a turn's tenth round after an earlier turn, with 25
tools), and the answer streams in 300 chunks. The time is this process's processor time: the
provider runs in another process. The `openai` client gets prepared messages.
"""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from statistics import median
from time import process_time
from typing import Any

from openai import AsyncOpenAI

from stet.llm.api_format import to_api_message
from stet.llm.model import Message, Request, ToolCall, ToolDefinition
from stet.llm.model_endpoint import ModelEndpoint
from stet.llm.openai_model import OpenAIModel
from stet.system.system import System
from tests.bench.provider import CHUNKS
from tests.bench.table import Row, times_at_most

ROUNDS = 15
FILE = "".join(f"{n:>6}\tthe quick brown fox jumps over the lazy dog\n" for n in range(430))
SCHEMA = {"type": "object", "properties": {"file": {"type": "string", "description": "A path."}}}
TOOLS = tuple(ToolDefinition(f"tool_{n}", "Does a thing. " * 20, SCHEMA) for n in range(25))
READS = tuple(
    message
    for n in range(9)
    for message in (
        Message("assistant", "", (ToolCall(f"call_{n}", "tool_1", '{"file": "a.py"}'),)),
        Message("tool", FILE, tool_call_id=f"call_{n}"),
    )
)
MESSAGES = (
    Message("system", "Be brief."),
    *(Message("user", FILE), *READS, Message("assistant", "Done.")),
    *(Message("user", FILE), *READS),
)
WORDS = "".join(f"word {n} " for n in range(CHUNKS))
WIRE_MESSAGES = [to_api_message(message) for message in MESSAGES]


def rows() -> Iterator[Row]:
    """Yield milliseconds of processor time per round."""
    argv = [sys.executable, "-m", "tests.bench.provider", str(2 * ROUNDS + 2)]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as provider:
        assert provider.stdin is not None
        assert provider.stdout is not None
        ours, peer = asyncio.run(_measure(provider.stdout.readline().strip()))
        provider.stdin.close()
    bars = times_at_most(1.2), times_at_most(0.5)
    yield Row("a model round: own overhead", "ms of CPU", ours, peer, "openai package", *bars)


async def _measure(base_url: str) -> tuple[float, float]:
    model = OpenAIModel(ModelEndpoint("openai", base_url, "m", api_key="k"), System())
    client = AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0)
    try:
        pairs = [
            (await _timed(lambda: _ours(model)), await _timed(lambda: _peer(client)))
            for _ in range(ROUNDS + 1)
        ]
    finally:
        await model.close()
        await client.close()
    # The first pair includes imports and connections.
    return median(one for one, _ in pairs[1:]), median(other for _, other in pairs[1:])


async def _timed(work: Callable[[], Awaitable[str]]) -> float:
    started = process_time()
    text = await work()
    spent = (process_time() - started) * 1000
    assert text == WORDS, "the answer is not what was streamed"
    return spent


async def _ours(model: OpenAIModel) -> str:
    received: list[str] = []
    request = Request(MESSAGES, TOOLS)
    completion = await model.complete(request, received.append)
    assert "".join(received) == completion.text
    return completion.text


async def _peer(client: AsyncOpenAI) -> str:
    functions = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in TOOLS
    ]
    request: dict[str, Any] = {
        "model": "m",
        "messages": WIRE_MESSAGES,
        "tools": [{"type": "function", "function": function} for function in functions],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    stream = await client.chat.completions.create(**request)
    return "".join(
        [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
    )
