"""Emacs has one connection per buffer: Stet with another server via `rass`, alone, or missing."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors.emacs import Emacs, Start, start
from tests.editors.scripts import GREET, GREET_FILE, greet_script
from tests.parts.emacs import ensure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
Begin = Callable[..., Emacs]
SLOW_AT_FIRST = """#!/bin/sh
mkdir "$HOME/started" 2>/dev/null && read _ < "$HOME/wait"
exec {program} "$@"
"""
"""A `stet` that waits for a line at its first start, and starts at once later."""
UNUSED = "F401"
"""The diagnostic of `ruff server` on the first line of `GREET`: an unused import."""


@pytest.fixture
def emacs(part: Part, tmp_path: Path) -> Iterator[Begin]:
    """Start editors with `GREET` in `a.py`: `emacs(programs)` returns one with this `PATH`."""
    started: list[Emacs] = []

    def begin(*programs: str, init: str = "") -> Emacs:
        home, root = tmp_path / "home", tmp_path / "work"
        (home / "bin").mkdir(parents=True, exist_ok=True)
        (root / ".git").mkdir(parents=True)
        (root / "a.py").write_text(GREET)
        (root / "notes.txt").write_text("One.\n")
        for program in programs:
            (home / "bin" / program).symlink_to(Path(sys.executable).with_name(program))
        script = home / "script.json"
        script.write_text(json.dumps(greet_script()))
        given = Start(part(ensure), home, root, script, path=[home / "bin"], init=init)
        started.append(start(given, "a.py"))
        return started[-1]

    yield begin
    for editor in started:
        editor.close()


def test_stet_runs_beside_the_server_that_eglot_knows(emacs: Begin) -> None:
    editor = emacs("stet", "rass", "ruff").served()
    diagnostics = '(mapconcat #\'flymake-diagnostic-text (flymake-diagnostics) " ")'
    editor.wait(f'(and (string-search "{UNUSED}" {diagnostics}) t)', "ruff says something")
    editor.prompt("C-c x a", "use f-strings").wait_for_hunks(4, 10)
    editor.terminal.wait_for('+     message = f"Hello {name}"')
    editor.line(5).press("C-c x y").wait_for_text("\n".join(GREET_FILE.first) + "\n")
    editor.prompt("C-c x m", "Stet: Go to next of 1 pending hunk")
    editor.wait("(= (line-number-at-pos) 11)", "a code action of Stet's")
    editor.press("C-c x y").wait_for_text("\n".join(GREET_FILE.both) + "\n")
    editor.press("C-_").wait_for_text("\n".join(GREET_FILE.first) + "\n")
    editor.wait_for_states("accepted", "pending")
    editor.wait(f'(and (string-search "{UNUSED}" {diagnostics}) t)', "ruff goes on saying it")

    editor.visit("notes.txt").wait("(stet--served-p)", "another language has the same connection")
    editor.wait_for_context("Path: notes.txt")
    assert (editor.root / "a.py").read_text() == GREET


def test_a_stet_that_rass_did_not_wait_for_is_connected_again(emacs: Begin, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    slow = home / "bin" / "stet"
    slow.write_text(SLOW_AT_FIRST.format(program=Path(sys.executable).with_name("stet")))
    slow.chmod(0o755)
    os.mkfifo(home / "wait")
    editor = emacs("rass", "ruff")
    editor.reported("Stet was slow to start; connecting again")
    with (home / "wait").open("w") as waiting:
        waiting.write("\n")
    editor.served()
    name = editor.eval("(plist-get (eglot--server-info (stet--server)) :name)")
    assert sorted(name.split("+")) == ["ruff", "stet"]


def test_stet_without_rass_runs_alone_with_a_remedy(emacs: Begin) -> None:
    editor = emacs("stet", "ruff").served()
    editor.wait('(and (get-buffer "*Warnings*") t)', "there is a warning")
    warning = editor.eval('(with-current-buffer "*Warnings*" (buffer-string))')
    assert "pip install rassumfrassum" in warning
    assert "ruff" in warning


def test_a_language_server_of_your_choice_can_be_left_out(emacs: Begin) -> None:
    editor = emacs("stet", "rass", "ruff", init="(setq stet-beside nil)\n").served()
    assert editor.eval("(plist-get (eglot--server-info (stet--server)) :name)") == "stet"


def test_missing_stet_is_reported_once_with_a_remedy(emacs: Begin) -> None:
    editor = emacs("ruff")
    editor.wait('(and (get-buffer "*Warnings*") t)', "there is a warning")
    editor.visit("notes.txt")
    warning = editor.eval('(with-current-buffer "*Warnings*" (buffer-string))')
    assert warning.count("so nothing is started.") == 1
    editor.press("C-c x n").reported("install it, or fix the PATH")
    assert editor.eval("(eglot-current-server)") is None
