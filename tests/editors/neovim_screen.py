"""One real Neovim in a real terminal, whose screen is compared with screens written by hand."""

import re
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pynvim

from tests.editors.neovim import Start, environment_of, write_workspace
from tests.editors.painted import expected, painted, wait_for_rows
from tests.editors.terminal import Terminal

LETTERS = {
    "#500000": "d",
    "#900000": "D",
    "#005000": "a",
    "#009000": "A",
    "#505000": "c",
}
"""Lines and words that a hunk deletes and adds, and lines of a conflict."""
_VARYING = (
    (re.compile(r"[\d,]+ tokens in, [\d,]+ out"), "N tokens in, N out"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "YYYY-MM-DDThh:mm:ssZ"),
)
"""What differs from run to run, and what stands for it in the files."""
PLAIN = """
vim.o.number, vim.o.laststatus, vim.o.ruler, vim.o.showcmd = true, 0, false, false
vim.o.fillchars, vim.o.swapfile, vim.o.termguicolors = 'eob: ', false, true
"""
COLOURS = """
for name, colour in pairs({
  StetDelete = '#500000', StetDeleteWord = '#900000', StetAdd = '#005000', StetAddWord = '#009000',
  StetConflict = '#505000', Normal = '#000000', Folded = '#000000',
}) do vim.api.nvim_set_hl(0, name, { bg = colour }) end
"""


class NeovimScreen:
    """Neovim with one file, in a terminal.

    Args:
        program: The path of Neovim.
        home: An empty folder for home and workspace.
        files: The workspace; the first file is opened.
        script: The model script.
        lua: Lua to run before the configuration, besides plain options and the colours of
            `LETTERS`.
        size: Columns and lines of the terminal.
        variables: More environment variables.
        terminal: The type of the terminal (`TERM`).
    """

    def __init__(
        self,
        program: Path,
        home: Path,
        files: Mapping[str, str],
        script: Sequence[object],
        *,
        lua: str = COLOURS,
        size: tuple[int, int] = (60, 16),
        variables: Mapping[str, str] | None = None,
        terminal: str = "tmux-256color",
    ) -> None:
        given = Start(program, home, files, script, PLAIN + lua)
        root = write_workspace(given)
        listening = home / "nvim.sock"
        # tmux sets `TERM` itself, and within tmux Neovim takes colours for granted.
        named = ["env", "-u", "TMUX", f"TERM={terminal}"]
        command: list[str | Path] = [*named, program, "--listen", listening, next(iter(files))]
        environment = {**environment_of(given), "COLORTERM": "truecolor", **(variables or {})}
        self.terminal = Terminal(command, environment, root, size)
        self.terminal.wait(lambda _: is_listening(listening), "Neovim listens")
        self._rpc = pynvim.attach("socket", path=str(listening))
        self.wait("#vim.lsp.get_clients({ name = 'stet', bufnr = 0 }) > 0", "Stet serves the file")
        self.wait("(T.poll('stet.status') or {}).ready", "Stet is ready")

    def lua(self, code: str) -> Any:
        """Run Lua; return its result."""
        return self._rpc.exec_lua(code)

    def wait(self, condition: str, what: str = "") -> None:
        """Wait until a Lua expression is true."""
        self.terminal.wait(lambda _: self.lua(f"return {condition}"), what or condition)

    def ask(self, n_hunks: int) -> None:
        """Ask, wait for hunks and for the end of the turn, and press keys that close its
        message.
        """
        self.lua("T.send('stet.ask', { prompt = 'please' })")
        self.wait(f"#T.hunks() == {n_hunks}", f"{n_hunks} hunks")
        self.wait("vim.fn.execute('messages'):find('It is done.', 1, true)", "the turn is over")
        self.terminal.keys("l", "h")

    def edit(self, name: str) -> None:
        """Open a file by a command, and wait until Stet serves it."""
        self.terminal.type(f":edit {name}")
        self.terminal.keys("Enter")
        self.wait(f"vim.fn.expand('%:t') == '{name}'", f"{name} is shown")
        self.wait("#vim.lsp.get_clients({ name = 'stet', bufnr = 0 }) > 0", f"Stet serves {name}")

    def prompt(self, keys: str, text: str) -> None:
        """Type keys that ask for a text, and the text."""
        self.terminal.type(keys)
        self.wait("vim.fn.mode() == 'c'", f"{keys} asks for a text")
        self.terminal.type(text)
        self.terminal.keys("Enter")

    def message(self, text: str) -> None:
        """Wait until the message line has this text."""
        self.terminal.wait(lambda rows: text in rows[-1], f"{text!r} in the message line")

    def command(self, *actions: str) -> None:
        """Type `:Stet` commands, one directly after the other."""
        for action in actions:
            self.terminal.type(f":Stet {action}")
            self.terminal.keys("Enter")

    def check(self, name: str) -> None:
        """Wait until the rows above the message line are those of a screen of `FOLDER`, apart from
        numbers of tokens and times.
        """

        def rows() -> list[str]:
            screen = "\n".join(self.terminal.coloured().split("\n")[:-2])
            for varying, name_of_it in _VARYING:
                screen = varying.sub(name_of_it, screen)
            return painted(screen, LETTERS)

        wait_for_rows(self.terminal, rows, expected(name), name)

    def close(self) -> None:
        """Quit Neovim and close the terminal."""
        with suppress(OSError, EOFError):
            self._rpc.command("qall!")
        self._rpc.close()
        self.terminal.wait_for_end()
        self.terminal.close()


def is_listening(path: Path) -> bool:
    """Return whether a process accepts connections at a socket."""
    with socket.socket(socket.AF_UNIX) as connection:
        return path.exists() and connection.connect_ex(str(path)) == 0
