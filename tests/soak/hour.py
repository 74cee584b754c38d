"""`python -m tests.soak.hour [MINUTES [SEED]]`: a person's hour with one server, without pauses.

Print the server's memory and response times at the start and at the end; exit with 1 on growth.
"""

import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from time import perf_counter

from tests.soak.person import Person, make_repository
from tests.support.editor import FakeEditor
from tests.support.live_turns import provider
from tests.support.openai_server import OpenAIServer
from tests.support.processes import ProcessUsage, processor_seconds, usage_of
from tests.support.search_index import settled

SERVER = (sys.executable, "-I", str(Path(__file__).with_name("hour_server.py")))
WARM_UP = 10
"""Minutes before the first measurement: late imports are done, files that stay open are open, and
all branches have been checked out by then."""
STROKES = 100
"""Keystrokes per minute."""
MOST_GROWTH = 12.0
"""Megabytes: conversations and proposals of a whole hour stay in memory."""
MOST_SLOWER = 3.0
N_ASKED = 500
"""Polls of the running tasks until a minimum counts: longer in total than any debounce of the
server."""


@dataclass(frozen=True, slots=True)
class Look:
    """Measurements of the server at one time.

    Attributes:
        held: The resources of its processes.
        tasks: The names of the tasks on its event loop.
        work: Milliseconds of processor time for one minute of the person.
        strokes: The median and the 99th percentile from a keystroke to the next answer, in ms.
        turn: The median duration of a turn, in ms.
    """

    held: ProcessUsage
    tasks: list[str]
    work: float
    strokes: tuple[float, float]
    turn: float


@dataclass(frozen=True, slots=True)
class Hour:
    """The measurements of an hour.

    Attributes:
        start: The server after the warm-up.
        end: The server at the end.
        did: The person's actions with their numbers.
        seconds: The duration.
    """

    start: Look
    end: Look
    did: Counter[str]
    seconds: float

    def faults(self) -> list[str]:
        """List what has grown or become slow; empty if nothing has."""
        start, end = self.start, self.end
        found = []
        for what in ("n_descriptors", "n_threads", "n_processes"):
            before, now = getattr(start.held, what), getattr(end.held, what)
            if now > before:
                found.append(f"{what}: {before} have become {now}")
        if len(end.tasks) > len(start.tasks):
            found.append(f"tasks: {start.tasks} have become {end.tasks}")
        growth = end.held.megabytes - start.held.megabytes
        if growth > MOST_GROWTH:
            found.append(f"memory has grown by {growth:.1f} MB")
        if end.work > MOST_SLOWER * start.work:
            found.append(f"a minute took {start.work:.0f} ms of the processor, now {end.work:.0f}")
        return found

    def waits(self) -> list[str]:
        """List response times that have grown; other work on the machine may be the cause."""
        start, end = self.start, self.end
        found = []
        if end.strokes[0] > MOST_SLOWER * start.strokes[0]:
            found.append(f"a keystroke took {start.strokes[0]:.1f} ms, now {end.strokes[0]:.1f}")
        if end.turn > MOST_SLOWER * start.turn:
            found.append(f"a turn took {start.turn:.0f} ms, now {end.turn:.0f}")
        return found

    def table(self) -> str:
        """Format the measurements as a Markdown table."""
        lines = ["| | at the start | at the end |", "| --- | --- | --- |"]
        for what, pick in _LINES.items():
            lines.append(f"| {what} | {pick(self.start):.1f} | {pick(self.end):.1f} |")
        did = ", ".join(f"{n:,} {what}" for what, n in self.did.items())
        return "\n".join([*lines, "", f"{did}; {self.seconds:.0f} s"])


_LINES: dict[str, Callable[[Look], float]] = {
    "memory, MB": lambda look: look.held.megabytes,
    "open descriptors": lambda look: look.held.n_descriptors,
    "threads": lambda look: look.held.n_threads,
    "processes": lambda look: look.held.n_processes,
    "tasks": lambda look: len(look.tasks),
    "processor time of a person's minute, ms": lambda look: look.work,
    "keystroke to the next answer, p50, ms": lambda look: look.strokes[0],
    "keystroke to the next answer, p99, ms": lambda look: look.strokes[1],
    "a turn of four rounds, p50, ms": lambda look: look.turn,
}


async def live(
    folder: Path, minutes: int, seed: int, *, warm_up: int = WARM_UP, strokes: int = STROKES
) -> Hour:
    """Warm up, then run so many minutes; compare the first and the last fifth."""
    root = folder / "ws"
    await asyncio.to_thread(make_repository, root, folder / "git")
    begun = perf_counter()
    async with (
        OpenAIServer() as model,
        FakeEditor.start(root, command=SERVER, env=provider(model), fresh=True) as editor,
    ):
        await editor.command("stet.reindex", {"rebuild": False})  # else it begins in an idle moment
        person = Person(editor, model, root, seed)
        for number in range(warm_up):
            await person.minute(number, strokes)
        stretch = max(2, minutes // 5)
        looks = []
        for first, end in (
            (0, stretch),
            (stretch, minutes - stretch),
            (minutes - stretch, minutes),
        ):
            person.strokes.clear()
            person.turns.clear()
            before = _work(editor)
            for number in range(first, end):
                await person.minute(warm_up + number, strokes)
            work = (_work(editor) - before) / max(1, end - first)
            looks.append(await _look(editor, person, work))
        return Hour(looks[0], looks[-1], person.did, perf_counter() - begun)


def _work(editor: FakeEditor) -> float:
    """Return the server's processor time, in milliseconds."""
    assert editor._server is not None
    return 1000 * processor_seconds(editor._server.pid)


async def _look(editor: FakeEditor, person: Person, work: float) -> Look:
    """Measure the server between two minutes."""
    assert editor._server is not None
    await settled(editor)  # the index process has started and done its initial reading
    tasks = await _lasting(editor)
    held = await asyncio.to_thread(usage_of, editor._server.pid)
    cuts = quantiles(person.strokes, n=100)
    turn = quantiles(person.turns, n=2)[0]
    return Look(held, tasks, work, (cuts[49], cuts[98]), turn)


async def _lasting(editor: FakeEditor) -> list[str]:
    """Return the fewest running tasks: those that publish or read have ended."""
    fewest: list[str] = await editor.request("test/tasks")
    n_asked = 0
    while n_asked < N_ASKED:
        n_asked += 1
        now = await editor.request("test/tasks")
        if len(now) < len(fewest):
            fewest, n_asked = now, 0
    return fewest


def main(arguments: list[str]) -> int:
    """Run an hour, or as many minutes as are given."""
    minutes = int(arguments[0]) if arguments else 60
    seed = int(arguments[1]) if arguments[1:] else 1
    with tempfile.TemporaryDirectory() as folder:
        hour = asyncio.run(live(Path(folder), minutes, seed))
    sys.stdout.write(f"{hour.table()}\n")
    faults = [*hour.faults(), *hour.waits()]
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
