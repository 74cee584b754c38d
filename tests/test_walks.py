"""How many modules of Stet one operation enters, counted in a running server.

An operation that enters few modules can be read; a limit rises only with a feature. The operations
have run once before they are counted, so that imports and first-time work are left out.
"""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.live_turns import provider, run
from tests.support.openai_server import OpenAIServer, Reply, call

TRACED = (sys.executable, "-I", str(Path(__file__).parent / "support" / "traced_server.py"))
LIMITS = {"keystroke": 14, "keystroke with a hunk": 30, "accept": 63, "ask": 133}
"""The most modules that an operation may enter. Lower a limit when the count has fallen.

An accept also names the other files that it changes, an ask shows its answer beside the code, and
calls that a model writes as text are held back from the answer and read. How a model is asked follows
from its profile, a short prompt offers few tools, and a turn without a proposal says what to do.
"""

TEXT = "".join(f"line {n}\n" for n in range(1, 41))


def replies(*numbers: int) -> list[Reply]:
    """A model that capitalises these lines, one turn each."""
    turns = [
        (call("edit_file", **_capitalised(number)), call("done", summary=f"Line {number}."))
        for number in numbers
    ]
    return [reply for turn in turns for reply in turn]


def _capitalised(number: int) -> dict[str, str]:
    return {"file": "a.txt", "old_text": f"line {number}\n", "new_text": f"LINE {number}\n"}


class Walk:
    """One editor whose server records the modules that it enters."""

    def __init__(self, editor: FakeEditor, uri: str) -> None:
        self.editor = editor
        self.uri = uri
        self.n_turns = 0

    async def trace(self, operation: Callable[[], Awaitable[None]]) -> list[str]:
        """Carry out the operation. Return the modules that it entered."""
        await self.editor.request("test/trace", {"on": True})
        await operation()
        entered: list[str] = await self.editor.request("test/trace", {"on": False})
        return entered

    async def type_key(self) -> None:
        """Type one character in a document without hunks."""
        self.editor.type("b.txt", 0, 0, "x")
        self.editor.flush()

    async def type_line(self) -> None:
        """Type a line break at the start of the document; wait until its hunks are shown lower."""
        shown = self._lines_shown()
        self.editor.type("a.txt", 0, 0, "\n")
        self.editor.flush()
        await self.editor.wait_until(lambda: self._lines_shown() > shown)

    def _lines_shown(self) -> list[int]:
        return sorted(shown.range.start.line for shown in self.editor.diagnostics[self.uri])

    async def ask(self) -> None:
        """Ask a question and wait until the turn has ended with one hunk."""
        self.n_turns += 1
        turn = await run(self.editor, f"Capitalise line {self.n_turns}0.", uri=self.uri)
        [self.hunk] = turn["hunks"]
        await self.editor.wait_for_diagnostics(self.uri)

    async def accept(self) -> None:
        """Accept the last hunk and wait until it is no longer shown."""
        await self.editor.command("stet.accept", {"hunk": self.hunk})
        await self.editor.wait_until(lambda: self.hunk not in self._hunks_shown())

    def _hunks_shown(self) -> list[str]:
        return [(shown.data or {}).get("hunk", "") for shown in self.editor.diagnostics[self.uri]]


@pytest.fixture
async def walk(tmp_path: Path) -> AsyncIterator[Walk]:
    """An editor with two open files and a model that edits the first one three times."""
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.txt").write_text(TEXT)
    (root / "b.txt").write_text(TEXT)
    async with (
        OpenAIServer(replies(10, 20, 30)) as server,
        FakeEditor.start(root, env=provider(server), command=TRACED) as editor,
    ):
        editor.open("b.txt")
        yield Walk(editor, editor.open("a.txt"))


async def test_operations_enter_few_modules(walk: Walk) -> None:
    """Count what two warm runs have in common: a timer of the server enters modules in one of
    them.
    """
    await walk.ask()
    await walk.type_line()
    await walk.accept()
    first, second = [
        {
            "ask": await walk.trace(walk.ask),
            "keystroke with a hunk": await walk.trace(walk.type_line),
            "accept": await walk.trace(walk.accept),
            "keystroke": await walk.trace(walk.type_key),
        }
        for _ in range(2)
    ]
    entered = {name: set(first[name]) & set(second[name]) for name in LIMITS}
    counts = {name: len(modules) for name, modules in entered.items()}
    assert {name: n for name, n in counts.items() if n > LIMITS[name]} == {}, entered
