"""What real Neovim shows besides the scenario, one line of the table of `docs/editors.md` each."""

from collections.abc import Callable

import pytest

from tests.editors.neovim import CommandFailed, Neovim
from tests.editors.scripts import GREET, GREET_FILE, greet_script
from tests.editors.shown import NO, Shown

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]


def test_lens_hover_review_and_chat_are_shown_as_in_the_table(neovim: Begin) -> None:
    shown = Shown("neovim", "Neovim 0.11")
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    assert editor.lua("return #vim.lsp.codelens.get(0)") == 0
    editor.lua("vim.lsp.codelens.refresh({ bufnr = 0 })")
    editor.wait("#vim.lsp.codelens.get(0) == 4", "there are lenses")
    shown.saw("lens", "if you ask for it")
    editor.keys("5GK")
    editor.wait("vim.b.lsp_floating_preview ~= nil", "there is a hover")
    assert any('+    message = f"Hello {name}"' in row for row in editor.screen())
    shown.saw("hover", "popup")
    with pytest.raises(CommandFailed):
        editor.command("stet.preview", hunk="h1")
    shown.saw("preview", NO)
    editor.keys("\\kd")
    editor.wait("vim.bo.filetype == 'diff'", "the page is shown")
    shown.saw("review", "a file to edit")
    editor.keys("\\kt")
    editor.wait("vim.bo.filetype == 'markdown'", "the chat is shown")
    shown.saw("chat", "a Markdown file")
    shown.check()


def test_selection_and_search_are_known_as_in_the_table(
    neovim: Begin,
) -> None:
    shown = Shown("neovim", "Neovim 0.11")
    editor = neovim({"a.py": GREET}, [])
    editor.keys("4GVjj")
    editor.wait_for_context('<manually_added_selection path="a.py" lines="4-6">')
    shown.saw("selection", "at once")
    editor.keys("<Esc>\\kfwhere is bye said<CR>")
    editor.wait("vim.bo.buftype == 'quickfix'", "places are listed")
    assert "a.py|10| part" in editor.lines()
    assert all(line.split("|")[2].strip() for line in editor.lines())
    shown.saw("search", "quickfix list")
    editor.keys(":cclose<CR>")
    editor.wait_for_lines(GREET_FILE.before)
    shown.check()
