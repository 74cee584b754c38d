"""One real Helix with Stet, driven by keys in a terminal like a person's."""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from stet.cli.config_command import languages_file
from tests.editors.terminal import Terminal
from tests.parts.helix import Helix, ensure

CONFIGS = Path(__file__).parents[2] / "client-configs" / "helix"
SIZE = (160, 40)
"""Columns and lines; the command line is wide enough for a question."""
_NUMBERED = re.compile(r"^(.) *(\d+) (.*)$")
_TITLE = re.compile(r"[A-Z][\w-]*: ")


@dataclass(frozen=True, slots=True)
class Start:
    """The parameters of a Helix process; equal ones mean a restart.

    Attributes:
        helix: The path of Helix.
        home: The folder for home and XDG folders; the workspace is its folder `work`.
        config: The name of our key bindings file.
    """

    helix: Helix
    home: Path
    config: str

    @property
    def root(self) -> Path:
        """Return the workspace folder."""
        return self.home / "work"

    def prepare(
        self, script: str, own_languages: str = "", servers: tuple[str, ...] = ("stet",)
    ) -> None:
        """Write the files of the home before the first start.

        Args:
            script: The model script.
            own_languages: The existing text of the user's `languages.toml`.
            servers: The programs of this Python that are on the PATH.
        """
        (self.home / "bin").mkdir()
        for server in servers:
            (self.home / "bin" / server).symlink_to(Path(sys.executable).with_name(server))
        folder = self.home / "config" / "helix"
        folder.mkdir(parents=True)
        program = Path(self.helix.command[-1])
        (folder / "languages.toml").write_text(languages_file(program, own_languages))
        (folder / "config.toml").write_bytes((CONFIGS / self.config).read_bytes())
        (self.home / "script.json").write_text(script)

    def environment(self) -> dict[str, str]:
        """Return an environment with its own home, and no variables of this process."""
        folders = {
            f"XDG_{kind}_HOME": str(self.home / kind.lower())
            for kind in ("CONFIG", "DATA", "STATE", "CACHE")
        }
        return {
            **folders,
            **self.helix.environment,
            "HOME": str(self.home),
            "PATH": f"{self.home / 'bin'}{os.pathsep}{os.defpath}",
            "LANG": "C.UTF-8",
            "STET_SCRIPTED_MODEL": str(self.home / "script.json"),
        }

    def open(self, *arguments: str) -> "HelixEditor":
        """Start Helix, for example with a file."""
        command = [*self.helix.command, *arguments]
        return HelixEditor(Terminal(command, self.environment(), self.root, SIZE))


def record(series: str, folder: Path, programs: Path) -> None:
    """Start a Helix release, and open a file that the `stet` in `programs` serves."""
    begin = Start(ensure(series), folder, "config.toml")
    (begin.root / ".git").mkdir(parents=True)
    (begin.root / "a.py").write_text("a = 1\n")
    begin.prepare("[]", servers=())
    (folder / "bin" / "stet").symlink_to(programs / "stet")
    editor = begin.open("a.py")
    try:
        editor.wait_until_ready()
    finally:
        editor.close()


