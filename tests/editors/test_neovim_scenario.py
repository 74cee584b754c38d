"""The scenario of all editors in real Neovim, with the configured keys, started twice."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.editors import scenario as given
from tests.editors.neovim import Neovim, Start, start
from tests.editors.scenario import ADD, AMOUNT, COUNT, EMPTY, LABEL, NAMES, ROUNDED, SHOWN, Change
from tests.editors.shown import Shown

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
MENUS = """
vim.o.laststatus, vim.o.statusline = 2, ' %f  %{v:lua.stet_status()}'
vim.ui.select = function(items, options, choose)
  T.offered = { options.prompt, items }
  for _, item in ipairs(items) do
    local title = options.format_item and options.format_item(item) or item
    if title:find(T.wanted, 1, true) then return choose(item) end
  end
end
"""
LAST_ROW = "T.row(vim.o.lines)"
STATUS_ROW = "T.row(vim.o.lines - 1)"


@pytest.fixture
def shown() -> Shown:
    return Shown("neovim", "Neovim 0.11")


def test_the_scenario_ends_with_the_same_bytes_as_in_every_editor(
    nvim_binary: Path, tmp_path: Path, shown: Shown
) -> None:
    begin = Start(nvim_binary, tmp_path, given.FILES, json.loads(given.script()), MENUS)
    with running(begin) as editor:
        editor.open("cart.py")
        review_two_files(editor, shown)
        undo_in_the_editor(editor, shown)
        answer_a_question(editor, shown)
        carry_out_a_comment(editor, shown)
        editor.keys(f":edit stock.py<CR>\\ka{given.MORE}<CR>")
        wait_for(editor, ADD, COUNT)
        cancel_a_turn(editor, shown)
        save_all(editor)
    assert given.files_in(tmp_path / "work") == {**given.END, "stock.py": given.STOCK.encode()}
    with running(begin) as editor:
        editor.open("stock.py")
        wait_for(editor, ADD, COUNT)
        decide(editor, ADD, "\\ky")
        wait_for(editor, COUNT)
        save_all(editor)
        assert editor.states().count("pending") == 1
    assert given.files_in(tmp_path / "work") == given.END
    shown.check()


@contextmanager
def running(begin: Start) -> Iterator[Neovim]:
    editor = start(begin)
    try:
        yield editor
    finally:
        editor.close()


def wait_for(editor: Neovim, *changes: Change) -> None:
    """Wait until exactly these hunks are shown in the buffer, at their lines."""
    lines = editor.lines()
    editor.wait_for_hunks(*(lines.index(change.old.splitlines()[0]) for change in changes))


def decide(editor: Neovim, change: Change, keys: str) -> None:
    """Press keys on the line of a hunk; after an accept, wait for its new text."""
    text = "\n".join(editor.lines()) + "\n"
    editor.keys(f"{text[: text.index(change.old)].count(chr(10)) + 1}G{keys}")
    if keys == "\\ky":
        editor.wait_for_lines(change.within(text).splitlines())


def save_all(editor: Neovim) -> None:
    editor.keys(":wall<CR>")
    editor.wait("#vim.fn.getbufinfo({ bufmodified = 1 }) == 0", "all is saved")


def review_two_files(editor: Neovim, shown: Shown) -> None:
    editor.keys(f"\\ka{given.TIDY}<CR>")
    wait_for(editor, LABEL, AMOUNT)
    editor.wait(f"{STATUS_ROW}:find('4 hunks')", "the status line counts")
    shown.saw("status", "status line")
    editor.wait(f"{LAST_ROW}:find('{given.ENDS[0]}', 1, true)", "the end is told")
    shown.saw("notification", "message line")
    editor.keys("gg]v")
    editor.wait("vim.fn.line('.') == 5", "the cursor is at the first hunk")
    editor.wait_for_rows(f"+ {LABEL.new.rstrip()}")
    editor.capture("hunk")
    assert editor.lines() == given.CART.splitlines()
    shown.saw("diagnostics", "signs, in the text")
    decide(editor, LABEL, "\\ky")
    shown.saw("accept", "`<leader>ky`")
    editor.keys("ggOimport math<Esc>")
    wait_for(editor, AMOUNT)
    decide(editor, AMOUNT, "\\ky")
    wait_for(editor)
    editor.keys("]v")
    editor.wait("vim.api.nvim_buf_get_name(0):match('stock.py$')", "the next is in another file")
    shown.saw("next", "`]v`")
    wait_for(editor, EMPTY, NAMES)
    decide(editor, EMPTY, "\\kn<CR>")
    wait_for(editor, NAMES)
    assert editor.lines() == given.STOCK.splitlines()


def undo_in_the_editor(editor: Neovim, shown: Shown) -> None:
    decide(editor, NAMES, "\\ky")
    editor.wait_for_states("accepted", "accepted", "rejected", "accepted")
    editor.keys("u")
    editor.wait_for_lines(given.STOCK.splitlines())
    editor.wait_for_states("accepted", "accepted", "rejected", "pending")
    shown.saw("undo", "`u`")
    wait_for(editor, NAMES)
    decide(editor, NAMES, "\\kn<CR>")
    editor.wait_for_states("accepted", "accepted", "rejected", "rejected")


def answer_a_question(editor: Neovim, shown: Shown) -> None:
    editor.keys(f":edit cart.py<CR>\\ka{given.SIGN}<CR>")
    editor.wait("vim.fn.execute('messages'):find('(answer: ', 1, true)", "it is asked")
    assert any(given.QUESTION in row for row in editor.screen())
    editor.capture("question")
    editor.lua("T.wanted = ...", given.ANSWER)
    editor.keys("\\kq")
    wait_for(editor, SHOWN)
    assert editor.lua("return T.offered") == [
        given.QUESTION,
        [*given.CHOICES, "In your own words"],
    ]
    shown.saw("question", "popup; answered in a list")
    decide(editor, SHOWN, "\\ky")


def cancel_a_turn(editor: Neovim, shown: Shown) -> None:
    while "sent" in (before := editor.states()):
        pass
    editor.keys(f"\\ka{given.LONG}<CR>")
    editor.wait(f"{LAST_ROW}:find('{given.LONG}', 1, true)", "the turn is shown")
    shown.saw("progress", "message line")
    editor.keys("\\kx")
    editor.wait("#(T.poll('stet.status') or { turns = { 1 } }).turns == 0", "no turn is running")
    shown.saw("cancel", "`<leader>kx`")
    assert editor.states() == before


def carry_out_a_comment(editor: Neovim, shown: Shown) -> None:
    editor.keys(f"GA{given.COMMENT}<Esc>")
    editor.lua("T.wanted = ...", given.COMMENT_ACTION)
    editor.keys("gra")
    wait_for(editor, ROUNDED)
    shown.saw("menu", "list")
    decide(editor, ROUNDED, "\\ky")
