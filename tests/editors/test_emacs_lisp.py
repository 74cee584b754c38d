"""The Lisp of the Emacs configuration compiles without warnings and follows Emacs's style."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors.emacs import CONFIG
from tests.parts.emacs import Emacs, ensure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
CHECK = """
(progn
  (require 'bytecomp)
  (let ((byte-compile-error-on-warn t) (load-path (cons default-directory load-path)))
    (while command-line-args-left
      (let ((file (pop command-line-args-left)))
        (unless (byte-compile-file file) (kill-emacs 1))
        (checkdoc-file file)))))
"""


def test_it_compiles_without_a_warning_and_checkdoc_finds_nothing(
    part: Part, tmp_path: Path
) -> None:
    program = part(ensure)
    lisp = [tmp_path / path.name for path in sorted(CONFIG.glob("*.el"))]
    for path in lisp:
        path.write_bytes((CONFIG / path.name).read_bytes())
    assert run(program, tmp_path, "--eval", CHECK, *map(str, lisp)) == (0, "")
    assert lisp
    assert all(path.with_suffix(".elc").is_file() for path in lisp)


def test_what_is_printed_is_one_file_that_works(part: Part, tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-m", "stet.cli.main", "config", "emacs"]
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    printed = subprocess.run(command, env=home, check=True, capture_output=True, timeout=50).stdout
    (tmp_path / "printed.el").write_bytes(printed)
    asked = ("--load", str(tmp_path / "printed.el"), "--eval", "(princ (commandp 'stet-ask))")
    assert run(part(ensure), tmp_path, *asked) == (0, "t")


def test_a_part_that_is_missing_is_named_with_where_it_belongs(part: Part, tmp_path: Path) -> None:
    for name in ("stet.el", "stet-server.el"):
        (tmp_path / name).write_bytes((CONFIG / name).read_bytes())
    code, message = run(part(ensure), tmp_path, "--load", str(tmp_path / "stet.el"))
    assert code != 0
    assert "Stet needs stet-overlays.el in the folder of stet.el: put it there" in message


def run(program: Emacs, home: Path, *arguments: str) -> tuple[int, str]:
    """Return the exit code and the output of an Emacs in batch mode."""
    done = subprocess.run(
        [*program.command, "--batch", "-Q", *arguments],
        env={**os.environ, **program.environment, "HOME": str(home)},
        cwd=home,
        check=False,
        capture_output=True,
        text=True,
        timeout=50,
    )
    return done.returncode, done.stdout + done.stderr
