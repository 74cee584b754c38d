"""One real Neovim with Stet, driven by keys like a person's."""

import contextlib
import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pynvim

PLUGIN = Path(__file__).parents[2] / "client-configs" / "neovim"
DEADLINE = 60.0
"""Seconds until a condition counts as failed."""

HELPERS = """
_G.T = { channel = 0, answers = {}, asked = {} }
function T.client() return vim.lsp.get_clients({ name = 'stet' })[1] end
function T.send(name, argument, on_answer)
  local params = { command = name, arguments = { argument } }
  T.client():request('workspace/executeCommand', params, on_answer, 0)
end
-- The answer of a command without arguments, asked for again and again; nil until there is one.
function T.poll(name)
  if not T.asked[name] then
    T.asked[name] = true
    T.send(name, nil, function(_, answer)
      T.asked[name] = false
      T.answers[name] = answer
    end)
  end
  return T.answers[name]
end
-- Nothing here blocks: the editor goes on as if nobody watched.
function T.watch(condition, milliseconds)
  T.answers, T.asked = {}, {}
  local timer, deadline, blocked = vim.uv.new_timer(), vim.uv.now() + milliseconds, 0
  local function stop(how)
    if timer:is_closing() then return end
    timer:close()
    vim.rpcnotify(T.channel, 'told', how)
  end
  timer:start(0, 10, function()
    blocked = vim.api.nvim_get_mode().blocking and blocked + 1 or 0
    if blocked > 100 then return stop('Neovim waits for a key') end
    if vim.uv.now() > deadline then return stop('too late') end
    vim.schedule(function()
      local ran, met = pcall(condition)
      if not ran then stop(met) elseif met then stop('') end
    end)
  end)
end
function T.command(name, argument)
  if argument == vim.NIL then argument = nil end
  T.send(name, argument, function(err, answer)
    vim.rpcnotify(T.channel, 'told', { err or vim.NIL, answer == nil and vim.NIL or answer })
  end)
end
-- What a question would send now, as one text.
function T.context()
  local text = T.answers.context or ''
  if not T.asked.context then
    T.asked.context = true
    T.send('stet.showContext', { prompt = 'x' }, function(_, answer)
      T.asked.context = false
      local sections = answer and answer.sections or {}
      T.answers.context = vim.iter(sections):map(function(s) return s.text end):join('\\n')
    end)
  end
  return text
end
-- What stands on the screen, a text for each of its rows; all of them or one.
function T.row(row)
  local columns = vim.fn.range(1, vim.o.columns)
  return vim.iter(columns):map(function(c) return vim.fn.screenstring(row, c) end):join('')
end
function T.screen() return vim.tbl_map(T.row, vim.fn.range(1, vim.o.lines)) end
function T.hunks()
  local shown = {}
  for _, d in ipairs(vim.diagnostic.get(0)) do
    if d.source == 'stet' then table.insert(shown, { d.lnum, d.code, d.message }) end
  end
  table.sort(shown, function(a, b) return a[1] < b[1] end)
  return shown
end
function T.proposed()
  return vim.tbl_map(function(hunk) return hunk[2] == 'proposal' and hunk[1] or -1 end, T.hunks())
end
function T.states()
  return vim.tbl_map(function(hunk) return hunk.state end, T.poll('stet.proposals') or { {} })
end
"""


class CommandFailed(Exception):
    """The server answered a command with an error."""


@dataclass(frozen=True, slots=True)
class Start:
    """The parameters of a Neovim process.

    Attributes:
        program: The path of Neovim.
        home: An empty folder for home, XDG folders and workspace.
        files: The workspace, by path relative to its root.
        script: The model script, in the form of `stet.llm.scripted_model`; `$HOLD` in it is a path
            that does not exist until `Neovim.release`.
        lua: Lua to run before our configuration.
        programs: The folder of `stet`; by default Neovim's folder.
    """

    program: Path
    home: Path
    files: Mapping[str, str]
    script: Sequence[object]
    lua: str = ""
    programs: Path | None = None


