"""A conversation in real Neovim, whose user types while the answer arrives."""

from collections.abc import Callable

import pytest

from tests.editors.neovim import Neovim

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]


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
