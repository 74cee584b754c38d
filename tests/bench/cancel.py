"""Time from the user's cancel until the turn has ended in the editor and at the model."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from tests.bench.table import Row, at_most
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, end_of, provider
from tests.support.openai_server import End, OpenAIServer, Reply, call, delta

N_TURNS = 120
EDIT = call("edit_file", file="a.py", old_text="x = 1", new_text="x = 3").events
WORDS = [delta(content=f"word {n} ") for n in range(5_000)]


def rows() -> Iterator[Row]:
    """Yield the milliseconds until the turn is shown as ended and the model's connection closed."""
    times = asyncio.run(_times())
    what = "cancel until no more effects"
    worst = quantiles(times, n=100)[-1]
    yield Row(f"{what}, p99", "ms", worst, must=at_most(200), aim=at_most(20))
    yield Row(f"{what}, median", "ms", median(times), in_detail=True)


async def _times() -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "ws"
        await asyncio.to_thread(root.mkdir)
        await asyncio.to_thread((root / "a.py").write_text, "x = 1\n")
        async with (
            OpenAIServer() as server,
            FakeEditor.start(root, env=provider(server)) as editor,
        ):
            editor.open("a.py")
            return [await _cancelled(editor, server, number) for number in range(N_TURNS)]


def _reply(number: int) -> Reply:
    """Return a stream that continues, a stream that has stopped, or a part of an edit."""
    match number % 3:
        case 0:
            return Reply(WORDS, End.HANG, pause=0.001)
        case 1:
            return Reply(WORDS[: number % 7 + 1], End.HANG)
        case _:
            return Reply(EDIT[: 1 + number % len(EDIT)], End.HANG)


async def _cancelled(editor: FakeEditor, server: OpenAIServer, number: int) -> float:
    server.forget()
    server.add(_reply(number))
    turn = await ask(editor, f"Cancel {number}", uri=editor.uri("a.py"), chat=f"chat {number}")
    await server.asked(number + 1)
    if number % 3 == 0:
        await editor.wait_until(lambda: _writes(editor, f"Stet: Cancel {number}"))
    begun = perf_counter()
    await editor.command("stet.cancel", {"turn": turn})
    ended: Any
    ended, _ = await asyncio.gather(end_of(editor, turn), server.left(number + 1))
    took = 1000 * (perf_counter() - begun)
    assert (ended["state"], ended["hunks"]) == ("cancelled", [])
    return took


def _writes(editor: FakeEditor, title: str) -> bool:
    """Tell whether the turn of that title is shown as answering."""
    shown = [reports for reports in editor.progress_reports.values() if reports]
    last = [reports[-1] for reports in shown if getattr(reports[0], "title", "") == title]
    return any("writing" in (getattr(report, "message", "") or "") for report in last)
