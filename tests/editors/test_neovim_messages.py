"""Messages in real Neovim: they cover no hunk, and progress replaces nothing that is read."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.editors.neovim import Neovim
from tests.editors.scripts import GREET, greet_script, script

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]
NARROW = "vim.o.columns = 60"
LAST_ROW = "T.row(vim.o.lines)"
WINDOWS = "return #vim.api.nvim_list_wins()"
ANSWER = "It greets a person by name, prints the greeting, and returns it to the caller."
HELLO = '+     message = f"Hello {name}"'
PROGRESS = """
T.progress = {}
vim.api.nvim_create_autocmd('LspProgress', { callback = function(event)
  table.insert(T.progress, event.data.params.value.message or '')
end })
"""
READ = {"name": "read_file", "arguments": {"file": "a.py"}}


def asked(editor: Neovim, keys: str, end: str) -> None:
    """Ask by keys, and wait for the message at the end of the turn."""
    editor.keys(f"{keys}<CR>")
    editor.wait(f"vim.fn.execute('messages'):find('{end}', 1, true)", "the turn is over")


def shown(editor: Neovim, text: str) -> None:
    """Wait until the message line begins with a text."""
    editor.wait(f"vim.startswith({LAST_ROW}, '{text}')", f"{text!r} in the message line")


def test_long_message_at_the_end_of_a_turn_covers_no_hunk(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.lua(NARROW)
    asked(editor, "5G\\kause f-strings", "It is done. 2 hunks to review. (2 rounds")
    editor.wait_for_rows(HELLO)
    assert editor.lua(f"return vim.trim({LAST_ROW})") == "Stet: It is done. 2 hunks to review."
    assert editor.lua(WINDOWS) == 1


def test_long_message_is_shown_at_the_cursor_where_no_hunk_is_until_one_comes(
    neovim: Begin,
) -> None:
    editor = neovim({"a.py": GREET}, [{"text": ANSWER}, *greet_script()])
    editor.lua(NARROW)
    asked(editor, "5G\\kewhat is it", "returns it to the caller.")
    editor.wait("#vim.api.nvim_list_wins() == 2", "it is shown at the cursor")
    editor.lua("T.send('stet.ask', { prompt = 'use f-strings' })")
    editor.wait_for_rows(HELLO)
    assert editor.lua(WINDOWS) == 1


def test_progress_does_not_replace_the_message_about_a_hunk(neovim: Begin) -> None:
    working: list[dict[str, Any]] = [
        {"hold": "$HOLD", "tool_calls": [READ]},
        {"hold": "$HOLD2", "text": ANSWER},
    ]
    editor = neovim({"a.py": GREET}, [*greet_script(), *working], lua=PROGRESS)
    asked(editor, "\\kause f-strings", "It is done.")
    editor.keys("\\kewhat is it<CR>")
    shown(editor, "Stet: what is it")
    editor.keys("]v")
    shown(editor, "Hunk 1/2: Use an f-string · \\\\ky accept, \\\\kn reject")
    editor.lua("T.progress = {}")
    editor.release()
    editor.wait("vim.iter(T.progress):any(function(m) return m:find('round 2') end)", "it goes on")
    shown(editor, "Hunk 1/2: Use an f-string")
    editor.root.parent.joinpath("go2").touch()
    shown(editor, f"Stet: {ANSWER}")


def test_decision_takes_the_message_about_the_hunk_away(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    asked(editor, "\\kause f-strings", "It is done.")
    editor.keys("]v")
    shown(editor, "Hunk 1/2")
    editor.keys("\\ky")
    editor.wait(f"vim.trim({LAST_ROW}) == ''", "it is gone")
    editor.keys("]v")
    shown(editor, "Hunk 1/1")
    editor.keys("\\kntoo fancy<CR>")
    editor.wait(f"vim.trim({LAST_ROW}) == ''", "the reason is gone")


def test_jump_into_another_file_names_its_hunk(neovim: Begin) -> None:
    new = {"name": "create_file", "arguments": {"file": "new.txt", "content": "new\n"}}
    editor = neovim({"a.py": GREET}, script(new))
    asked(editor, "\\kause f-strings", "It is done.")
    editor.keys("]v")
    editor.wait("vim.fn.expand('%:t') == 'new.txt'", "the other file is shown")
    shown(editor, "Hunk 1/1: Create new.txt")


def test_deleted_file_is_brought_back_by_the_key_of_undo(neovim: Begin) -> None:
    delete = {"name": "delete_file", "arguments": {"file": "gone.txt"}}
    done = {"tool_calls": [{"name": "done", "arguments": {"summary": "It is done."}}]}
    lua = """
    vim.g.stet = { settings = { agent = { disabledTools = { 'execute_command' } } } }
    vim.ui.select = function(items, options, choose)
      T.offered = vim.tbl_map(options.format_item or tostring, items)
      choose(items[1])
    end
    """
    files = {"a.py": GREET, "gone.txt": "gone\n"}
    read = {"name": "read_file", "arguments": {"file": "gone.txt"}}
    model = [{"tool_calls": [read]}, {"tool_calls": [delete]}, done]
    editor = neovim(files, model, lua=lua)
    editor.keys("\\kadelete gone.txt<CR>")
    editor.wait("vim.fn.execute('messages'):find('undo with \\\\ku', 1, true)", "it asks")
    editor.keys("\\kq")
    editor.wait("vim.fn.execute('messages'):find('It is done.', 1, true)", "the turn is over")
    assert not (editor.root / "gone.txt").exists()
    editor.keys("\\ku")
    editor.wait_for_states("undone")
    assert editor.lua("return T.offered") == ["Bring back gone.txt"]
    assert editor.on_disk("gone.txt") == "gone\n"
