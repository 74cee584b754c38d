"""The answer of `stet ask` on a terminal: Markdown that grows, with a line about the work below.

A finished block (a paragraph, a list, a code block) is printed once and stays. Only the last block,
cut to the height of the terminal, and the line about the work are drawn again: nothing flickers,
and what is above can be scrolled.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text

from stet.cli.terminal import markdown
from stet.text.escape import escape_line

REFRESHES = 8
"""Per second."""
_BELOW = 3
"""Lines of the terminal that the last block leaves free."""


def can_show(console: Console) -> bool:
    """Return whether a console can show text that changes, with colours."""
    return console.is_terminal and not console.no_color and not console.is_dumb_terminal


def finished_length(text: str) -> int:
    """Return the length of the blocks of a Markdown text that further text can't change.

    That is all but the last block.
    """
    tokens = MarkdownIt().enable("table").parse(text)
    starts = [token.map[0] for token in tokens if token.map and token.level == 0]
    lines = text.splitlines(keepends=True)
    return len("".join(lines[: starts[-1]])) if starts else 0


class AnswerView:
    """The answer and the work of one question on a console; used on the event loop only."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._text = ""
        self._printed = 0
        self._spinner = Spinner("dots")
        self._live = Live(
            self, console=console, refresh_per_second=REFRESHES, transient=True, auto_refresh=True
        )

    @contextmanager
    def shown(self) -> Iterator[Callable[[str], None]]:
        """Show the view during the block; `finish` prints the rest of the answer after it.

        Yields:
            A function that replaces the line about the work.
        """
        with self._live:
            try:
                yield self._report
            except BaseException:  # Ctrl-C: what was written stays on the screen
                self._print(len(self._text) - self._printed)
                raise

    def _report(self, message: str) -> None:
        """Replace the line about the work."""
        self._spinner.update(text=Text(escape_line(message), no_wrap=True, overflow="ellipsis"))

    def append(self, start: int, text: str) -> None:
        """Put a text after the first `start` code points of the answer; print finished blocks."""
        self._text = self._text[:start] + text
        if start < self._printed:  # the answer is written again
            self._text, self._printed = text, 0
        self._print(finished_length(self._text[self._printed :]))

    def finish(self, text: str) -> None:
        """Print what has not been printed of the whole answer `text`."""
        is_same = text.startswith(self._text[: self._printed])
        self._text, self._printed = text, self._printed if is_same else 0
        self._print(len(text) - self._printed)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let the terminal be used for a question during the block."""
        self._live.stop()
        try:
            yield
        finally:
            self._live.start(refresh=True)

    def _print(self, length: int) -> None:
        """Print the next `length` code points of the answer, with a blank line between blocks."""
        is_first, block = not self._printed, self._text[self._printed : self._printed + length]
        # First of all: printing draws the unfinished block again, below.
        self._printed += length
        if block.strip():
            self._console.print(*([] if is_first else [Text()]), markdown(block), sep="\n")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the last lines of the unfinished block, and the line about the work."""
        unfinished = self._text[self._printed :]
        if unfinished.strip():
            lines = console.render_lines(markdown(unfinished), options, pad=False)
            if self._printed:
                yield Segment.line()
            for line in lines[-max(1, options.size.height - _BELOW) :]:
                yield from line
                yield Segment.line()
        yield self._spinner
