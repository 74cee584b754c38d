"""What a thousand pending hunks cost: a keystroke, an answer, a decision, in one process.

The server is the whole one; only the pipe to the editor is missing. The editor in here applies what it
is asked to and reports it as changes from the bottom up, as most do.
"""

import asyncio
import gc
import json
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from statistics import median
from time import perf_counter
from typing import Any

from stet.lsp.server import build_server
from stet.lsp.showing.publisher import DELAY
from stet.lsp.state import ServerState
from stet.review.drafts import EditDraft
from stet.text.edit import Replacement, TextEdit
from tests.bench.process import INITIALIZE
from tests.bench.table import Row, at_most
from tests.support.page import rules

N_LINES = 10_000
MANY, FEW = 1_000, 10
ROUNDS = 3
STROKES = 50
LINE = "the quick brown fox jumps over the lazy dog"
KEYSTROKE_BUDGET, KEYSTROKE_AIM = 1_000, 50
"""Microseconds; what hunks may add to a keystroke, and what we would like."""
HOLD_BUDGET = 100
"""Milliseconds, which a person takes for at once; how long a keystroke may wait behind one thing that
is done with all the hunks."""


class Desk:
    """One server, and the editor that it talks to.

    Attributes:
        state: What the server owns.
        lasting: The tasks that stay as long as it does, and the one that measures.
    """

    def __init__(self) -> None:
        self._server = build_server()
        first: Any = self._server.documents
        self._state: Callable[[], ServerState] = first._state
        self._server.protocol.set_writer(self)
        self._ids = count(1)
        self._versions = count(1)
        self._answers: dict[object, Any] = {}
        self.lasting: set[asyncio.Task[Any]] = set()

    @property
    def state(self) -> ServerState:
        return self._state()

    async def begin(self) -> None:
        """Say hello, and wait until the server is ready."""
        self.ask("initialize", INITIALIZE)
        self._notify("initialized", {})
        _ = await self.state.startup.answerer()
        self.lasting = asyncio.all_tasks()

    async def end(self) -> None:
        """Let go of everything."""
        await self._server.tasks.close()
        assert self._server.closing is not None
        await self._server.closing()

    # -- from the server -------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Take a message; a request is answered once the server has done what it is doing."""
        message = json.loads(data.partition(b"\r\n\r\n")[2])
        method = message.get("method")
        if method is None:
            self._answers[message["id"]] = message["result"]
        elif "id" in message:
            asyncio.get_running_loop().call_soon(self._answer, message)

    def close(self) -> None:
        """Nothing is to be closed."""

    def _answer(self, message: dict[str, Any]) -> None:
        result: object = None
        if message["method"] == "workspace/configuration":
            result = [None]
        elif message["method"] == "workspace/applyEdit":
            for change in message["params"]["edit"]["documentChanges"]:
                edits = [{"range": e["range"], "text": e["newText"]} for e in change["edits"]]
                self.change(change["textDocument"]["uri"], *reversed(edits))
            result = {"applied": True}
        self._receive({"id": message["id"], "result": result})

    # -- to the server ---------------------------------------------------------------------------

    def ask(self, method: str, params: object) -> Any:
        """The result of a request, which is answered at once."""
        number = next(self._ids)
        self._receive({"id": number, "method": method, "params": params})
        return self._answers.pop(number)

    def command(self, name: str, **arguments: object) -> Any:
        """The result of a command."""
        return self.ask("workspace/executeCommand", {"command": name, "arguments": [arguments]})

    def open(self, uri: str, text: str) -> None:
        """Open a document."""
        document = {"uri": uri, "languageId": "plaintext", "version": 0, "text": text}
        self._notify("textDocument/didOpen", {"textDocument": document})

    def change(self, uri: str, *changes: dict[str, Any]) -> None:
        """Change a document by one message."""
        document = {"uri": uri, "version": next(self._versions)}
        self.state.documents.change({"textDocument": document, "contentChanges": list(changes)})

    async def rests(self) -> None:
        """Wait until what has changed is published; then nothing is left over from before."""
        await asyncio.sleep(2 * DELAY)
        gc.collect()

    def _notify(self, method: str, params: object) -> None:
        self._receive({"method": method, "params": params})

    def _receive(self, message: dict[str, Any]) -> None:
        assert self._server.protocol.receive(json.dumps({"jsonrpc": "2.0", **message}).encode())


