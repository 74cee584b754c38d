"""One real Helix with Stet in it, driven by keys in a terminal as a person would."""

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
"""Columns, wide enough for a question on the command line, and lines."""
_NUMBERED = re.compile(r"^(.) *(\d+) (.*)$")
_TITLE = re.compile(r"[A-Z][\w-]*: ")


@dataclass(frozen=True, slots=True)
class Start:
    """What a Helix starts with; the same twice is a restart.

    Attributes:
        helix: The program.
        home: Becomes home and XDG folders; the workspace is `work` in it.
        config: Which of our key bindings.
    """

    helix: Helix
    home: Path
    config: str

    @property
    def root(self) -> Path:
        """The workspace."""
        return self.home / "work"

    def prepare(
        self, script: str, own_languages: str = "", servers: tuple[str, ...] = ("stet",)
    ) -> None:
        """Write what lies in the home before the first start.

        Args:
            script: What the model says.
            own_languages: What the user's `languages.toml` says already.
            servers: The programs beside this Python that are on the PATH.
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
        """A home of its own, and nothing of this process's."""
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
        """Start it, for example with a file."""
        command = [*self.helix.command, *arguments]
        return HelixEditor(Terminal(command, self.environment(), self.root, SIZE))


def record(series: str, folder: Path, programs: Path) -> None:
    """Have Helix of a series open a file that the `stet` among these programs serves."""
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
        terminal: What it is in.
    """

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        # What is typed before would be the terminal's, not Helix's.
        self.terminal.wait_for(" NOR ")

    def wait_until_ready(self) -> None:
        """Wait until the command line knows Stet's commands; nothing else on the screen tells it."""
        known = False
        while not known:
            self._prompt(":lsp-workspace-command stet.openC")
            known = any("stet.openChat" in line for line in self.terminal.screen())
            # Not Escape: it would make one key with what is typed next.
            self.terminal.keys("C-c")
            self.terminal.wait(lambda shown: not shown[-1].startswith(":"), "no command line")

    def command(self, text: str) -> None:
        """Run a command of the command line."""
        self._prompt(f":{text}")
        self.terminal.keys("Enter")

    def key(self, key: str) -> None:
        """Press one of Stet's keys, after the backslash."""
        self.terminal.keys("\\")
        self.terminal.wait_for("stet.cancel")
        self.terminal.keys(key)
        self.terminal.wait_until_gone("stet.cancel")

    def insert(self, key: str, text: str) -> None:
        """Begin to insert by a key, put a text there and stop inserting.

        It is pasted: 25.01 tells servers of changes in no particular order, where many come at once.
        """
        self.terminal.keys(key)
        self.terminal.wait_for(" INS ")
        self.terminal.paste(text)
        self.terminal.wait_for(text)
        self.terminal.keys("Escape")
        self.terminal.wait_for(" NOR ")

    def open(self, file: str) -> None:
        """Show another file."""
        self.command(f"open {file}")
        self.terminal.wait(lambda shown: f" {file}" in shown[-2], f"{file} is shown")

    def go(self, line: int) -> None:
        """Go to the first column of a line, 1-based."""
        self.terminal.keys(*f"{line}gg")
        self.terminal.wait(
            lambda shown: shown[-2].endswith(f" {line}:1"), f"the cursor is at {line}"
        )

    def choose(self, title: str) -> None:
        """Take the code action whose title holds these words, from the menu at the cursor."""
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
        """What is shown beside each line number: the line, and what Helix writes after it."""
        return {number: text for number, _, text in self._numbered(self.terminal.screen())}

    def line_of(self, text: str) -> int:
        """The number of the first line, 1-based, that begins with a text."""
        return next(number for number, line in self.lines().items() if line.startswith(text))

    def wait_for_line(self, text: str) -> None:
        """Wait until a line begins with a text."""

        def is_shown(screen: list[str]) -> bool:
            return any(line.startswith(text) for _, _, line in self._numbered(screen))

        self.terminal.wait(is_shown, f"a line {text!r}")

    def wait_for_marks(self, *texts: str) -> None:
        """Wait until the lines with a mark of a diagnostic are those that begin with these texts."""

        def are_shown(screen: list[str]) -> bool:
            marked = [line for _, mark, line in self._numbered(screen) if mark.strip()]
            return len(marked) == len(texts) and all(map(str.startswith, marked, texts))

        self.terminal.wait(are_shown, f"marks at {texts}")

    def _prompt(self, text: str) -> None:
        """Write on the command line; each step is seen, as Helix may leave keys unread that come at once."""
        self.terminal.keys(":")
        # An empty one shows what was written there before.
        self.terminal.wait(lambda shown: shown[-1].startswith(":"), "a command line")
        self.terminal.paste(text[1:])
        self.terminal.wait(lambda shown: shown[-1] == text, f"{text!r} is written")

    def wait_for_end(self) -> None:
        """Wait until it has ended, which it was told to."""
        self.terminal.wait_for_end()
        self.close()

    def close(self) -> None:
        """End it, saved or not."""
        self.terminal.close()

    def _numbered(self, screen: list[str]) -> list[tuple[int, str, str]]:
        """Lines of the text as they are shown: number, mark and what is beside them."""
        found = (_NUMBERED.match(row) for row in screen[:-2])
        return [(int(row[2]), row[1], row[3][1:]) for row in found if row]
