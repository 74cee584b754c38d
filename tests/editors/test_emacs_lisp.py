"""The Lisp of the Emacs configuration compiles without a warning and reads as Emacs's own does."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors.emacs import CONFIG
from tests.parts.emacs import ensure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
CHECK = """
(progn
  (require 'bytecomp)
  (let ((byte-compile-error-on-warn t) (file (pop command-line-args-left)))
    (unless (byte-compile-file file) (kill-emacs 1))
    (checkdoc-file file)))
"""


def test_it_compiles_without_a_warning_and_checkdoc_finds_nothing(
    part: Part, tmp_path: Path
) -> None:
    program, lisp = part(ensure), tmp_path / "stet.el"
    lisp.write_bytes((CONFIG / "stet.el").read_bytes())
    run = subprocess.run(
        [*program.command, "--batch", "-Q", "--eval", CHECK, str(lisp)],
        env={**os.environ, **program.environment, "HOME": str(tmp_path)},
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert (run.returncode, run.stdout + run.stderr) == (0, "")
    assert lisp.with_suffix(".elc").is_file()
