"""The completer with a loopback server and a clock that the test moves."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stet.completion.inline_completer import RETRY_SECONDS, CursorPlace, InlineCompleter
from stet.settings.values import CompletionSettings, Settings
from stet.text.position import Position, Range
from stet.workspace.workspace import Modification, ModificationKind, Workspace
from tests.support.completion_server import completion_server, infill
from tests.support.http_server import HttpRequest
from tests.support.memory_system import MemorySystem
from tests.support.openai_server import OpenAIServer, Reply, error

URI = "file:///ws/a.py"
TEXT = "".join(f"value_{n} = {n}\n" for n in range(2000))


class Completions:
    """A workspace with one open file, and the completions that are offered at the ends of lines.

    Args:
        server: The completion server.
        settings: Further settings.

    Attributes:
        system: The machine, with the clock.
        problems: What the user was shown.
    """

    def __init__(self, server: OpenAIServer, settings: Settings | None = None) -> None:
        self.system = MemorySystem({"/ws/a.py": TEXT})
        self.problems: list[str] = []
        completion = CompletionSettings(enabled=True, base_url=server.base_url, endpoint="infill")
        self.workspace = Workspace(self.system, settings or Settings(completion=completion))
        self.workspace.add_root(Path("/ws").as_uri())
        opened = Modification(ModificationKind.OPENED, URI, version=1, text=TEXT)
        self.workspace.apply(opened)
        log = self.workspace.request_log
        self.completer = InlineCompleter(self.system, log, self.problems.append)

    async def complete(self, line: int, *, delay: bool = False) -> str:
        """Return the completion at the end of a line."""
        at = Position(line, len(f"value_{line} = {line}"))
        place = CursorPlace(URI, Range(at, at))
        return await self.completer.complete(self.workspace.snapshot(), place, delay=delay)


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with completion_server() as made:
        yield made


async def test_a_model_that_takes_long_is_sent_less_text(server: OpenAIServer) -> None:
    editor = Completions(server)

    def late(_: HttpRequest) -> Reply:
        editor.system.time += 3
        return infill(" + 1")

    server.add(*[late] * 4, infill(" + 1"), infill(" + 1"))
    for line in range(1000, 1006):
        assert await editor.complete(line) == " + 1"
    tokens = [
        len(one.body["input_prefix"] + one.body["input_suffix"]) // 3 for one in server.requests
    ]
    rounded = [round(n, -2) for n in tokens]
    assert rounded == [2000, 1000, 400, 200, 200, 200]
    await editor.completer.close()


@pytest.mark.slow
async def test_a_model_that_takes_long_is_asked_after_a_longer_pause(server: OpenAIServer) -> None:
    editor = Completions(server)

    def late(_: HttpRequest) -> Reply:
        editor.system.time += 2
        return infill(" + 1")

    server.add(late, infill(" + 1"))
    loop, seconds = asyncio.get_running_loop(), []
    for line in (1000, 1001):
        start = loop.time()
        assert await editor.complete(line, delay=True) == " + 1"
        seconds.append(loop.time() - start)
    assert seconds[1] >= 0.5
    await editor.completer.close()


async def test_after_a_failure_nothing_is_sent_for_a_while(server: OpenAIServer) -> None:
    editor = Completions(server)
    server.add(error(500, "broken"), error(500, "broken"), infill(" + 1"))
    seen = []
    for seconds in (0.0, 1.0, RETRY_SECONDS, RETRY_SECONDS):
        editor.system.time += seconds
        text = await editor.complete(5)
        seen.append((len(server.requests), text, bool(editor.completer.problem)))
    assert seen == [(1, "", True), (1, "", True), (2, "", True), (3, " + 1", False)]
    assert len(editor.problems) == 1  # the same sentence is shown once
    await editor.completer.close()


async def test_a_slow_answer_is_offered_up_to_its_last_whole_line(server: OpenAIServer) -> None:
    editor = Completions(server)
    pieces = [" + 1\n", "more = 2\n", "and_", "more"]

    class SlowClock(MemorySystem):
        """A second passes at each look."""

        def monotonic(self) -> float:
            self.time += 0.9
            return super().monotonic()

    log = editor.workspace.request_log
    editor.completer = InlineCompleter(SlowClock({}), log, editor.problems.append)
    server.add(infill(*pieces))
    assert await editor.complete(5) == " + 1\nmore = 2"
    await editor.completer.close()
