"""Questions and messages of a turn in real Neovim: none of them blocks the user."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.editors.neovim import Neovim

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]
CHOOSE = """
vim.ui.select = function(items, options, on_choice)
  T.offered = { options.prompt, items }
  on_choice(items[T.choice])
end
vim.ui.input = function(_, on_answer) on_answer(T.words or 'Go on') end
"""
DONE = {"tool_calls": [{"name": "done", "arguments": {"summary": "That is all."}}]}
HELD = {**DONE, "hold": "$HOLD"}


def asking(question: str, *choices: str) -> dict[str, Any]:
    """Make a model's answer that asks the user."""
    arguments = {"question": question, "choices": list(choices)}
    return {"tool_calls": [{"name": "ask_user", "arguments": arguments}]}


def reported(editor: Neovim, text: str) -> None:
    """Wait until `:messages` has this text."""
    editor.wait(f"vim.fn.execute('messages'):find('{text}', 1, true)", f"{text!r} is told")


def answered_with(editor: Neovim) -> str:
    """Return the user's answer as the turn's chat shows it."""
    editor.keys("\\kt")
    editor.wait(
        "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find('Your answer')", "the chat"
    )
    return next(line for line in editor.lines() if "Your answer" in line)


def test_a_question_interrupts_nobody_who_types_and_waits_for_its_key(neovim: Begin) -> None:
    script = [asking("Which one?", "This", "That"), HELD]
    editor = neovim({"a.txt": "one\n"}, script, lua=CHOOSE)
    editor.keys("\\ka")
    editor.keys("o")
    for n in range(20):
        editor.keys(f"{n} ")
    reported(editor, "Stet: Which one?")
    reported(editor, "(answer: \\\\kq)")
    for n in range(20, 40):
        editor.keys(f"{n} ")
    editor.keys("<Esc>")
    typed = "".join(f"{n} " for n in range(40))
    editor.wait_for_lines(["one", typed])
    editor.lua("T.choice = 2")
    editor.keys("\\kq")
    editor.wait("T.offered", "it may be chosen")
    assert editor.lua("return T.offered") == ["Which one?", ["This", "That", "In your own words"]]
    assert answered_with(editor) == "*Your answer: That*"
    editor.release()
    reported(editor, "Stet: That is all.")


@pytest.mark.parametrize("choices", [(), ("This", "That")])
def test_question_is_answered_with_text(neovim: Begin, choices: tuple[str, ...]) -> None:
    editor = neovim({"a.txt": "one\n"}, [asking("Which one?", *choices), HELD], lua=CHOOSE)
    editor.keys("\\ka")
    reported(editor, "(answer: \\\\kq)")
    editor.lua("T.choice, T.words = 3, 'Neither'")
    editor.keys("\\kq")
    assert answered_with(editor) == "*Your answer: Neither*"


def test_answer_key_reports_that_nothing_is_asked(neovim: Begin) -> None:
    editor = neovim({"a.txt": "one\n"}, [DONE])
    editor.keys("\\kq")
    reported(editor, "Stet: no question is waiting")


def test_a_long_answer_is_shown_in_the_chat_beside_the_code(neovim: Begin) -> None:
    long = "\n\n".join(f"Paragraph {n}." for n in range(100))
    editor = neovim({"a.txt": "one\ntwo\n"}, [{"text": long}])
    editor.lua("T.send('stet.ask', { prompt = 'Explain', mode = 'ask' })")
    editor.wait("#vim.api.nvim_list_wins() == 2", "the chat is shown")
    assert editor.lines() == ["one", "two"], "the user is where they were"
    chat = "vim.api.nvim_win_get_buf(vim.tbl_filter(function(one) return one ~= vim.api.nvim_get_current_win() end, vim.api.nvim_list_wins())[1])"
    text = f"table.concat(vim.api.nvim_buf_get_lines({chat}, 0, -1, false), ' ')"
    editor.wait(f"{text}:find('Paragraph 99.', 1, true)", "the answer is whole")
    reported(editor, "Stet: Paragraph 0. The answer is in the chat.")
    assert editor.lines() == ["one", "two"], "the user is still there"


def test_a_refused_command_is_one_plain_sentence(neovim: Begin) -> None:
    editor = neovim({"a.txt": "one\n"}, [DONE])
    editor.keys("\\ks")
    reported(editor, "Stet: nothing to send: write below the last `## You`")
    assert "-328" not in editor.lua("return vim.fn.execute('messages')")


def test_what_a_question_would_send_is_shown_beside_the_text(neovim: Begin) -> None:
    editor = neovim({"a.txt": "one\n"}, [DONE])
    editor.keys("\\kv")
    editor.wait("vim.bo.buftype == 'nofile'", "it is shown")
    lines = editor.lines()
    assert lines[0].startswith("About ")
    assert any(line.startswith("# system (") for line in lines)
    assert any("a.txt" in line for line in lines)


def test_a_chat_that_stet_has_written_in_never_asks_to_be_saved(neovim: Begin) -> None:
    editor = neovim({"a.txt": "one\n"}, [DONE])
    editor.keys("\\kt")
    editor.wait("vim.bo.filetype == 'markdown'", "the chat is shown")
    editor.wait("#vim.lsp.get_clients({ bufnr = 0 }) == 1", "Stet serves it")
    editor.keys("GoHello<Esc>\\ks")
    editor.wait(
        "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find('%*completed')", "it ends"
    )
    editor.keys(":split<CR>:quit<CR>")
    editor.wait("not vim.bo.modified", "it is saved")
