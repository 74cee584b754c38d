"""The main job in real Neovim: ask, look, accept one, reject one, undo."""

from collections.abc import Callable

import pytest

from tests.editors.neovim import Neovim
from tests.editors.scripts import GREET, GREET_FILE, greet_script

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]


def test_a_function_is_selected_asked_about_and_reviewed_by_keys(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("4GVGk\\ause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    assert editor.lines() == GREET_FILE.before
    assert editor.on_disk("a.py") == GREET

    editor.keys("5G\\y")
    editor.wait_for_lines(GREET_FILE.first)
    editor.wait_for_states("accepted", "pending")
    editor.keys("11G\\nkeep it plain<CR>")
    editor.wait_for_states("accepted", "rejected")
    assert editor.command("stet.proposals")[1]["reason"] == "keep it plain"
    assert editor.lines() == GREET_FILE.first
    assert editor.on_disk("a.py") == GREET
    editor.wait_for_hunks()

    editor.keys("u")
    editor.wait_for_lines(GREET_FILE.before)
