"""Random schedules of a slow editor, a user who continues to type, and a server that is killed.

`python -m tests.soak.schedules [SCHEDULES [SEED]]` prints the results. A schedule is a document
with its own typing rhythm, in which hunks are accepted at a random moment; the editor takes 50 to
500 ms for each edit. Several documents share an editor; the servers of half of the editors are
killed at a random moment and restarted, and get commands before they are ready.
"""

import asyncio
import logging
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.live_turns import states
from tests.support.proposals import PROPOSING_SERVER, propose
from tests.support.restarts import killed_at_the_end
from tests.support.typist import Typist

CLIENTS = ("neovim", "helix", "eglot", "vscode")
TEXT = "one\ntwo\nand\nthree\nfour\n"
WRITTEN = "one\n2\nand\nthree\n4\n"
TOGETHER = 10
"""The number of schedules per editor."""
MOST_SECONDS = 60.0
"""Seconds for which an accepted edit may be in flight after the last key."""


@dataclass(slots=True)
class Figures:
    """The results of schedules.

    Attributes:
        n_schedules: The number of schedules.
        n_restarts: The number of killed servers.
        n_accepted: The number of hunks that the user accepted.
        n_edits: The number of edits that the editor was asked to apply.
        most_in_flight: The most unanswered edits of one document at one time.
        lost: A sentence for each accepted hunk that was not in the text.
        wrong_nothing: The number of commands that wrongly reported that nothing is pending.
        longest: The longest time from the last key until all was in the text, in seconds.
    """

    n_schedules: int = 0
    n_restarts: int = 0
    n_accepted: int = 0
    n_edits: int = 0
    most_in_flight: int = 0
    lost: list[str] = field(default_factory=list)
    wrong_nothing: list[str] = field(default_factory=list)
    longest: float = 0.0

    def __str__(self) -> str:
        problems = [*self.lost[:5], *self.wrong_nothing[:5]]
        return "\n".join(
            (
                f"{self.n_schedules} schedules, {self.n_restarts} of them with a restart; "
                f"{self.n_accepted} hunks accepted, {self.n_edits} edits asked for, at most "
                f"{self.most_in_flight} at once in a document",
                f"{len(self.lost)} lost approvals, {len(self.wrong_nothing)} wrong answers that "
                f"nothing is pending; at most {self.longest:.1f} s from the last key",
                *problems,
            )
        )


class LateEditor(FakeEditor):
    """An editor that takes 50 to 500 ms for each edit, before or after it applies the edit."""

    dice = random.Random(0)

    async def wait_to_look(self) -> None:
        await asyncio.sleep(self.dice.uniform(0.05, 0.5))

    async def wait_to_answer(self) -> None:
        await asyncio.sleep(self.dice.choice((0.0, 0.0, 0.1)))


