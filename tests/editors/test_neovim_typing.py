"""Typing while hunks are pending, in real Neovim: hunks keep their place, no key is lost."""

from collections.abc import Callable

import pytest

from tests.editors.neovim import Neovim
from tests.editors.scripts import GREET, GREET_FILE, edit, greet_script, script

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]
LATE_DIAGNOSTICS = """
local client = vim.lsp.get_clients({ name = 'stet' })[1]
local found = vim.tbl_map(function(one) return one.user_data.lsp end, vim.diagnostic.get(0))
local function publish(diagnostics)
  local method, uri = 'textDocument/publishDiagnostics', vim.uri_from_bufnr(0)
  local context = { method = method, client_id = client.id, bufnr = 0 }
  client.handlers[method](nil, { uri = uri, diagnostics = diagnostics }, context)
end
publish({})
vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# typed', '# above' })
publish(found)
local at = {}
for line = 1, vim.api.nvim_buf_line_count(0) do
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  if require('stet.hunks').current() then table.insert(at, line - 1) end
end
return at
"""
"""Lua that types two lines before the diagnostics of new hunks come, which are for the text before;
it returns the lines, 0-based, at which a key finds a hunk then.
"""


def test_typing_above_between_and_below_moves_hunks_and_stays(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script(held=True))
    editor.keys("\\kause f-strings<CR>")
    editor.keys("ggO# above<Esc>")
    editor.release()
    editor.wait_for_hunks(5, 11)
    editor.keys("8Go    # between, é😀<Esc>Go# below<Esc>")
    editor.wait_for_hunks(5, 12)
    editor.keys("6G\\ky")
    editor.wait_for_states("accepted", "pending")
    editor.keys("ggO# once more<Esc>")
    editor.wait_for_hunks(13)
    editor.keys("14G\\ky")
    editor.wait_for_states("accepted", "accepted")
    both = GREET_FILE.both
    assert editor.lines() == [
        "# once more",
        "# above",
        *both[:7],
        "    # between, é😀",
        *both[7:],
        "# below",
    ]
    assert editor.on_disk("a.py") == GREET


def test_keys_find_a_hunk_whose_diagnostics_are_for_the_text_before_the_last_change(
    neovim: Begin,
) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    assert editor.lua(LATE_DIAGNOSTICS) == [6, 12]


def test_typing_inside_a_hunk_is_a_conflict_until_it_is_undone(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.keys("5G$a + '!'<Esc>")
    editor.wait("T.hunks()[1][2] == 'conflict'", "the first hunk is a conflict")
    editor.keys("\\ky")
    written = editor.lines()
    assert written[4] == "    message = \"Hello \" + name + '!'"
    assert editor.states() == ["conflict", "pending"]
    editor.keys("u")
    editor.wait_for_hunks(4, 10)
    editor.keys("\\ky")
    editor.wait_for_lines(GREET_FILE.first)


def test_a_burst_of_keys_loses_none_and_hunks_keep_their_place(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    typed = "".join(chr(ord("a") + n % 26) if n % 9 else "\n" for n in range(1, 200))
    editor.keys("ggO")
    for key in typed:
        editor.keys(key.replace("\n", "<CR>"))
    editor.keys("<Esc>")
    new_lines = typed.split("\n")
    editor.wait_for_lines([*new_lines, *GREET_FILE.before])
    editor.wait_for_hunks(4 + len(new_lines), 10 + len(new_lines))
    editor.keys("\\kY")
    editor.wait_for_lines([*new_lines, *GREET_FILE.both])
    editor.wait_for_states("accepted", "accepted")


def test_text_that_changes_right_after_the_accept_loses_nothing(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.lua(
        """
        T.send('stet.accept', { uri = vim.uri_from_bufnr(0) }, function() end)
        vim.api.nvim_buf_set_lines(0, 0, 0, false, { '# new first line' })
        """
    )
    editor.wait_for_states("accepted", "accepted")
    editor.wait_for_lines(["# new first line", *GREET_FILE.both])


def test_all_hunks_of_a_file_are_one_step_of_undo(neovim: Begin) -> None:
    text = "".join(f"line {n}\n" for n in range(1, 31))
    calls = [edit("a.txt", f"line {n}\n", f"LINE {n}\n") for n in (3, 10, 17, 24)]
    calls.append(edit("a.txt", "line 28\nline 29\n", ""))
    editor = neovim({"a.txt": text}, script(*calls))
    editor.keys("\\kashout<CR>")
    editor.wait_for_hunks(2, 9, 16, 23, 27)
    assert editor.lines() == text.splitlines()
    editor.keys("\\kY")
    expected = [f"LINE {n}" if n in (3, 10, 17, 24) else f"line {n}" for n in range(1, 31)]
    del expected[27:29]
    editor.wait_for_lines(expected)
    editor.wait_for_states(*["accepted"] * 5)
    editor.keys("u")
    editor.wait_for_lines(text.splitlines())
