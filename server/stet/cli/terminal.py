"""Output of the shell's commands: diffs, sentences, a progress line; readable without colour.

All text from a file, a model or the server is passed through `escape` and never parsed as rich's
markup. Results are written to stdout, progress and messages to stderr.
"""

import asyncio
import contextlib
import os
import re
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from io import TextIOWrapper
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from stet.text.buffer import TextBuffer
from stet.text.diff import unified_diff
from stet.text.encoding import Encoding
from stet.text.escape import escape, escape_line

_NUMBERS = re.compile(r"\A(Retrying|Waiting [0-9]+ s): |[0-9,.]+")
"""What may differ in two messages about the same: numbers, and how long a next try waits."""
_COMPARED = 60
"""The characters of a message that are compared with the one before."""
STYLES = {"+": "green", "-": "red", "@": "cyan"}


class CliError(Exception):
    """A command has failed; the message is one sentence for the user."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


class Terminal:
    """Stdout and stderr of one command.

    Attributes:
        out: The console on stdout, for results.
        err: The console on stderr, for progress and messages.
        reported: The progress messages that were printed as lines and are still on the screen.
    """

    def __init__(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                # Characters that the encoding lacks are written as escapes.
                stream.reconfigure(errors="backslashreplace")
        self.out = Console(highlight=False, markup=False, emoji=False)
        self.err = Console(highlight=False, markup=False, emoji=False, stderr=True)
        self.reported: set[str] = set()

    @property
    def is_interactive(self) -> bool:
        """Whether a user can be asked."""
        return sys.stdin.isatty() and self.err.is_terminal

    def show(self, text: str | Text, style: str = "") -> None:
        """Print text of any origin to stdout, unwrapped."""
        rendered = text if isinstance(text, Text) else Text(escape(text), style)
        self.out.print(rendered, soft_wrap=True)

    def say(self, text: str, style: str = "") -> None:
        """Print a line of any origin to stderr."""
        self.err.print(Text(escape_line(text), style), soft_wrap=True)

    def show_markdown(self, text: str) -> None:
        """Print Markdown of any origin to stdout: rendered on a terminal, unchanged elsewhere."""
        if self.out.is_terminal:
            self.out.print(markdown(text))
        else:
            self.show(text)

    def explain(self, text: Text) -> None:
        """Print lines to stderr."""
        self.err.print(text, soft_wrap=True)

    @contextlib.contextmanager
    def working(self, what: str) -> Iterator[Callable[[str], None]]:
        """Show a live line on stderr while an operation runs. Without a terminal nothing is shown.

        Yields:
            A function that replaces the text of the line.
        """
        with self._live(what, SpinnerColumn(), _description()) as update:
            yield lambda message: update(description=escape_line(message))

    @contextlib.contextmanager
    def reporting(self, what: str) -> Iterator[Callable[[str], None]]:
        """Show the progress of work on stderr: a live line, or lines where none can be shown.

        Yields:
            A function that takes the next message. It is not printed as a line if it begins as the
            one before, apart from numbers: a request that is tried again is reported once.
        """
        if self.err.is_terminal and not self.err.no_color:
            with self.working(what) as update:
                yield update
            return
        printed = ""

        def print_line(message: str) -> None:
            nonlocal printed
            if (beginning := _NUMBERS.sub("", message)[:_COMPARED]) != printed:
                printed = beginning
                self.reported.add(message)
                self.say(message)

        yield print_line

    @contextlib.contextmanager
    def counting(self, what: str) -> Iterator[Callable[[int, int], None]]:
        """Show a bar on stderr while items are counted. Without a terminal nothing is shown.

        Yields:
            A function that takes the number of items done and the number of known items.
        """
        with self._live(what, _description(), BarColumn(), MofNCompleteColumn()) as update:
            # A total that is not above `done` is not known yet.
            yield lambda done, total: update(completed=done, total=total if total > done else None)

    @contextlib.contextmanager
    def _live(self, what: str, *columns: ProgressColumn) -> Iterator[Callable[..., None]]:
        """Show a live line of these columns and the time. Without a terminal nothing is shown.

        Yields:
            A function that updates the line.
        """
        columns, hidden = (*columns, TimeElapsedColumn()), not self.err.is_terminal
        with Progress(*columns, console=self.err, transient=True, disable=hidden) as live:
            yield partial(live.update, live.add_task(escape_line(what), total=None))


def markdown(text: str) -> Markdown:
    """Return Markdown of any origin for the terminal, with addresses shown and not as links."""
    return Markdown(escape(text), hyperlinks=False)


def _description() -> TextColumn:
    return TextColumn("{task.description}", markup=False)


def hunk_diff(proposal: Mapping[str, Any], text: str | None, name: str, encoding: Encoding) -> str:
    """Return a unified diff of one proposal of `stet.proposals`.

    Args:
        proposal: An item of the answer of `stet.proposals`.
        text: The current text of the document; None if the document does not exist.
        name: The name of the document.
        encoding: The unit of the columns of the proposal's range.
    """
    if text is None:
        return unified_diff(proposal["old"], proposal["new"], name, name)
    start, end = proposal["range"]["start"], proposal["range"]["end"]
    after = TextBuffer(text)
    after.splice(
        start["line"], start["character"], end["line"], end["character"], proposal["new"], encoding
    )
    return unified_diff(text, after.text, name, name)


def coloured(diff: str) -> Text:
    """Return a unified diff with colours; the marks have the same meaning without colour."""
    text = Text()
    for line in escape(diff).splitlines(keepends=True):
        head = line.startswith(("+++", "---"))
        text.append(line, "bold" if head else STYLES.get(line[:1], ""))
    text.rstrip()
    return text


def indented(text: Text, columns: int) -> Text:
    """Return `text` indented; unlike with padding, lines are neither filled nor cut."""
    return Text("\n").join(Text(" " * columns) + line for line in text.split("\n"))


class LineReader:
    """A reader of typed lines that does not block the event loop.

    A daemon thread reads from the descriptor: a thread blocked inside `sys.stdin` could not be
    abandoned when Ctrl-C ends the program.
    """

    def __init__(self) -> None:
        self._buffer = b""

    async def read_line(self, question: str) -> str | None:
        """Ask on stderr; return the answer without its line end, or None at the end of input."""
        sys.stderr.write(escape_line(question))
        sys.stderr.flush()
        while b"\n" not in self._buffer:
            chunk = await _read_chunk()
            if not chunk:
                rest, self._buffer = self._buffer, b""
                return rest.decode(errors="replace") if rest else None
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")


def _read_chunk() -> Awaitable[bytes]:
    """Read from stdin in a thread that the end of the program does not wait for."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[bytes] = loop.create_future()

    def finish(result: bytes) -> None:
        if not future.done():
            future.set_result(result)

    def run() -> None:
        try:
            result = os.read(sys.stdin.fileno(), 4096)
        except OSError:  # the terminal is closed
            result = b""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(finish, result)

    threading.Thread(target=run, daemon=True).start()
    return future
