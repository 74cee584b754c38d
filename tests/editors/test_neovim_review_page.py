"""Hunks in real Neovim besides diagnostics: the review page, code lenses, hovers."""

from collections.abc import Callable

import pytest

from tests.editors.neovim import Neovim
from tests.editors.scripts import GREET, GREET_FILE, greet_script

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]


def test_a_hunk_is_deleted_from_the_review_page_and_one_is_amended(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.keys("ggO# typed<Esc>")
    editor.wait_for_hunks(5, 11)
    editor.keys("\\kd")
    editor.wait("vim.bo.filetype == 'diff'", "the page is shown")
    editor.wait("#vim.lsp.get_clients({ bufnr = 0 }) == 1", "Stet serves its page")
    assert editor.lua("return #vim.lsp.get_clients({ name = 'stet' })") == 1

    editor.keys("/@@ h2<CR>dG")
    editor.keys("/+ .*Hello<CR>/Hello<CR>cwGoodday<Esc>:write<CR>")
    editor.wait_for_states("accepted", "rejected")
    editor.wait(
        "vim.fn.execute('messages'):match('Stet: 1 hunk accepted, 1 hunk rejected')",
        "the user is told",
    )
    editor.keys(":buffer a.py<CR>")
    first = [line.replace('f"Hello', 'f"Goodday') for line in GREET_FILE.first]
    editor.wait_for_lines(["# typed", *first])
    assert editor.on_disk("a.py") == GREET


def test_hunks_of_the_review_page_are_decided_by_key(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.keys("\\kd")
    editor.wait("T.row(1):find('2 hunks left')", "the page counts its hunks")
    editor.wait("T.row(2):find([[# \\ky accepts, \\kn rejects]], 1, true)", "it names the keys")
    editor.keys("gg\\ky")
    editor.wait("vim.fn.execute('messages'):find('no hunk on this line')", "the head is no hunk")
    editor.keys("]v\\ky")
    editor.wait("T.row(1):find('1 hunk left')", "the count follows")
    editor.wait(
        "vim.iter(T.screen()):any(function(r) return r:match('@@ h1 .* accepted') end)", "h1"
    )
    editor.wait_for_states("accepted", "pending")
    editor.keys("]v\\knkeep it<CR>")
    editor.wait_for_states("accepted", "rejected")
    editor.wait("T.row(1):find('0 hunks left')", "nothing is left")
    editor.keys("\\kb")
    editor.wait_for_states("accepted", "pending")
    editor.keys("gg]v\\ku")
    editor.wait_for_states("undone", "pending")
    editor.capture("review-page")
    assert editor.lua("return vim.bo.modified") is False
    editor.keys(":buffer a.py<CR>")
    editor.wait_for_lines(GREET.splitlines())


def test_review_page_that_is_unchanged_accepts_when_it_is_written_twice(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.keys("\\kd")
    editor.wait(
        "#vim.lsp.get_clients({ bufnr = 0 }) == 1 and vim.bo.filetype == 'diff'", "the page"
    )
    editor.keys(":write<CR>")
    words = "you changed nothing on this page. Save it again to accept its 2 hunks."
    editor.wait(f"vim.fn.execute('messages'):find([[{words}]], 1, true)", "it says what it will do")
    assert editor.states() == ["pending", "pending"]
    editor.keys(":write<CR>")
    editor.wait_for_states("accepted", "accepted")
    editor.keys(":buffer a.py<CR>")
    editor.wait_for_lines(GREET_FILE.both)


def test_a_review_page_is_no_file_that_the_user_is_in(neovim: Begin) -> None:
    fine = {"name": "done", "arguments": {"summary": "Fine."}}
    editor = neovim({"a.py": GREET}, [*greet_script(), {"tool_calls": [fine]}])
    editor.keys("7G\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.keys("\\kd")
    editor.wait("vim.bo.filetype == 'diff'", "the page is shown")
    editor.wait("#vim.lsp.get_clients({ bufnr = 0 }) == 1", "Stet serves its page")
    editor.keys("3G\\kaand now<CR>")
    editor.wait("vim.fn.execute('messages'):match('Stet: Fine')", "it is answered")
    editor.wait_for_context("Path: a.py\n")


def test_the_diff_is_shown_on_hover_and_lenses_accept(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\kause f-strings<CR>")
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
