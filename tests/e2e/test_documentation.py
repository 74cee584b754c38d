"""The main job with the embedded model: a docstring is added, and the code stays byte-identical."""

import ast
import base64
import calendar
import csv
import difflib
import fnmatch
import glob
import locale
import shlex
import shutil
import statistics
import string
import tempfile
import textwrap
import types
import zipfile
from itertools import islice
from pathlib import Path

import pytest

from stet.review.resolve import edit_instruction as instruction
from tests.support.docstring_checks import only_documented, undocumented
from tests.support.editor import FakeEditor
from tests.support.live_turns import run, wait_for_states
from tests.support.local_models import small_model, small_only
from tests.support.shell import Shell

MODULES = (
    ast, base64, calendar, csv, difflib, fnmatch, glob, locale, shlex, shutil, statistics, string,
    tempfile, textwrap, types, zipfile,
)  # fmt: skip
DATA = small_only()

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(autouse=True)
def _weights() -> None:
    small_model()


@pytest.mark.long
async def test_eight_of_ten_functions_of_the_standard_library_get_their_docstring(
    tmp_path: Path,
) -> None:
    found = (source for module in MODULES for source in islice(undocumented(module), 1))
    functions = list(islice(found, 10))
    assert len(functions) == 10
    kept = 0
    async with FakeEditor.start(tmp_path, env=DATA) as editor:
        for number, source in enumerate(functions):
            uri = editor.open(f"f{number}.py", source, "python")
            last = len(source.splitlines())
            turn = await run(
                editor,
                f"Add a docstring {number}",
                uri=uri,
                mode="rewrite",
                **{"from": 1, "to": last},
            )
            assert editor.text(uri) == source
            if turn["state"] != "completed":
                continue
            await editor.command("stet.accept", {"turn": turn["turn"]})
            await wait_for_states(editor, **dict.fromkeys(turn["hunks"], "accepted"))
            kept += only_documented(source, editor.text(uri))
    assert kept >= 8


def test_a_function_of_our_own_gets_its_docstring_from_the_shell(shell: Shell) -> None:
    source = next(undocumented(instruction))
    file = shell.write("own.py", source)
    done = shell.run(
        "ask",
        "add a docstring",
        "--file",
        "own.py",
        "--mode",
        "rewrite",
        "--accept",
        "all",
        env=DATA,
    )
    assert done.returncode == 0, done.stderr
    assert only_documented(source, file.read_text())


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Make a shell with a working folder."""
    return Shell.at(tmp_path)