class _Life:
    """One editor with several documents."""

    def __init__(self, seed: int, n_documents: int, folder: Path, figures: Figures) -> None:
        self.dice = random.Random(seed)
        self.client = CLIENTS[seed % len(CLIENTS)]
        self.names = [f"d{n}.txt" for n in range(n_documents)]
        self.root = folder / "ws"
        self.env = {"XDG_STATE_HOME": str(folder / "state")}
        self.figures = figures
        self.typed = dict.fromkeys(self.names, "")
        self.hunks: dict[str, Sequence[str]] = {}
        self.root.mkdir()
        for name in self.names:
            (self.root / name).write_text(TEXT)

    async def run(self, *, restarts: bool) -> None:
        """Run all schedules of the editor."""
        LateEditor.dice = self.dice
        common: Any = {"client": self.client, "env": self.env, "command": PROPOSING_SERVER}
        texts = dict.fromkeys(self.names, TEXT)
        if restarts:
            async with killed_at_the_end(LateEditor.start(self.root, **common)) as editor:
                await self._begin(editor, texts)
                await self._type(editor, self.dice.uniform(0.05, 1.5), finish=False)
            texts = {name: editor.text(name) for name in self.names}
            self._note(editor)
            self.figures.n_restarts += len(self.names)
        async with LateEditor.start(self.root, **common) as editor:
            if restarts:
                for name in self.names:
                    editor.open(name, texts[name])
                await self._ask_early(editor)
            else:
                await self._begin(editor, texts)
            await self._type(editor, self.dice.uniform(1.0, 2.0), finish=True)
            await self._check(editor)
            self._note(editor)
        self.figures.n_schedules += len(self.names)
        self.figures.n_accepted += sum(map(len, self.hunks.values()))

    def _note(self, editor: FakeEditor) -> None:
        self.figures.n_edits += len(editor.applied)
        self.figures.most_in_flight = max(self.figures.most_in_flight, editor.most_in_flight)

    async def _begin(self, editor: FakeEditor, texts: dict[str, str]) -> None:
        for name in self.names:
            editor.open(name, texts[name])
            changes = [["two\n", "2\n"], ["four\n", "4\n"]]
            self.hunks[name] = await propose(editor, {"edit": name, "changes": changes})

    async def _ask_early(self, editor: FakeEditor) -> None:
        """Ask and accept before the server is ready."""
        listed = await editor.command("stet.proposals")
        missing = {hunk for ids in self.hunks.values() for hunk in ids} - {
            one["hunk"] for one in listed
        }
        if missing:
            self.figures.wrong_nothing.append(f"{self.client}: {sorted(missing)} were not listed")
        waits = any(one["state"] == "pending" for one in listed)
        try:
            await editor.command("stet.accept", {"all": True})
        except JsonRpcException as error:
            if waits:
                self.figures.wrong_nothing.append(f"{self.client}: {error.message}")

    async def _type(self, editor: FakeEditor, seconds: float, *, finish: bool) -> None:
        """Type in every document, and accept in each at its own moment."""
        start = asyncio.get_running_loop().create_task
        tasks = [start(self._in_document(editor, name, seconds)) for name in self.names]
        if finish:
            await asyncio.gather(*tasks)
            return
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    async def _in_document(self, editor: FakeEditor, name: str, seconds: float) -> None:
        gaps = [self.dice.uniform(0.02, 0.2) for _ in range(7)]
        moment = self.dice.uniform(0.0, seconds / 2)
        typist = Typist(editor, editor.uri(name), every=gaps, typed=self.typed[name])
        try:
            async with typist:
                await asyncio.sleep(moment)
                await self._accept(editor, name)
                await asyncio.sleep(seconds - moment)
        finally:
            self.typed[name] = typist.typed

    async def _accept(self, editor: FakeEditor, name: str) -> None:
        """Accept both hunks of a document, at once or one after the other."""
        now = await states(editor)
        named: list[dict[str, Any]] = [{"hunk": hunk} for hunk in self.hunks[name]]
        if self.dice.random() < 0.5:
            named = [{"uri": editor.uri(name)}]
        left = [hunk for hunk in self.hunks[name] if now[hunk] != "accepted"]
        for one in named if left else ():
            try:
                await editor.command("stet.accept", one)
            except JsonRpcException:
                now = await states(editor)
                if all(now[hunk] != "accepted" for hunk in self.hunks[name]):
                    raise

    async def _check(self, editor: FakeEditor) -> None:
        """Check that all accepted hunks get into the text, and nothing else changes there."""
        stopped = time.perf_counter()
        while time.perf_counter() < stopped + MOST_SECONDS:
            if "sent" not in (await states(editor)).values():
                break
        self.figures.longest = max(self.figures.longest, time.perf_counter() - stopped)
        now = await states(editor)
        for name in self.names:
            left = {hunk: now[hunk] for hunk in self.hunks[name] if now[hunk] != "accepted"}
            if left or editor.text(name) != self.typed[name] + WRITTEN:
                text = editor.text(name)[len(self.typed[name]) :]
                shown_text = Counter(one.message for one in editor.messages)
                reported = f"{self.client} {name}: {left}, {text!r}; {shown_text}"
                self.figures.lost.append(reported)


async def run_schedules(n_schedules: int, seed: int, *, together: int = TOGETHER) -> Figures:
    """Run `n_schedules`, `together` of them in one editor."""
    figures = Figures()
    while figures.n_schedules < n_schedules:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            life = _Life(seed, together, Path(folder), figures)
            await life.run(restarts=seed // len(CLIENTS) % 2 == 0)
        seed += 1
    return figures


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # refusals by the editor are expected
    began = time.perf_counter()
    found = asyncio.run(run_schedules(count, first))
    sys.stdout.write(f"{found}\n{time.perf_counter() - began:.0f} s (seed {first})\n")
    sys.exit(bool(found.lost or found.wrong_nothing))