class Page:
    """One document with hunks at even distances.

    Attributes:
        waiting: The first lines of the hunks proposed last, but for those that only add lines.
    """

    _numbers = count(1)

    def __init__(self, desk: Desk, n_hunks: int) -> None:
        self.desk = desk
        self.number = next(self._numbers)
        self.uri = f"file:///bench/{self.number}.txt"
        self.step = N_LINES // max(n_hunks, 1)
        self.lines = [f"{LINE} {number}\n" for number in range(N_LINES)]
        desk.open(self.uri, "".join(self.lines))
        self.waiting: list[int] = []
        if n_hunks:
            self.propose(2)

    def propose(self, at: int) -> None:
        """Propose another line on every so manieth, from line `at` of each stretch."""
        document = self.desk.state.workspace.document(self.uri)
        assert document is not None
        starts, offset = [], 0
        for line in document.lines:
            starts.append(offset)
            offset += len(line)
        edit = TextEdit(
            tuple(
                Replacement(starts[n], starts[n + 1], f"proposal {n}\nand more\n")
                for n in range(at, N_LINES, self.step)
            )
        )
        draft = EditDraft(
            turn=f"t{self.number}.{at}",
            author="m",
            document=document,
            name="a.txt",
            edit=edit,
            summary="Change a line",
        )
        hunks = self.desk.state.ledger.propose_edit(draft, rules())
        assert len(hunks) == len(edit.replacements)
        self.waiting = [hunk.range.start.line for hunk in hunks if hunk.old]

    def inside(self, number: int) -> int:
        """A line of a hunk that waits, another one each time; any where there is none."""
        return self.waiting[2 * number] if self.waiting else 20 * number + 2

    async def becomes(self, state: str, n: int = MANY) -> None:
        """Wait until all work is done; its last `n` hunks are in that state then."""
        while tasks := asyncio.all_tasks() - self.desk.lasting:
            await asyncio.wait(tasks)
        found = [str(hunk.state) for hunk in self.desk.state.ledger.hunks(uri=self.uri)]
        assert found.count(state) >= n, found[:3]


def change(line: int, column: int, text: str, end: int | None = None) -> dict[str, Any]:
    """A change as an editor reports it."""
    behind = {"line": line if end is None else end, "character": column}
    return {"range": {"start": {"line": line, "character": column}, "end": behind}, "text": text}


def rows() -> Iterator[Row]:
    """Keystrokes, then what is asked for, then decisions."""
    with tempfile.TemporaryDirectory() as folder:
        before = os.environ.get("XDG_STATE_HOME")
        os.environ["XDG_STATE_HOME"] = folder
        try:
            yield from asyncio.run(_rows())
        finally:
            if before is None:
                del os.environ["XDG_STATE_HOME"]
            else:
                os.environ["XDG_STATE_HOME"] = before


async def _rows() -> list[Row]:
    desk = Desk()
    await desk.begin()
    try:
        return [*await _keystrokes(desk), *await _answers(desk), *await _decisions(desk)]
    finally:
        await desk.end()


# -- keystrokes ----------------------------------------------------------------------------------


async def _keystrokes(desk: Desk) -> list[Row]:
    bare, pending, both = Page(desk, 0), Page(desk, MANY), Page(desk, MANY)
    desk.command("stet.accept", uri=both.uri)
    await both.becomes("accepted")
    both.propose(5)
    pages = {"1,000 pending": pending, "1,000 pending and 1,000 accepted": both}
    strokes: dict[str, Callable[[Page, int], dict[str, Any]]] = {
        "outside": lambda _, n: change(20 * n + 8, 3, "x"),
        "inside a hunk": lambda page, n: change(page.inside(n), 3, "x"),
        # From the bottom up, so that all hit what they are meant to.
        "100 lines pasted": lambda _, n: change(9008 - 20 * n, 0, "pasted\n" * 100),
        "a new line at the top": lambda *_: change(0, 0, "\n"),
    }
    made, worst = [], 0.0
    for what, stroke in strokes.items():
        times = await _in_turns([bare, *pages.values()], stroke)
        for name, ours in zip(pages, times[1:], strict=True):
            worst = max(worst, ours - times[0])
            row = Row(f"{what}, {name}", "µs", ours, times[0], "no hunks", in_detail=True)
            made.append(row)
    for page in pages.values():
        waiting = desk.state.ledger.live(page.uri)
        assert sum(hunk.old != hunk.base for hunk in waiting) >= STROKES, "typed beside the hunks"
    what = "1,000 pending hunks: the most they add to a keystroke"
    bars = at_most(KEYSTROKE_BUDGET), at_most(KEYSTROKE_AIM)
    made.append(Row(what, "µs", worst, must=bars[0], aim=bars[1]))
    return made


async def _in_turns(
    pages: list[Page], stroke: Callable[[Page, int], dict[str, Any]]
) -> list[float]:
    """Microseconds of a stroke in each page."""
    times: list[list[float]] = [[] for _ in pages]
    for number in range(STROKES):
        for page, spent in zip(pages, times, strict=True):
            typed = stroke(page, number)
            started = perf_counter()
            page.desk.change(page.uri, typed)
            spent.append((perf_counter() - started) * 1e6)
    await asyncio.sleep(0)
    return [median(spent) for spent in times]


# -- answers -------------------------------------------------------------------------------------


