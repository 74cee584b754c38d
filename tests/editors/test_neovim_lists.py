"""The status line item, the list of pending hunks, and the attachments, in real Neovim."""

import re
from collections.abc import Callable

import pytest

from tests.editors.neovim import PLUGIN, Neovim
from tests.editors.scripts import GREET, edit, greet_script, script

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]
STATUS = "_G.stet_status()"
LIST = "vim.fn.getqflist({ items = 0, title = 0 })"


def reported(editor: Neovim, text: str) -> None:
    """Wait until `:messages` has this text."""
    editor.wait(f"vim.fn.execute('messages'):find([[{text}]], 1, true)", f"{text!r} is told")


def status(editor: Neovim, text: str) -> None:
    """Wait until the status line item has this text."""
    editor.wait(f"{STATUS} == '{text}'", f"{text!r} in the status line")


def listed(editor: Neovim) -> list[tuple[int, str]]:
    """Return the quickfix list: 1-based line and text."""
    return [(item["lnum"], item["text"]) for item in editor.lua(f"return {LIST}.items")]


def test_status_line_shows_running_turns_and_pending_hunks(neovim: Begin) -> None:
    read = {"tool_calls": [{"name": "read_file", "arguments": {"file": "b.py"}}]}
    editor = neovim({"a.py": GREET, "b.py": "b = 1\n"}, [read, *greet_script(held=True)])
    status(editor, "Stet")
    editor.keys("\\kause f-strings<CR>")
    editor.wait(f"{STATUS}:match('^Stet: script.json: round 2 of 10')", "it runs")
    editor.release()
    status(editor, "Stet: 2 hunks")
    editor.keys("5GA  # mine<Esc>ciwmine<Esc>")
    status(editor, "Stet: 1 conflict, 1 hunk")
    editor.keys("u11G\\ky")
    editor.wait(f"not {STATUS}:find('2')", "one is accepted")
    editor.kill_server()
    status(editor, "")


def test_status_line_shows_a_question(neovim: Begin) -> None:
    question = {"question": "Which one?", "choices": ["This", "That"]}
    editor = neovim(
        {"a.py": GREET}, [{"tool_calls": [{"name": "ask_user", "arguments": question}]}]
    )
    editor.keys("\\kawhich<CR>")
    status(editor, "Stet: waiting for your answer · which, 1 question")
    editor.keys("\\kx")
    status(editor, "Stet")


def test_the_list_of_what_waits_leads_there_and_follows(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET, "b.py": "b = 1\n"}, greet_script())
    editor.keys("\\kl")
    reported(editor, "Stet: nothing found")
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.keys("\\kl")
    editor.wait("vim.bo.buftype == 'quickfix'", "the list is open")
    assert listed(editor) == [(5, "Use an f-string"), (11, "Use an f-string")]
    editor.keys("j<CR>")
    editor.wait("vim.bo.buftype == '' and vim.fn.line('.') == 11", "the cursor is at the hunk")
    editor.keys("\\ky")
    editor.wait(f"#{LIST}.items == 1", "what is accepted is listed no more")
    editor.keys("ggO# typed<Esc>")
    editor.wait(f"{LIST}.items[1].lnum == 6", "the list follows the text")
    editor.keys("\\kN")
    editor.wait(f"#{LIST}.items == 0", "nothing waits")
    editor.wait_for_states("rejected", "accepted")


def test_another_list_is_left_alone(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.lua("vim.fn.setqflist({ { filename = 'a.py', lnum = 3, text = 'mine' } })")
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    assert listed(editor) == [(3, "mine")]


def test_a_file_is_attached_and_taken_off(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, [])
    editor.keys("\\k+")
    reported(editor, "Stet: attached: a.py")
    editor.keys("\\k-")
    reported(editor, "Stet: attached: no file")
    assert editor.command("stet.context")["files"] == []


def test_a_question_without_edits_and_a_comment_have_their_keys(neovim: Begin) -> None:
    doubled = script(edit("a.py", "x = 1  # double it AI!", "x = 2", "Double x"))
    editor = neovim({"a.py": "x = 1  # double it AI!\n"}, [{"text": "It is one."}, *doubled])
    editor.keys("\\kewhat is x<CR>")
    reported(editor, "It is one.")
    assert editor.command("stet.turn", turn="t1")["mode"] == "ask"
    editor.keys("\\ki")
    editor.wait_for_hunks(0)
    assert [hunk["new"] for hunk in editor.command("stet.proposals")][-1] == "x = 2\n"


def test_a_missing_program_is_reported_once_and_with_what_to_do(neovim: Begin) -> None:
    lua = """
    vim.api.nvim_create_autocmd('VimEnter', { callback = function()
      vim.lsp.config('stet', { cmd = { 'no-such-stet', 'serve' } })
    end })
    """
    editor = neovim({"a.py": GREET, "b.py": "b = 1\n"}, [], lua=lua, attached=False)
    editor.keys(":edit b.py<CR>")
    reported(editor, "Stet: there is no program `no-such-stet`. Install Stet")
    assert editor.lua("return vim.fn.execute('messages')").count("no-such-stet") == 1


def test_the_key_for_rejecting_asks_why_only_where_there_is_a_hunk(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.keys("1G\\kn")
    reported(editor, "Stet: no hunk on this line")
    assert editor.lua("return vim.fn.mode()") == "n"
    assert editor.states() == ["pending", "pending"]


def test_a_question_that_is_being_answered_covers_the_text_no_more(neovim: Begin) -> None:
    question = {"question": "Which one?", "choices": ["This", "That"]}
    script = [{"tool_calls": [{"name": "ask_user", "arguments": question}]}]
    choose = "vim.ui.select = function(items) T.offered = items end"
    editor = neovim({"a.py": GREET}, script, lua=choose)
    editor.keys("\\kawhich<CR>")
    editor.wait("#vim.api.nvim_list_wins() == 2", "it is shown")
    editor.keys("\\kq")
    editor.wait("T.offered", "it may be chosen")
    assert editor.lua("return #vim.api.nvim_list_wins()") == 1


def keys_in_code() -> dict[str, str]:
    """Return the default key of each action."""
    text = (PLUGIN / "lua/stet/keys.lua").read_text()
    prefix = re.search(r"M\.prefix, .* = '([^']*)'", text)
    assert prefix
    rows = re.findall(r"\{ name = '(\w+)'.*?(key|lhs) = '([^']+)'", text)
    return {name: key if kind == "lhs" else prefix[1] + key for name, kind, key in rows}


def test_the_readme_lists_every_key_and_no_other() -> None:
    keys = sorted(keys_in_code().values())
    page = (PLUGIN / "README.md").read_text()
    table = page[page.index("| key | does |") : page.index("A hunk is drawn where it is")]
    first_cells = "".join(row.split("|")[1] for row in table.splitlines() if "|" in row)
    named = re.findall(r"<leader>k\S|[][]v", first_cells)
    also = re.findall(r"\(`(<leader>k.)`: ", table)
    assert len(keys) > 20
    assert keys == sorted(named + also)


def test_the_help_lists_every_key_with_its_action() -> None:
    page = (PLUGIN / "doc/stet.txt").read_text()
    rows = re.findall(r"^\| `(\S+)` +\| (\w+) ", page, re.MULTILINE)
    assert {action: key for key, action in rows} == keys_in_code()
