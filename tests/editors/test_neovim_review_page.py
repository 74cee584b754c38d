"""Hunks in real Neovim besides diagnostics: the review page, code lenses, hovers."""

from collections.abc import Callable

import pytest

from tests.editors.neovim import Neovim
from tests.editors.scripts import GREET, GREET_FILE, greet_script

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]


def test_a_hunk_is_deleted_from_the_review_page_and_one_is_amended(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\ause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.keys("ggO# typed<Esc>")
    editor.wait_for_hunks(5, 11)
    editor.keys("\\d")
    editor.wait("vim.bo.filetype == 'diff'", "the page is shown")
    editor.wait("#vim.lsp.get_clients({ bufnr = 0 }) == 1", "Stet serves its page")
    assert editor.lua("return #vim.lsp.get_clients({ name = 'stet' })") == 1

    editor.keys("/@@ h2<CR>dG")
    editor.keys("/+ .*Hello<CR>/Hello<CR>cwGoodday<Esc>:write<CR>")
    editor.wait_for_states("pending", "rejected")
    editor.wait(
        "vim.fn.execute('messages'):match('Stet: 1 hunk rejected, 1 hunk amended')",
        "the user is told",
    )
    editor.keys(":buffer a.py<CR>")
    editor.wait_for_hunks(5)
    editor.keys("6G\\y")
    first = [line.replace('f"Hello', 'f"Goodday') for line in GREET_FILE.first]
    editor.wait_for_lines(["# typed", *first])
    assert editor.on_disk("a.py") == GREET


def test_a_review_page_is_no_file_that_the_user_is_in(neovim: Begin) -> None:
    fine = {"name": "done", "arguments": {"summary": "Fine."}}
    editor = neovim({"a.py": GREET}, [*greet_script(), {"tool_calls": [fine]}])
    editor.keys("7G\\ause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.keys("\\d")
    editor.wait("vim.bo.filetype == 'diff'", "the page is shown")
    editor.wait("#vim.lsp.get_clients({ bufnr = 0 }) == 1", "Stet serves its page")
    editor.keys("3G\\aand now<CR>")
    editor.wait("vim.fn.execute('messages'):match('Stet: Fine')", "it is answered")
    editor.wait_for_context("Path: a.py\n")


def test_the_diff_is_shown_on_hover_and_lenses_accept(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\ause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.keys("5GK")
    editor.wait("vim.b.lsp_floating_preview ~= nil", "there is a hover")
    shown = "vim.api.nvim_buf_get_lines(vim.fn.winbufnr(vim.b.lsp_floating_preview), 0, -1, false)"
    assert editor.lua(f"return {shown}") == [
        "**h1** Use an f-string",
        "",
        "```diff",
        '-    message = "Hello " + name',
        '+    message = f"Hello {name}"',
        "```",
    ]
    editor.lua("vim.lsp.codelens.refresh({ bufnr = 0 })")
    editor.wait("#vim.lsp.codelens.get(0) == 4", "there are lenses")
    editor.lua("vim.ui.select = function(lenses, _, choose) choose(lenses[1]) end")
    editor.keys("11G")
    editor.lua("vim.lsp.codelens.run()")
    editor.wait_for_lines(GREET_FILE.second)
    editor.wait_for_states("pending", "accepted")
