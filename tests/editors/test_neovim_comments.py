"""Comments that start a turn, typed in real Neovim."""

from collections.abc import Callable

import pytest

from tests.editors.neovim import Neovim
from tests.support.live_turns import calls, done, edit

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]

ON_SAVE = "vim.lsp.config('stet', { settings = { stet = { instructions = { onSave = true } } } })"
DOUBLED = [calls(edit("a.py", "x = 1", "x = 2", "Double x")), done()]


def test_a_comment_is_typed_and_carried_out_from_the_menu_of_code_actions(neovim: Begin) -> None:
    editor = neovim({"a.py": "x = 1\ny = 1\n"}, DOUBLED)
    editor.keys("ggA  # double it AI!<Esc>")
    editor.lua(
        """
        local function wanted(action) return action.title == 'Stet: Run comment instruction' end
        vim.lsp.buf.code_action({ filter = wanted, apply = true })
        """
    )
    editor.wait_for_states("superseded", "pending")
    shown = "vim.tbl_get(vim.diagnostic.get(0), 1, 'user_data', 'lsp', 'data', 'hunk')"
    editor.wait(f"{shown} == 'h2'", "the later hunk is shown")
    assert editor.lines() == ["x = 1  # double it AI!", "y = 1"]
    editor.keys("1G\\ky")
    editor.wait_for_lines(["x = 2", "y = 1"])


def test_saving_carries_out_what_was_typed_and_not_what_was_there(neovim: Begin) -> None:
    before = "# a stranger's AI!\nx = 1\n"
    editor = neovim({"a.py": before}, DOUBLED, lua=ON_SAVE)
    editor.wait("(T.poll('stet.status') or {}).ready", "it is ready")
    editor.keys("Go# double x AI!<Esc>:w<CR>")
    editor.wait_for_hunks(1, 2)
    editor.wait_for_states("pending", "pending")
    olds = [hunk["old"] for hunk in editor.command("stet.proposals")]
    assert olds == ["x = 1\n", "# double x AI!\n"]