async def _answers(desk: Desk) -> list[Row]:
    pages = [Page(desk, MANY), Page(desk, FEW)]
    place = {"line": 2, "character": 1}
    here = {"start": place, "end": place}
    publisher: Any = desk.state.publisher

    def document(page: Page) -> dict[str, Any]:
        return {"textDocument": {"uri": page.uri}}

    asked: dict[str, Callable[[Page], Any]] = {
        "code actions": lambda page: desk.ask(
            "textDocument/codeAction",
            {**document(page), "range": here, "context": {"diagnostics": []}},
        ),
        "code lenses": lambda page: desk.ask("textDocument/codeLens", document(page)),
        "hover": lambda page: desk.ask("textDocument/hover", {**document(page), "position": place}),
        "stet.proposals": lambda page: desk.command("stet.proposals", uri=page.uri),
        "stet.next": lambda page: desk.command("stet.next", uri=page.uri),
        "diagnostics": lambda page: publisher._publish(page.uri),
    }
    made = []
    for what, ask in asked.items():
        times: list[list[float]] = [[], []]
        for _ in range(ROUNDS):
            for page, spent in zip(pages, times, strict=True):
                gc.collect()
                started = perf_counter()
                ask(page)
                spent.append((perf_counter() - started) * 1000)
        ours, peer = map(median, times)
        made.append(Row(what, "ms", ours, peer, f"{FEW} hunks", in_detail=True))
    return made


# -- decisions -----------------------------------------------------------------------------------


async def _decisions(desk: Desk) -> list[Row]:
    made = []
    for what, work in WORKS.items():
        many, few = [], []
        for _ in range(ROUNDS):
            many.append(await work(desk, MANY))
            few.append(await work(desk, FEW))
        (total, held), (few_total, _) = map(_medians, (many, few))
        made.append(Row(what, "ms", total, few_total, f"{FEW} hunks", in_detail=True))
        held_for = f"{what}: loop held"
        made.append(Row(held_for, "ms", held, must=at_most(HOLD_BUDGET), in_detail=True))
    return made


def _medians(times: list[tuple[float, float]]) -> tuple[float, float]:
    """Those of the first numbers and of the second."""
    first, second = zip(*times, strict=True)
    return median(first), median(second)


async def _timed(work: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    """Milliseconds it takes, and the longest the event loop stands still meanwhile."""
    loop, longest, over = asyncio.get_running_loop(), 0.0, False
    last = started = perf_counter()

    def tick() -> None:
        nonlocal longest, last
        now = perf_counter()
        longest, last = max(longest, now - last), now
        if not over:
            loop.call_soon(tick)

    loop.call_soon(tick)
    await work()
    total = perf_counter() - started
    tick()
    over = True
    return total * 1000, longest * 1000


async def _page(desk: Desk, n: int) -> Page:
    """A document with so many hunks, whose diagnostics are out."""
    page = Page(desk, n)
    await desk.rests()
    return page


async def _propose(desk: Desk, n: int) -> tuple[float, float]:
    page = await _page(desk, 0)
    page.step = N_LINES // n

    async def work() -> None:
        page.propose(2)

    return await _timed(work)


async def _accept_one(desk: Desk, n: int) -> tuple[float, float]:
    page = await _page(desk, n)
    hunk = desk.state.ledger.live(page.uri)[0].id

    async def work() -> None:
        desk.command("stet.accept", hunk=hunk)
        await page.becomes("accepted", 1)

    return await _timed(work)


async def _accept_all(desk: Desk, n: int) -> tuple[float, float]:
    page = await _page(desk, n)

    async def work() -> None:
        desk.command("stet.accept", uri=page.uri)
        await page.becomes("accepted", n)

    return await _timed(work)


async def _reject_all(desk: Desk, n: int) -> tuple[float, float]:
    page = await _page(desk, n)

    async def work() -> None:
        desk.command("stet.reject", uri=page.uri)
        await page.becomes("rejected", n)

    return await _timed(work)


async def _undo_all(desk: Desk, n: int) -> tuple[float, float]:
    page = await _page(desk, n)
    desk.command("stet.accept", uri=page.uri)
    await page.becomes("accepted", n)
    await desk.rests()

    async def work() -> None:
        desk.command("stet.undo", uri=page.uri)
        await page.becomes("undone", n)

    return await _timed(work)


async def _many_changes(desk: Desk, n: int) -> tuple[float, float]:
    page = await _page(desk, n)
    page.propose(page.step // 2)
    await desk.rests()
    changes = [change(n, 0, "new line\n") for n in range(N_LINES - 2, 0, -5)]

    async def work() -> None:
        desk.change(page.uri, *changes)

    return await _timed(work)


async def _many_from_the_top(desk: Desk, n: int) -> tuple[float, float]:
    page = await _page(desk, n)
    page.propose(page.step // 2)
    await desk.rests()
    changes = [change(n, 0, "new line\n") for n in range(2, N_LINES - 2, 5)]

    async def work() -> None:
        desk.change(page.uri, *changes)

    return await _timed(work)


WORKS: dict[str, Callable[[Desk, int], Awaitable[tuple[float, float]]]] = {
    "proposed at once": _propose,
    "one accepted": _accept_one,
    "all accepted": _accept_all,
    "all rejected": _reject_all,
    "a turn undone": _undo_all,
    "2,000 changes in one message": _many_changes,
    "2,000 changes from the top down": _many_from_the_top,
}
