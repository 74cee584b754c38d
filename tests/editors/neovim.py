"""One real Neovim with Stet in it, driven by keys as a person would."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Self

import pynvim

CONFIG = Path(__file__).parents[2] / "client-configs" / "neovim" / "stet.lua"
DEADLINE = 20.0
"""Seconds until a condition counts as missed."""

HELPERS = """
_G.T = {}
function T.client() return vim.lsp.get_clients({ name = 'stet' })[1] end
function T.command(name, argument)
  if argument == vim.NIL then argument = nil end
  local answer = T.client():request_sync(
    'workspace/executeCommand', { command = name, arguments = { argument } }, 5000, 0)
  if not answer then error(name .. ': no answer') end
  if answer.err then error(name .. ': ' .. answer.err.message) end
  return answer.result
end
function T.hunks()
  local shown = {}
  for _, d in ipairs(vim.diagnostic.get(0)) do
    if d.source == 'stet' then table.insert(shown, { d.lnum, d.code, d.message }) end
  end
  table.sort(shown, function(a, b) return a[1] < b[1] end)
  return shown
end
"""


@dataclass(frozen=True, slots=True)
class Start:
    """What an editor starts with.

    Attributes:
        program: Neovim.
        home: An empty folder; becomes home, XDG folders and workspace.
        files: The workspace, by path relative to its root.
        script: What the model says, in the form of `stet.llm.scripted`; `$HOLD` in it is
            a path that does not exist until `Neovim.release`.
        lua: Run behind our configuration.
    """

    program: Path
    home: Path
    files: Mapping[str, str]
    script: Sequence[object]
    lua: str = ""


def start(given: Start) -> "Neovim":
    """Start Neovim in a fresh workspace."""
    root, home, hold = given.home / "work", given.home / "home", given.home / "go"
    (root / ".git").mkdir(parents=True)
    for name, text in given.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    script = given.home / "script.json"
    script.write_text(json.dumps(given.script).replace("$HOLD", str(hold)))
    config = home / "config" / "nvim"
    (config / "plugin").mkdir(parents=True)
    (config / "plugin" / "stet.lua").symlink_to(CONFIG)
    (config / "init.lua").write_text(f"{HELPERS}\n{given.lua}")
    (config / "after" / "plugin").mkdir(parents=True)
    (config / "after" / "plugin" / "ready.lua").write_text("io.stdout:write('ready\\n'):flush()")
    environment = {
        "HOME": str(home),
        "PATH": f"{given.program.parent}{os.pathsep}{os.environ['PATH']}",
        "STET_SCRIPTED_MODEL": str(script),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        **{
            f"XDG_{kind}_HOME": str(home / kind.lower())
            for kind in ("CONFIG", "DATA", "STATE", "CACHE")
        },
    }
    socket = given.home / "nvim.sock"
    process = subprocess.Popen(
        [given.program, "--headless", "--listen", socket],
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n", "Neovim does not start"
    return Neovim(process, socket, root, hold)


class Neovim:
    """One running editor.

    Attributes:
        root: Its workspace, a real folder.
    """

    def __init__(self, process: subprocess.Popen[bytes], socket: Path, root: Path, hold: Path) -> None:
        self.root = root
        self._process = process
        self._hold = hold
        self._rpc = pynvim.attach("socket", path=str(socket))
        # With a screen, whatever asks for Enter would stop these tests as it would stop a person.
        self._rpc.ui_attach(100, 30, rgb=True)

    def open(self, name: str) -> Self:
        """Open a file and wait until Stet serves it."""
        self._rpc.command(f"edit {name}")
        self.wait("#vim.lsp.get_clients({ name = 'stet', bufnr = 0 }) > 0", f"Stet serves {name}")
        self.wait("T.command('stet.status').ready", "Stet is ready")
        return self

    def keys(self, keys: str) -> None:
        """Type, in Neovim's notation."""
        assert self._rpc.api.input(keys) == len(keys.encode()), "the input queue is full"

    def lua(self, code: str, *arguments: object) -> Any:
        """Run Lua; gives what it returns."""
        mode = self._rpc.api.get_mode()
        assert not mode["blocking"], f"Neovim waits for a key: {mode}"
        return self._rpc.exec_lua(code, *arguments)

    def wait(self, condition: str, what: str = "") -> None:
        """Wait until a Lua expression is true. Neovim sleeps on its own events meanwhile."""
        code = f"return vim.wait(50, function() return {condition} end, 5)"
        deadline = monotonic() + DEADLINE
        while not self.lua(code):
            assert monotonic() < deadline, f"not within {DEADLINE} s: {what or condition}\n{self.state()}"

    def state(self) -> str:
        """What to look at when something went wrong."""
        messages = self.lua("return vim.fn.execute('messages')")
        return f"{self.lines()}\n{self.hunks()}\n{messages}"

    def command(self, name: str, **argument: object) -> Any:
        """Run a command of the server and give its answer."""
        return self.lua("return T.command(...)", name, argument or None)

    def lines(self) -> list[str]:
        """The lines of the buffer."""
        return list(self._rpc.current.buffer[:])

    def on_disk(self, name: str) -> str:
        """A file as it is on the disk, line ends as they are."""
        return (self.root / name).read_bytes().decode()

    def hunks(self) -> list[tuple[int, str]]:
        """The hunks shown in the buffer: 0-based line, and `proposal` or `conflict`."""
        return [(line, code) for line, code, _ in self.lua("return T.hunks()")]

    def states(self) -> list[str]:
        """The states of all hunks, in order of file and place."""
        return [hunk["state"] for hunk in self.command("stet.proposals")]

    def wait_for_hunks(self, *lines: int) -> None:
        """Wait until exactly these 0-based lines have a proposal."""
        expected = "{" + ",".join(map(str, lines)) + "}"
        shown = "vim.tbl_map(function(h) return h[2] == 'proposal' and h[1] or -1 end, T.hunks())"
        self.wait(f"vim.deep_equal({shown}, {expected})", f"proposals at lines {lines}")

    def wait_for_lines(self, lines: list[str]) -> None:
        """Wait until the buffer holds exactly these lines."""
        wanted = json.dumps(json.dumps(lines))
        self.wait(
            f"vim.deep_equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), vim.json.decode({wanted}))",
            f"the buffer is {lines}",
        )

    def wait_for_states(self, *states: str) -> None:
        """Wait until all hunks have these states, in order of file and place."""
        wanted = "{" + ",".join(f"'{state}'" for state in states) + "}"
        found = "vim.tbl_map(function(h) return h.state end, T.command('stet.proposals'))"
        self.wait(f"vim.deep_equal({found}, {wanted})", f"hunks are {states}")

    def release(self) -> None:
        """Let the model go on where its script holds it."""
        self._hold.touch()

    def close(self) -> None:
        """End the editor, and Stet with it."""
        self._rpc.command("qall!", async_=True)
        self._rpc.close()
        try:
            self._process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        finally:
            assert self._process.stdout is not None
            self._process.stdout.close()
