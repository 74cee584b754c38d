"""Neovim's own search for workspace symbols, with a question."""

from collections.abc import Callable

import pytest

from tests.editors.neovim import Neovim

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

FILES = {
    "app.py": "def start():\n    pass\n",
    "garden.md": "# Garden\n\n## Tomatoes\n\nWater them in the evening.\n",
}


def test_a_question_fills_the_quickfix_list_with_places(neovim: Callable[..., Neovim]) -> None:
    editor = neovim(FILES, [])
    editor.command("stet.reindex", rebuild=False)
    editor.wait("((T.poll('stet.status') or {}).index or {}).state == 'ready'", "there is an index")
    editor.lua("vim.lsp.buf.workspace_symbol('?when do I water tomatoes')")
    editor.wait("#vim.fn.getqflist() > 0", "something is found")
    assert editor.lua("return vim.fn.getqflist()[1].text").startswith("[String] Tomatoes")
    editor.keys(":cfirst<CR>")
    editor.wait("vim.fn.line('.') == 3", "the cursor is at the section")
    assert editor.lines() == FILES["garden.md"].splitlines()
