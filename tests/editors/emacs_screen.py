"""Real Emacs whose screen is compared with screens written by hand, text and backgrounds."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tests.editors.emacs import Emacs, Start, only_stet, start
from tests.editors.painted import expected, painted, wait_for_rows
from tests.parts.emacs import Emacs as Program

LETTERS = {"#5f0000": "d", "#af0000": "D", "#005f00": "a", "#00af00": "A", "#5f5f00": "c"}
"""Lines and words that a hunk deletes and adds, and your lines in a conflict."""
COLOURS = """
(custom-set-faces
 '(stet-removed ((t :background "#5f0000" :extend t)))
 '(stet-yours ((t :background "#5f5f00" :extend t)))
 '(stet-removed-word ((t :background "#af0000")))
 '(stet-added ((t :background "#005f00" :extend t)))
 '(stet-added-word ((t :background "#00af00"))))
"""
PLAIN = """
(menu-bar-mode -1)
(setq message-truncate-lines t)
(setq-default mode-line-format '(" " mode-line-buffer-identification mode-line-misc-info))
"""
MODE_LINE = "[Stet"
"""The text in the mode line; the rows below are those of the echo area."""
USAGE = re.compile(r" \(\d+ rounds?, .*")
"""The rounds and tokens at the end of a message, which depend on the length of paths."""
FIGURES = {"*asked ": "*asked (…)*", "*completed ": "*completed (…)*"}
"""Paragraphs of a chat with times and tokens, by their beginning, and their text in the files."""


class EmacsScreen:
    """Emacs with one file, in a terminal.

    Args:
        program: Emacs.
        folder: An empty folder for home and workspace.
        files: The workspace; the first file is opened.
        script: The model script.
        init: Lisp after the README's lines, besides the colours of `LETTERS`.
        size: Columns and lines of the terminal.
        options: Options of Emacs.
        variables: More environment variables; `TERM` too.
        letters: The letters of backgrounds that differ from `LETTERS`.
    """

    def __init__(
        self,
        program: Program,
        folder: Path,
        files: Mapping[str, str],
        script: Sequence[object],
        *,
        init: str = COLOURS,
        size: tuple[int, int] = (60, 16),
        options: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
        letters: Mapping[str, str] = LETTERS,
    ) -> None:
        home, root = folder / "home", folder / "work"
        home.mkdir()
        (root / ".git").mkdir(parents=True)
        for name, text in files.items():
            (root / name).write_text(text)
        message = home / "script.json"
        message.write_text(json.dumps(script))
        # tmux itself sets `TERM`.
        environment = ["env", f"TERM={term}"] if (term := (variables or {}).get("TERM")) else []
        self._letters = letters
        self._start = Start(
            replace(program, command=[*environment, *program.command, *options]),
            home,
            root,
            message,
            init=PLAIN + init,
            path=only_stet(home),
            size=size,
            variables=variables or {},
        )
        self._file = next(iter(files))
        self.editor = self.begin()

    def begin(self, file: str = "") -> Emacs:
        """Start Emacs, again or for the first time, and return it when Stet serves the file."""
        self.editor = start(self._start, file or self._file)
        return self.editor.served()

    def ask(self, n_hunks: int) -> None:
        """Ask, and wait until the file has `n_hunks` hunks and the turn is over."""
        self.editor.prompt("C-c x a", "please")
        self.editor.wait(f"(= (length stet--hunks) {n_hunks})", f"{n_hunks} hunks")
        self.editor.reported("It is done.")

    def check(self, name: str) -> None:
        """Wait until the rows above the mode line are those of a screen of `screens/emacs`."""
        self._wait(name, self._text_rows)

    def check_whole(self, name: str) -> None:
        """Wait until all rows, mode lines and echo area included, are those of a screen."""
        try:
            self._wait(name, self._all_rows)
        finally:
            self.editor.terminal.capture(f"emacs-{name.replace('/', '-')}")

    def _text_rows(self) -> list[str]:
        rows = self.editor.terminal.coloured().split("\n")
        last = max((n for n, row in enumerate(rows) if MODE_LINE in row), default=0)
        return painted("\n".join(rows[:last]), self._letters)

    def _all_rows(self) -> list[str]:
        """Return all rows, without what differs from run to run and what Eglot says of itself."""
        rows: list[str] = []
        paragraph = False
        for row in painted(self.editor.terminal.coloured(), self._letters):
            if not paragraph:
                text = USAGE.sub("", row)
                if MODE_LINE in row:
                    text = re.sub(r"(\[Stet[^]]*\]).*", r"\1", row)
                figures = [given for start, given in FIGURES.items() if row.startswith(start)]
                rows += figures or [text]
                paragraph = bool(figures)
            paragraph = paragraph and not row.endswith("*")
        return rows

    def _wait(self, name: str, read: Callable[[], list[str]]) -> None:
        wait_for_rows(self.editor.terminal, read, expected(f"emacs/{name}"), name)