def start(given: Start) -> "Neovim":
    """Start Neovim in a new workspace, or again in that of an earlier process."""
    root, environment = write_workspace(given), environment_of(given)
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
    if (message := process.stdout.readline()) != b"ready\n":
        process.kill()
        finish(process)
        raise AssertionError(f"Neovim does not start: {message!r}")
    return Neovim(process, socket, root, given.home / "go")


def write_workspace(given: Start) -> Path:
    """Write the workspace, the configuration and the model script, if this is the first start.

    Returns:
        The workspace.
    """
    root, home = given.home / "work", given.home / "home"
    if not root.exists():
        _write_files(root, given.files)
        _write_config(home / "config" / "nvim", given.lua)
        script = json.dumps(given.script).replace("$HOLD", str(given.home / "go"))
        (given.home / "script.json").write_text(script)
    return root


def environment_of(given: Start) -> dict[str, str]:
    """Return the environment of Neovim."""
    home = given.home / "home"
    return {
        "HOME": str(home),
        "PATH": f"{given.programs or given.program.parent}{os.pathsep}{os.environ['PATH']}",
        "STET_SCRIPTED_MODEL": str(given.home / "script.json"),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        **{
            f"XDG_{kind}_HOME": str(home / kind.lower())
            for kind in ("CONFIG", "DATA", "STATE", "CACHE")
        },
    }


