"""The in-text review style in real Neovim: blocks are inserted, decided and undone."""

from collections.abc import Callable

import pytest

from tests.editors.neovim import Neovim
from tests.editors.scripts import edit, script

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]

INLINE = "vim.lsp.config('stet', { settings = { stet = { edit = { reviewStyle = 'inline' } } } })"
TEXT = "one\ntwo\nthree\n"
FIRST = ["<<<<<<< yours", "two", "=======", "2", ">>>>>>> stet h1 (Digit)"]
SECOND = ["<<<<<<< yours", "=======", "four", ">>>>>>> stet h2 (More)"]


def test_blocks_are_decided_by_command_and_by_hand_and_come_back_by_undo(neovim: Begin) -> None:
    calls = (
        edit("a.py", "two\n", "2\n", "Digit"),
        edit("a.py", "three\n", "three\nfour\n", "More"),
    )
    editor = neovim({"a.py": TEXT}, [*script(calls[0])[:1], *script(calls[1])], lua=INLINE)
    editor.keys("gg\\kachange it<CR>")
    editor.wait_for_lines(["one", *FIRST, "three", *SECOND])
    editor.wait_for_states("pending", "pending")

    editor.command("stet.accept", hunk="h1")
    editor.wait_for_states("accepted", "pending")
    editor.wait_for_lines(["one", "2", "three", *SECOND])
    editor.keys("u")
    editor.wait_for_states("pending", "pending")
    editor.wait_for_lines(["one", *FIRST, "three", *SECOND])

    editor.command("stet.reject", hunk="h1")
    editor.wait_for_states("rejected", "pending")
    editor.wait_for_lines(["one", "two", "three", *SECOND])
    editor.lua(r"vim.cmd([[global/^[<>=]\{7}/delete]])")
    editor.wait_for_states("rejected", "accepted")
    assert editor.lines() == ["one", "two", "three", "four"]
