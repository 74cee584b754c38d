"""`stet demo`: two or three jobs on sample files in a real session with a real model.

Every printed line reports an action that has happened; the lines about the editor's text and the
file on disk report a comparison.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from stet.cli.files import save
from stet.cli.model_command import describe_choice
from stet.cli.terminal import CliError, Terminal, coloured, hunk_diff, indented
from stet.llm.model import NoModel
from stet.llm.model_selection import ModelChoice, select_model
from stet.lsp.headless.headless_client import (
    CommandFailed,
    EditApplied,
    Event,
    HeadlessClient,
    ServerFailed,
    ServerProgress,
)
from stet.settings.layers import read_layers
from stet.system.helper_process import kill_and_wait
from stet.system.system import System
from stet.text.escape import escape
from stet.text.render import counted

STATS = """\
def moving_average(values, width):
    if width < 1:
        raise ValueError("width must be at least 1")
    averages = []
    total = 0.0
    for index, value in enumerate(values):
        total += value
        if index >= width:
            total -= values[index - width]
        averages.append(total / min(index + 1, width))
    return averages
"""
WORDS = """\
def count_words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts
"""
WORDS_TEST = """\
from words import count_words

assert count_words("To be or not to be") == {"to": 2, "be": 2, "or": 1, "not": 1}
"""
NOTE = """\
# Release notes