def _write_files(root: Path, files: Mapping[str, str]) -> None:
    (root / ".git").mkdir(parents=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def _write_config(config: Path, lua: str) -> None:
    """Write the user's configuration: ours, the test's, and a marker that all of it was read."""
    config.mkdir(parents=True)
    (config / "init.lua").write_text(f"vim.opt.rtp:append('{PLUGIN}')\n{HELPERS}\n{lua}")
    (config / "after" / "plugin").mkdir(parents=True)
    (config / "after" / "plugin" / "ready.lua").write_text(
        "if vim.list_contains(vim.v.argv, '--headless') then io.stdout:write('ready\\n') io.stdout:flush() end"
    )


class Neovim:
    """One running Neovim.

    Attributes:
        root: The workspace, a real folder.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], socket: Path, root: Path, hold: Path
    ) -> None:
        self.root = root
        self._process = process
        self._hold = hold
        self._rpc = pynvim.attach("socket", path=str(socket))
        # With a screen attached, a prompt for Enter blocks these tests as it would block a person.
        self._rpc.ui_attach(300, 40, rgb=True)
        self.lua("T.channel = ...", self._rpc.channel_id)

    def open(self, name: str) -> Self:
        """Open a file and wait until Stet serves it."""
        self._rpc.command(f"edit {name}")
        self.wait("#vim.lsp.get_clients({ name = 'stet', bufnr = 0 }) > 0", f"Stet serves {name}")
        self.wait("(T.poll('stet.status') or {}).ready", "Stet is ready")
        return self

    def keys(self, keys: str) -> None:
        """Type keys, in Neovim's notation."""
        assert self._rpc.api.input(keys) == len(keys.encode()), "the input queue is full"

    def lua(self, code: str, *arguments: object) -> Any:
        """Run Lua; return its result."""
        until = time.monotonic() + DEADLINE
        while (mode := self._rpc.api.get_mode())["blocking"]:
            # In normal mode, a mapping that is a prefix of others waits for its time-out.
            is_mapping = mode["mode"] == "n" and time.monotonic() < until
            assert is_mapping, f"Neovim waits for a key: {mode}"
            with suppress(
                subprocess.TimeoutExpired
            ):  # requests without a pause keep Neovim from reading its keys
                self._process.wait(0.01)
        return self._rpc.exec_lua(code, *arguments)

    def wait(self, condition: str, what: str = "") -> None:
        """Wait until a Lua expression is true."""
        watch = f"T.watch(function() return {condition} end, ...)"
        self.lua(watch, DEADLINE * 1000)
        if problem := self._reported():
            raise AssertionError(f"{problem}: {what or condition}\n{self.state()}")

    def state(self) -> str:
        """Describe the editor's state for a failure message."""
        if self._rpc.api.get_mode()["blocking"]:
            self._rpc.input("<CR>")
        messages = self.lua("return vim.fn.execute('messages')")
        return f"{self.lines()}\n{self.hunks()}\n{messages}"

    def command(self, name: str, **argument: object) -> Any:
        """Run a command of the server and return its answer."""
        self.lua("T.command(...)", name, argument or None)
        error, answer = self._reported()
        if error is not None:
            raise CommandFailed(error["message"])
        return answer

    def _reported(self) -> Any:
        """Return the next report of the helpers in the editor."""
        while True:
            _, name, arguments = self._rpc.next_message()
            if name == "told":
                return arguments[0]

    def lines(self) -> list[str]:
        """Return the lines of the buffer."""
        return list(self._rpc.current.buffer[:])

    def screen(self) -> list[str]:
        """Return the rows of the screen as drawn."""
        self.lua("vim.cmd.redraw()")
        return [str(row).rstrip() for row in self.lua("return T.screen()")]

    def capture(self, name: str) -> None:
        """Write the screen as text to the folder of `$STET_CAPTURES`, if that is set."""
        if folder := os.environ.get("STET_CAPTURES"):
            Path(folder, f"neovim-{name}.txt").write_text("\n".join(self.screen()) + "\n")

    def on_disk(self, name: str) -> str:
        """Return a file's text on the disk, with its line ends."""
        return (self.root / name).read_bytes().decode()

    def hunks(self) -> list[tuple[int, str]]:
        """Return the hunks shown in the buffer: 0-based line, and `proposal` or `conflict`."""
        return [(line, code) for line, code, _ in self.lua("return T.hunks()")]

    def states(self) -> list[str]:
        """Return the states of all hunks, in order of file and position."""
        return [hunk["state"] for hunk in self.command("stet.proposals")]

    def wait_for_hunks(self, *lines: int) -> None:
        """Wait until exactly these 0-based lines have a proposal."""
        expected = "{" + ",".join(map(str, lines)) + "}"
        self.wait(f"vim.deep_equal(T.proposed(), {expected})", f"proposals at lines {lines}")

    def wait_for_lines(self, lines: list[str]) -> None:
        """Wait until the buffer has exactly these lines."""
        wanted = json.dumps(json.dumps(lines))
        self.wait(
            f"vim.deep_equal(vim.api.nvim_buf_get_lines(0, 0, -1, false), vim.json.decode({wanted}))",
            f"the buffer is {lines}",
        )

    def wait_for_states(self, *states: str) -> None:
        """Wait until all hunks have these states, in order of file and position."""
        wanted = "{" + ",".join(f"'{state}'" for state in states) + "}"
        self.wait(f"vim.deep_equal(T.states(), {wanted})", f"hunks are {states}")

    def wait_for_rows(self, *texts: str) -> None:
        """Wait until each text is shown within one row of the screen."""
        for text in texts:
            wanted = json.dumps(json.dumps(text))
            found = f"row:find(vim.json.decode({wanted}), 1, true)"
            shown = f"vim.iter(T.screen()):any(function(row) return {found} end)"
            self.wait(f"(vim.cmd.redraw() or true) and {shown}", f"{text!r} on the screen")

    def wait_for_context(self, text: str) -> None:
        """Wait until the context that a question would send has this text."""
        wanted = json.dumps(json.dumps(text))
        self.wait(
            f"T.context():find(vim.json.decode({wanted}), 1, true)", f"{text!r} in the context"
        )

    def kill_server(self) -> None:
        """Kill the server."""
        self.lua("vim.uv.kill(vim.api.nvim_get_proc_children(vim.fn.getpid())[1], 'sigkill')")

    def release(self) -> None:
        """Let the model continue at the hold of its script."""
        self._hold.touch()

    def close(self) -> None:
        """Quit the editor, and Stet with it."""
        if self._rpc.api.get_mode()["blocking"]:
            self._process.kill()
        # The connection closes before the answer, and only a closed one ends without residue.
        with contextlib.suppress(OSError, EOFError):
            self._rpc.command("qall!")
        self._rpc.close()
        finish(self._process)


def finish(process: subprocess.Popen[bytes]) -> None:
    """Wait for the editor's exit; kill it after a time-out."""
    try:
        process.wait(DEADLINE)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
