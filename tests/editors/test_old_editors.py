"""Editors that are too old for our configurations report this once, with the required version."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors import emacs as emacs_driver
from tests.editors import neovim as neovim_driver
from tests.parts import emacs

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
OLDER = """lua local has = vim.fn.has
vim.fn.has = function(what) return what == 'nvim-0.11' and 0 or has(what) end"""


def test_neovim_0_10_is_refused_and_has_no_key(nvim_binary: Path, tmp_path: Path) -> None:
    typed = (
        OLDER.replace("\n", " "),
        f"source {neovim_driver.PLUGIN}/plugin/stet.lua",
        "map \\a",
        "qall!",
    )
    commands = [part for one in typed for part in ("-c", one)]
    message = run(tmp_path, [nvim_binary, "--headless", "-u", "NONE", *commands])
    assert message.split("\n", 1)[0].strip() == "Stet needs Neovim 0.11 or newer"
    assert "No mapping found" in message
    assert "Error" not in message


def test_emacs_29_is_informed(part: Part, tmp_path: Path) -> None:
    program, file = part(emacs.ensure), str(emacs_driver.CONFIG / "stet.el")
    line = [*program.command, "--batch", "--eval", '(setq emacs-version "29.4")', "--load", file]
    message = run(tmp_path, line, program.environment)
    assert "Stet needs Emacs 30.1 or newer; this is Emacs 29.4" in message


def run(home: Path, line: Sequence[str | Path], environment: dict[str, str] | None = None) -> str:
    """Return the whole output of a program, in an empty home."""
    clean = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    done = subprocess.run(
        line,
        env={**clean, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=50,
        check=False,
    )
    return done.stdout