The new parser are faster than the old one, and it use less memory.
"""


INDENT = 13
"""The indent, in columns, of all output of a step."""
GAP = 3
NEXT = "Next: stet config neovim --write (or vscode, helix, emacs)"
"""The last line of the output."""


@dataclass(frozen=True, slots=True)
class DemoJob:
    """One request of the demonstration.

    Attributes:
        title: The heading of the job.
        file: The name of the sample file.
        text: The content of the sample file.
        lines: The first and last selected line, 1-based.
        prompt: The prompt that is sent.
        test: The content of a program that fails before the job and is to pass after it; "" for no
            program. Its file is `test_` and the name of the sample file.
    """

    title: str
    file: str
    text: str
    lines: tuple[int, int]
    prompt: str
    test: str = ""

    @property
    def test_file(self) -> str:
        """The name of the file of the test."""
        return f"test_{self.file}"


DOCUMENT = DemoJob(
    "Document a function", "stats.py", STATS, (1, 11), "Add a docstring to this function."
)
FIX = DemoJob(
    "Fix a bug", "words.py", WORDS, (1, 5), "count_words() should ignore case.", WORDS_TEST
)
CORRECT = DemoJob("Correct a sentence", "note.md", NOTE, (3, 3), "Correct the grammar.")
TEST_SECONDS = 20.0
"""The time in which the test of a job must end."""


def run() -> int:
    """Run both jobs and return the exit code.

    Raises:
        CliError: If a job fails; the message gives the reason.
    """
    terminal = Terminal()
    try:
        with tempfile.TemporaryDirectory(prefix="stet-demo-") as folder:
            asyncio.run(_DemoSession(terminal, Path(folder).resolve()).run())
    except (ServerFailed, CommandFailed) as error:
        raise CliError(str(error)) from error
    return 0


class _DemoSession:
    """One run of `stet demo`."""

    def __init__(self, terminal: Terminal, folder: Path) -> None:
        self._terminal = terminal
        self._root = folder / "sample"
        self._state = folder / "state"
        self._progress: Callable[[str], None] = lambda _: None
        self._applied: list[EditApplied] = []
        self._client = HeadlessClient(System(), on_event=self._event)

    async def run(self) -> None:
        started = time.monotonic()
        choice = await self._chosen_model()
        is_tiny = choice.local is not None and choice.local.is_tiny
        jobs = (DOCUMENT, CORRECT) if is_tiny else (DOCUMENT, FIX, CORRECT)
        self._root.mkdir()
        for job in jobs:
            (self._root / job.file).write_bytes(job.text.encode())
            if job.test:
                (self._root / job.test_file).write_bytes(job.test.encode())
        self._terminal.show("Stet proposes edits; your text changes only when you accept.", "bold")
        files = counted(sum(1 for _ in self._root.iterdir()), "sample file")
        self._step("workspace", f"{self._root} ({files})")
        # The state is deleted with the folder: later sessions do not need it.
        env = {**os.environ, "XDG_STATE_HOME": str(self._state)}
        async with AsyncExitStack() as stack:
            with self._terminal.working("starting the language server") as self._progress:
                await stack.enter_async_context(self._client.session(self._root, env=env))
            self._step("model", describe_choice(choice))
            if is_tiny:
                self._step("", "135 million parameters: enough for small jobs like these two")
            for number, job in enumerate(jobs, start=1):
                self._terminal.show(f"\n{number}. {job.title}", "bold")
                await self._run_job(job)
        self._terminal.show(f"\nDone in {time.monotonic() - started:.1f} s.", "bold")
        self._terminal.show(NEXT)

    async def _chosen_model(self) -> ModelChoice:
        """Return the model that the server will choose.

        Raises:
            CliError: If there is no model; the message names a remedy.
        """
        system = System()
        try:
            return await select_model(
                read_layers(system.read_bytes, [self._root]).settings.model, system
            )
        except NoModel as error:
            raise CliError(str(error)) from error

    async def _run_job(self, job: DemoJob) -> None:
        """Open the file, ask, check that nothing is changed, accept, save."""
        client, path = self._client, self._root / job.file
        first, last = job.lines
        uri = client.open(path)
        self._step("opened", f"{job.file} ({job.text.count(chr(10))} lines)")
        self._step("selected", f"line {first}" if first == last else f"lines {first} to {last}")
        if job.test:
            passes = await self._passes(job)
            self._step("test", f"{job.test_file} {'passes' if passes else 'fails'}")
        self._step("asked", f"“{job.prompt}”")
        turn = await self._turn(job, uri)
        hunks = await self._proposed(turn)
        if client.documents.text(uri) != job.text or path.read_bytes() != job.text.encode():
            raise CliError(f"{job.file} changed before anything was accepted")
        self._step("untouched", "the editor's text and the file on disk are unchanged")
        await self._accept(turn, len(hunks))
        for change in client.documents.unsaved():
            save(change)
            client.saved(change)
        self._step("saved", job.file)
        if job.test:
            result = "passes" if await self._passes(job) else "still fails: the fix is wrong"
            self._step("test", f"{job.test_file} {result}")
        self._side_by_side(job.text, path.read_text(encoding="utf-8"))

    async def _passes(self, job: DemoJob) -> bool:
        """Run the test of a job on the saved file; return whether it passes."""
        code = f"import runpy, sys; sys.path.insert(0, '.'); runpy.run_path({job.test_file!r})"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-B", "-c", code),
            cwd=self._root,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(TEST_SECONDS):
                return await process.wait() == 0
        except TimeoutError:
            return False
        finally:
            await kill_and_wait(process)

    async def _turn(self, job: DemoJob, uri: str) -> dict[str, Any]:
        """Run one turn with a progress line, and return its result.

        Raises:
            CliError: If the turn does not complete.
        """
        began = time.monotonic()
        place = {"uri": uri, "from": job.lines[0], "to": job.lines[1]}
        question = {"prompt": job.prompt, "mode": "rewrite", **place}
        with self._terminal.working("waiting for the model") as self._progress:
            task = await self._client.command("stet.ask", question)
            turn = await self._client.turn_ended(task["turn"])
        if turn["state"] != "completed":
            raise CliError(
                f"the request {turn['state']}: {turn.get('error') or turn.get('summary')}"
            )
        seconds, usage = time.monotonic() - began, turn["usage"]
        tokens = f"{usage['promptTokens']} tokens in, {usage['completionTokens']} out"
        self._step("answered", f"{turn['model']}, in {seconds:.1f} s, {tokens}")
        return turn

    async def _proposed(self, turn: dict[str, Any]) -> list[dict[str, Any]]:
        """Show the pending proposals and return them.

        Raises:
            CliError: If there are no proposals.
        """
        client, which = self._client, {"turn": turn["turn"], "state": "pending"}
        hunks: list[dict[str, Any]] = await client.command("stet.proposals", which)
        if not hunks:
            raise CliError(f"the model proposed no edit: {turn.get('summary')}")
        marks = await client.marks(hunks[0]["uri"])
        counts = f"{counted(len(hunks), 'hunk')}, {counted(len(marks), 'diagnostic')}"
        self._step("proposed", f"{counts}:")
        for hunk in hunks:
            text = client.documents.text(hunk["uri"])
            name = client.documents.name(hunk["uri"], self._root)
            diff = hunk_diff(hunk, text, name, client.documents.encoding)
            self._terminal.show(indented(coloured(diff), INDENT))
        return hunks

    async def _accept(self, turn: dict[str, Any], n_expected: int) -> None:
        """Accept all proposals of the turn.

        Raises:
            CliError: If a proposal is refused.
        """
        self._applied.clear()
        done = await self._client.accept(turn=turn["turn"])
        if len(done["accepted"]) != n_expected:
            reasons = "; ".join(refusal["reason"] for refusal in done["refused"])
            raise CliError(f"some hunks could not be accepted: {reasons}")
        n_edits = sum(not edit.refused for edit in self._applied)
        edits = f"{counted(n_edits, 'edit')} sent with workspace/applyEdit, applied by the editor"
        self._step("accepted", edits)

    def _event(self, event: Event) -> None:
        if isinstance(event, EditApplied):
            self._applied.append(event)
        elif isinstance(event, ServerProgress) and event.stage != "end":
            self._progress(event.message or event.title)

    def _step(self, name: str, text: str) -> None:
        """Print one line: the name of a step, and its details."""
        line = Text.assemble((f"  {name:<{INDENT - 2}}", "cyan"), escape(text))
        self._terminal.out.print(line, soft_wrap=True)

    def _side_by_side(self, before: str, after: str) -> None:
        """Show the file before and after, side by side if both fit."""
        texts = [Text(escape(text).rstrip("\n")) for text in (before, after)]
        widths = [max(line.cell_len for line in text.split("\n")) for text in texts]
        if INDENT + sum(widths) + GAP <= self._terminal.out.width:
            table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="cyan")
            for title in ("before", "after"):
                table.add_column(title, no_wrap=True)
            table.add_row(*texts)
            self._terminal.out.print(Padding(table, (0, 0, 0, INDENT), expand=False))
            return
        for title, text in zip(("before", "after"), texts, strict=True):
            self._step(title, "the whole file")
            self._terminal.show(indented(text, INDENT))
