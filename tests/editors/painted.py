"""Screens with colours, written by hand, and the screen of a terminal in the same form.

A screen is a file of rows. A row that begins with `@` says how the row above it is painted: runs
such as `d6-60`, a letter of a background and the columns from the first to past the last. What no
run names has the background of the page.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.ansi import AnsiDecoder
from rich.cells import cell_len
from rich.text import Text

from tests.editors.terminal import Terminal

REVERSE = "reverse"
"""The background of reverse video without colours."""
FOLDER = Path(__file__).with_name("screens")


def expected(name: str) -> list[str]:
    """Return the rows of a screen that was written by hand, without empty rows at the end."""
    return (FOLDER / f"{name}.txt").read_text().rstrip("\n").split("\n")


def painted(screen: str, letters: Mapping[str, str]) -> list[str]:
    """Return a terminal's screen in the form of the files.

    Args:
        screen: The screen with its colour sequences.
        letters: The letter of each background, by its colour in the form `#500000` or `REVERSE`.
            Other backgrounds count as the page.
    """
    rows: list[str] = []
    for line in AnsiDecoder().decode(screen):
        rows.append(line.plain.rstrip())
        if runs := _runs(_letters(line, letters)):
            rows.append(f"@ {' '.join(runs)}")
    while rows and not rows[-1]:
        rows.pop()
    return rows


def wait_for_rows(
    terminal: Terminal, rows: Callable[[], list[str]], wanted: list[str], name: str
) -> None:
    """Wait until the screen of a terminal is the wanted one.

    Args:
        terminal: The terminal.
        rows: Return the rows of the present screen to compare, in the form of the files.
        wanted: The rows of the wanted screen.
        name: The name of the wanted screen.

    Raises:
        AssertionError: If the deadline has passed; with the difference.
    """
    shown: list[str] = []

    def is_shown(_: list[str]) -> bool:
        shown[:] = rows()
        return shown == wanted

    try:
        terminal.wait(is_shown, name)
    except AssertionError:
        difference = difflib.unified_diff(wanted, shown, name, "the screen", lineterm="")
        raise AssertionError("\n".join(difference)) from None


def backgrounds(screen: str) -> set[str]:
    """Return the colours of a screen's backgrounds, in the form `#500000`, without `REVERSE`."""
    lines = AnsiDecoder().decode(screen)
    found = {colour for line in lines for colour in _colours(line) if colour is not None}
    return found - {REVERSE}


def _colours(line: Text) -> list[str | None]:
    """Return the background of each cell."""
    colours: list[str | None] = []
    for at, char in enumerate(line.plain):
        found = None
        for span in line.spans:
            if span.start <= at < span.end and not isinstance(span.style, str):
                style = span.style
                colour = style.color if style.reverse else style.bgcolor
                if style.reverse and (colour is None or colour.is_default):
                    found = REVERSE
                else:
                    found = colour.get_truecolor().hex if colour is not None else None
        colours += [found] * cell_len(char)
    return colours


def _letters(line: Text, letters: Mapping[str, str]) -> str:
    return "".join(letters.get(colour or "", " ") for colour in _colours(line))


def _runs(row: Sequence[str]) -> list[str]:
    runs, first = [], 0
    for at in range(1, len(row) + 1):
        if at == len(row) or row[at] != row[first]:
            if row[first] != " ":
                runs.append(f"{row[first]}{first}-{at}")
            first = at
    return runs
