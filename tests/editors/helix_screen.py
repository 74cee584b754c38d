"""Real Helix whose screen is compared with screens written by hand, text and backgrounds."""

import re
from collections.abc import Mapping

from tests.editors.helix import HelixEditor, Start
from tests.editors.painted import expected, painted, wait_for_rows
from tests.editors.terminal import Terminal

LETTERS = {
    "#000050": "h",
    "#500000": "o",
    "#505000": "c",
    "#905000": "w",
    "#404040": "s",
}
"""What Helix writes about a hunk, and the lines of the hunk; the same of a conflict; what is
selected in a menu.
"""
THEME = """\
"info" = { bg = "#000050" }
"diagnostic.info" = { bg = "#500000" }
"warning" = { bg = "#505000" }
"diagnostic.warning" = { bg = "#905000" }
"ui.menu.selected" = { bg = "#404040" }
"ui.text.focus" = { bg = "#404040" }
"ui.cursor" = { modifiers = ["reversed"] }
"ui.selection" = { modifiers = ["dim"] }
"""
SIZE = (100, 24)
_VARIABLE = (
    (re.compile(r" \(\d+ rounds?, about [^()]*\)$"), ""),
    (re.compile(r"\*(asked|completed) .*$"), r"*\1 …*"),
    (re.compile(r"chat-\w{8}-"), "chat-"),
)
"""What differs from run to run, with what the files have: tokens, times, and a folder's hash."""


def prepare(begin: Start, files: Mapping[str, str], script: str, settings: str = "") -> None:
    """Write the workspace and the files of the home, with the colours of `LETTERS`.

    Args:
        begin: The start.
        files: The workspace.
        script: The model script.
        settings: The user's `languages.toml` before Stet is added.
    """
    (begin.root / ".git").mkdir(parents=True)
    for name, text in files.items():
        (begin.root / name).write_text(text)
    begin.prepare(script, settings)
    folder = begin.home / "config" / "helix"
    (folder / "themes").mkdir()
    (folder / "themes" / "steps.toml").write_text(THEME)
    config = folder / "config.toml"
    config.write_text(f'theme = "steps"\n{config.read_text()}')


class HelixScreen(HelixEditor):
    """Helix with one file, in a terminal of 100 columns and 24 lines.

    Args:
        begin: The start, prepared.
        file: The file to open.
    """

    def __init__(self, begin: Start, file: str) -> None:
        environment = {**begin.environment(), "COLORTERM": "truecolor"}
        super().__init__(Terminal([*begin.helix.command, file], environment, begin.root, SIZE))
        self.wait_until_ready()

    def ask(self, prompt: str) -> None:
        """Ask about the line at the cursor, with the key."""
        self.key("a")
        self.terminal.wait(lambda shown: shown[-1].endswith(' "'), "a command line")
        self.terminal.paste(f'{prompt}"')
        self.terminal.wait(lambda shown: shown[-1].endswith(f'{prompt}"'), "it is typed")
        self.terminal.keys("Enter")

    def check(self, name: str) -> None:
        """Wait until the screen is that of `screens/helix/steps`, status and message included."""

        def rows() -> list[str]:
            return [*map(_constant, painted(self.terminal.coloured(), LETTERS))]

        wait_for_rows(self.terminal, rows, expected(f"helix/steps/{name}"), name)


def _constant(row: str) -> str:
    for pattern, words in _VARIABLE:
        row = pattern.sub(words, row)
    return row
