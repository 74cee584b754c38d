"""One real Neovim with Stet in it, driven by keys as a person would."""

import contextlib
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
_G.T = { publishes = 0 }
vim.api.nvim_create_autocmd('DiagnosticChanged', { callback = function() T.publishes = T.publishes + 1 end })
function T.client() return vim.lsp.get_clients({ name = 'stet' })[1] end
function T.command(name, argument)
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
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return Neovim(process, socket, root, hold)