class HelixEditor:
    """One running Helix.

    Attributes:
        terminal: The terminal of the process.
    """

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        # Earlier input would go to the terminal, not to Helix.
        self.terminal.wait_for(" NOR ")

    def wait_until_ready(self) -> None:
        """Wait until the command line knows Stet's commands, the only visible sign."""
        known = False
        while not known:
            self._prompt(":lsp-workspace-command stet.openC")
            known = any("stet.openChat" in line for line in self.terminal.screen())
            # Not Escape: with the next key it would form one key.
            self.terminal.keys("C-c")
            self.terminal.wait(lambda shown: not shown[-1].startswith(":"), "no command line")

    def command(self, text: str) -> None:
        """Run a command of the command line."""
        self._prompt(f":{text}")
        self.terminal.keys("Enter")

    def key(self, key: str) -> None:
        """Press one of Stet's keys, after the backslash."""
        self.terminal.keys("\\")
        self.terminal.wait_for("stet.newChat")
        self.terminal.keys(key)
        self.terminal.wait_until_gone("stet.newChat")

    def insert(self, key: str, text: str) -> None:
        """Press a key that starts insert mode, paste a text and leave insert mode.

        The text is pasted, because 25.01 reports several quick changes in arbitrary order.
        """
        self.terminal.keys(key)
        self.terminal.wait_for(" INS ")
        self.terminal.paste(text)
        self.terminal.wait_for(text)
        self.terminal.keys("Escape")
        self.terminal.wait_for(" NOR ")

    def open(self, file: str) -> None:
        """Open another file."""
        self.command(f"open {file}")
        self.terminal.wait(lambda shown: f" {file}" in shown[-2], f"{file} is shown")

    def go(self, line: int) -> None:
        """Go to the first column of a line, 1-based."""
        self.terminal.keys(*f"{line}gg")
        self.terminal.wait(
            lambda shown: shown[-2].endswith(f" {line}:1"), f"the cursor is at {line}"
        )

    def choose(self, title: str) -> None:
        """Choose the code action whose title has these words, from the menu at the cursor."""
        self.terminal.keys("Space")
        self.terminal.wait_for("Perform code action")
        self.terminal.keys("a")
        rows = self.terminal.wait_for(title)
        at = next(n for n, row in enumerate(rows) if title in row)
        column = rows[at].rindex(": ", 0, rows[at].index(title) + len(title))
        column = max(found.start() for found in _TITLE.finditer(rows[at], 0, column + 2))
        first = at
        while _TITLE.match(rows[first - 1], column):
            first -= 1
        self.terminal.keys(*["Down"] * (at - first), "Enter")
        self.terminal.wait(lambda shown: not any(title in row for row in shown), "the menu is gone")

    def lines(self) -> dict[int, str]:
        """Return the text beside each line number: the line, and what Helix writes after it."""
        return {number: text for number, _, text in self._numbered(self.terminal.screen())}

    def line_of(self, text: str) -> int:
        """Return the number of the first line, 1-based, that begins with a text."""
        return next(number for number, line in self.lines().items() if line.startswith(text))

    def wait_for_line(self, text: str) -> None:
        """Wait until a line begins with a text."""

        def is_shown(screen: list[str]) -> bool:
            return any(line.startswith(text) for _, _, line in self._numbered(screen))

        self.terminal.wait(is_shown, f"a line {text!r}")

    def wait_for_marks(self, *texts: str) -> None:
        """Wait until exactly the lines that begin with these texts have a diagnostic mark."""

        def are_shown(screen: list[str]) -> bool:
            marked = [line for _, mark, line in self._numbered(screen) if mark.strip()]
            return len(marked) == len(texts) and all(map(str.startswith, marked, texts))

        self.terminal.wait(are_shown, f"marks at {texts}")

    def _prompt(self, text: str) -> None:
        """Type on the command line; wait after each step, as Helix may drop quick keys."""
        self.terminal.keys(":")
        # An empty command line shows earlier commands.
        self.terminal.wait(lambda shown: shown[-1].startswith(":"), "a command line")
        self.terminal.paste(text[1:])
        self.terminal.wait(lambda shown: shown[-1] == text, f"{text!r} is written")

    def wait_for_end(self) -> None:
        """Wait until Helix has exited, after a command to quit."""
        self.terminal.wait_for_end()
        self.close()

    def close(self) -> None:
        """Kill Helix, saved or not."""
        self.terminal.close()

    def _numbered(self, screen: list[str]) -> list[tuple[int, str, str]]:
        """Return the displayed lines: number, mark and text."""
        found = (_NUMBERED.match(row) for row in screen[:-2])
        return [(int(row[2]), row[1], row[3][1:]) for row in found if row]
