"""A conversation in real Neovim, whose user types while the answer arrives."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.editors.neovim import Neovim

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]


CHOOSE = """
vim.ui.select = function(items, options, choose)
  T.offered = vim.tbl_map(options.format_item, items)
  choose(items[#items])
end
"""


def test_chats_are_listed_by_title_and_the_chosen_one_opens_beside_the_code(
    neovim: Begin,
) -> None:
    script = [{"text": "One."}, {"text": "Two."}, {"text": "Three."}]
    editor = neovim({"a.txt": "one\n"}, script, lua=CHOOSE)
    editor.keys("\\ko")
    editor.wait("vim.fn.execute('messages'):find('no chats yet; \\\\ka asks', 1, true)", "none yet")
    turns = "(T.poll('stet.chats') or {})"
    for chat, prompt in (("main", "What is one?"), ("c9", "What is two?"), ("c9", "And three?")):
        editor.command("stet.ask", prompt=prompt, chat=chat, mode="ask")
    editor.wait(
        f"#{turns} == 2 and #(T.poll('stet.status') or {{ turns = {{ 1 }} }}).turns == 0",
        "all is answered",
    )
    editor.keys("\\ko")
    editor.wait("vim.bo.filetype == 'markdown'", "the chat is shown")
    assert editor.lua("return T.offered") == [
        "What is two? (2 turns, just now)",
        "What is one? (1 turn, just now)",
    ]
    assert "What is one?" in editor.lines()
    assert editor.lua("return #vim.api.nvim_list_wins()") == 2
    assert editor.lua("return vim.fn.line('.') == vim.fn.line('$')")


@pytest.mark.parametrize(("columns", "layout"), [(130, "row"), (100, "col")])
def test_chat_opens_beside_the_code_or_below_it_at_its_end(
    neovim: Begin, columns: int, layout: str
) -> None:
    editor = neovim({"a.txt": "one\n"}, [{"text": "\n\n".join(f"Line {n}." for n in range(60))}])
    editor.lua("vim.o.columns = ...", columns)
    editor.keys("\\kewhat<CR>")
    editor.wait_for_rows("Line 59.", "\\ks sends what you write here")
    assert editor.lua("return vim.fn.winlayout()[1]") == layout
    assert editor.lua("return vim.fn.expand('%:t')") == "a.txt"
    editor.keys("\\kt")
    editor.wait("vim.bo.filetype == 'markdown'", "the focus is in the chat")
    assert editor.lua("return #vim.api.nvim_list_wins()") == 2
    assert not editor.lua("return vim.wo.number")
    editor.keys(":close<CR>")
    editor.wait("#vim.api.nvim_list_wins() == 1", "it is closed")
    assert editor.lua("return vim.wo.conceallevel") == 0


def test_chat_stays_where_the_user_reads_and_follows_at_its_end(neovim: Begin) -> None:
    text = "\n\n".join(f"Line {n}." for n in range(60))
    editor = neovim(
        {"a.txt": "one\n"}, [{"text": text}, {"text": "The last."}, {"text": "No more."}]
    )
    editor.keys("\\kewhat<CR>")
    editor.wait_for_rows("Line 59.")
    editor.keys("\\kt")
    editor.wait("vim.bo.filetype == 'markdown'", "the focus is in the chat")
    editor.command("stet.ask", prompt="And then?", mode="ask")
    editor.wait_for_rows("The last.")
    editor.keys("gg")
    editor.command("stet.ask", prompt="And then?", mode="ask")
    editor.wait("vim.fn.search('^No more', 'nw') > 0", "it is answered")
    editor.wait("#(T.poll('stet.status') or { turns = { 1 } }).turns == 0", "the turn is over")
    assert editor.lua("return vim.fn.line('.')") == 1


def test_leaving_asks_nothing_about_a_chat_whose_file_has_changed(neovim: Begin) -> None:
    editor = neovim({"a.txt": "one\n"}, [])
    editor.keys("\\kt")
    editor.wait("vim.bo.filetype == 'markdown'", "the focus is in the chat")
    file = Path(editor.lua("return vim.api.nvim_buf_get_name(0)"))
    editor.keys("GoA draft<Esc>")
    file.write_text("what the server has written meanwhile\n")
    os.utime(file, (1, 1))
    editor.keys(":split<CR>:quit<CR>")
    editor.wait("#vim.api.nvim_list_wins() == 2", "the window is closed without a question")
    assert file.read_text().endswith("A draft\n")


def test_a_question_is_sent_from_the_chat_and_answered_while_the_user_types(neovim: Begin) -> None:
    words = " ".join(f"word{n}" for n in range(200))
    read = {"name": "read_file", "arguments": {"file": "a.txt"}}
    fine = {"name": "done", "arguments": {"summary": "That is all."}}
    editor = neovim(
        {"a.txt": "one\n"},
        [{"text": words, "tool_calls": [read]}, {"hold": "$HOLD", "tool_calls": [fine]}],
    )
    editor.keys("\\kt")
    editor.wait("vim.bo.filetype == 'markdown'", "the chat is shown")
    editor.wait("#vim.lsp.get_clients({ bufnr = 0 }) == 1", "Stet serves it")
    assert editor.lua("return #vim.lsp.get_clients({ name = 'stet' })") == 1
    editor.keys("GoTell me<Esc>\\ksGo")
    for n in range(40):
        editor.keys(f"<lt>{n}>")
    editor.wait(
        "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find('read_file')", "it reads"
    )
    editor.release()
    for n in range(40, 80):
        editor.keys(f"<lt>{n}>")
    editor.wait(
        "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find('%*completed')", "it ends"
    )
    editor.keys("<Esc>")
    lines = editor.lines()
    last = lines.index("## You", lines.index("## You") + 1)
    typed = "".join(f"<{n}>" for n in range(80))
    assert typed in "".join(lines)
    assert words in lines
    assert lines.index("Tell me") < lines.index("## Stet (t1)") < lines.index(words) < last
    assert "That is all." in lines[:last]
