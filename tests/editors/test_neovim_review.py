"""The main job in real Neovim: ask, review, accept one, reject one, undo."""

from collections.abc import Callable

import pytest

from tests.editors.neovim import Neovim
from tests.editors.scripts import GREET, GREET_FILE, edit, greet_script, script

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]


def test_a_function_is_selected_asked_about_and_reviewed_by_keys(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("4GVGk\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    assert editor.lines() == GREET_FILE.before
    assert editor.on_disk("a.py") == GREET

    editor.keys("5G\\ky")
    editor.wait_for_lines(GREET_FILE.first)
    editor.wait_for_states("accepted", "pending")
    editor.keys("11G\\knkeep it plain<CR>")
    editor.wait_for_states("accepted", "rejected")
    assert editor.command("stet.proposals")[1]["reason"] == "keep it plain"
    assert editor.lines() == GREET_FILE.first
    assert editor.on_disk("a.py") == GREET
    editor.wait_for_hunks()

    editor.keys("u")
    editor.wait_for_lines(GREET_FILE.before)


def test_replaced_hunk_is_restored_by_its_key(neovim: Begin) -> None:
    old, first, second = (f"    message = {text}\n" for text in ('"Hello " + name', "1", "2"))
    calls = [script(edit("a.py", old, new, f"Write {new.strip()[-1]}")) for new in (first, second)]
    editor = neovim({"a.py": GREET}, [one for turn in calls for one in turn])
    editor.keys("\\kafirst<CR>")
    editor.wait_for_states("pending")
    editor.wait("#(T.poll('stet.status') or { turns = { 1 } }).turns == 0", "the turn is over")
    editor.keys("\\kasecond<CR>")
    editor.wait(
        "vim.fn.execute('messages'):find('restore it with \\\\kb', 1, true)", "its key is named"
    )
    states = {hunk["hunk"]: hunk["state"] for hunk in editor.command("stet.proposals")}
    assert states == {"h1": "superseded", "h2": "pending"}
    editor.keys("5G\\kb")
    editor.wait(
        "vim.iter(T.poll('stet.proposals') or {}):any(function(hunk) "
        "return hunk.hunk == 'h1' and hunk.state == 'pending' end)",
        "the first hunk is pending again",
    )
    states = {hunk["hunk"]: hunk["state"] for hunk in editor.command("stet.proposals")}
    assert states == {"h1": "pending", "h2": "superseded"}
    editor.wait_for_rows("+     message = 1")
    editor.keys("5G\\ky")
    editor.wait_for_lines(GREET.replace(old, first).splitlines())


def test_a_hunk_is_accepted_from_the_menu_of_code_actions(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.keys("11G")
    editor.lua(
        """
        local function wanted(action) return action.title:match('^Stet: Accept hunk 2/2') end
        vim.lsp.buf.code_action({ filter = wanted, apply = true })
        """
    )
    editor.wait_for_lines(GREET_FILE.second)
    editor.wait_for_states("pending", "accepted")


def test_next_and_previous_go_round_and_all_hunks_are_shown_in_the_text(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("gg\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    for key, line in (("]v", 5), ("]v", 11), ("]v", 5), ("[v", 11), ("[v", 5)):
        editor.keys(key)
        editor.wait(f"vim.fn.line('.') == {line}", f"{key} goes to line {line}")
    editor.wait_for_rows(
        '-     message = "Hello " + name',
        '+     message = f"Hello {name}"',
        '-     message = "Bye " + name',
        '+     message = f"Bye {name}"',
    )


def test_other_diagnostics_are_shown_as_the_user_has_them(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    assert not editor.lua("return vim.diagnostic.config().virtual_lines")
    assert editor.lua("return vim.diagnostic.config().underline")


def test_a_selection_is_rewritten(neovim: Begin) -> None:
    reply = {"text": 'Here:\n```python\n    message = f"Hello {name}"\n```\n'}
    editor = neovim({"a.py": GREET}, [reply])
    editor.keys("5GV\\kruse an f-string<CR>")
    editor.wait_for_hunks(4)
    assert editor.lua("return vim.fn.mode()") == "n"
    assert editor.lines() == GREET_FILE.before
    editor.keys("\\ky")
    editor.wait_for_lines(GREET_FILE.first)


def test_a_question_without_a_selection_asks_at_the_cursor(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("7G\\kawhat now<CR>")
    editor.wait_for_hunks(4, 10)
    turn = editor.command("stet.turn", turn=editor.command("stet.proposals")[0]["turn"])
    assert (turn["mode"], turn["prompt"], turn["state"]) == ("agent", "what now", "completed")


def test_a_turn_is_cancelled_by_a_key(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script(held=True))
    editor.keys("\\kause f-strings<CR>")
    editor.wait("#(T.poll('stet.status') or { turns = {} }).turns == 1", "a turn runs")
    editor.keys("\\kx")
    editor.wait("#(T.poll('stet.status') or { turns = { 1 } }).turns == 0", "no turn is running")
    editor.release()
    assert editor.hunks() == []
    assert editor.lines() == GREET_FILE.before


def test_an_abandoned_prompt_asks_nothing_and_an_abandoned_reason_rejects_nothing(
    neovim: Begin,
) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\kanever mind<Esc>")
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.keys("5G\\knnever mind<Esc>")
    editor.keys("11G\\kn<CR>")
    editor.wait_for_states("pending", "rejected")
    assert not editor.command("stet.proposals")[1].get("reason")


def test_the_server_knows_cursor_selection_and_unsaved_text(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET, "b.py": "b = 1\n"}, [])
    editor.keys("Gounsaved = True<Esc>")
    editor.wait_for_context("Path: a.py\nLine: 14\n")
    editor.wait_for_context("unsaved = True")
    editor.keys("4GVjj")
    editor.wait_for_context('<manually_added_selection path="a.py" lines="4-6">')
    editor.wait_for_context('def greet(name):\n    message = "Hello " + name\n    print(message)')
    editor.keys("<Esc>")
    editor.open("b.py")
    editor.wait_for_context("Path: b.py\nLine: 1\n")


def test_a_server_that_dies_comes_back_with_its_hunks_and_costs_no_key(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    editor.kill_server()
    editor.wait("#vim.lsp.get_clients({ name = 'stet' }) == 0", "Neovim noticed")
    editor.keys("ggOstill here<Esc>")
    editor.wait_for_hunks(5, 11)
    assert editor.lines() == ["still here", *GREET_FILE.before]
    assert editor.on_disk("a.py") == GREET
    editor.keys("6G\\ky")
    editor.wait_for_lines(["still here", *GREET_FILE.first])
    editor.wait_for_states("accepted", "pending")


def test_a_server_that_dies_all_the_time_stays_dead_until_a_key_starts_it(neovim: Begin) -> None:
    editor = neovim({"a.py": GREET}, greet_script())
    for _ in range(3):
        editor.kill_server()
        editor.wait("#vim.lsp.get_clients({ name = 'stet' }) == 0", "Neovim noticed")
        editor.wait("(T.client() or {}).initialized", "it is started again")
    editor.kill_server()
    editor.wait("#vim.lsp.get_clients({ name = 'stet' }) == 0", "Neovim noticed")
    editor.keys("ggOstill here<Esc>\\ky")
    editor.wait_for_lines(["still here", *GREET_FILE.before])
    editor.wait("(T.client() or {}).initialized", "the key has started it")
    editor.wait("(T.poll('stet.status') or {}).ready", "Stet is ready")
    editor.keys("\\kause f-strings<CR>")
    editor.wait_for_hunks(5, 11)
    editor.keys("6G\\ky")
    editor.wait_for_lines(["still here", *GREET_FILE.first])
    editor.wait_for_states("accepted", "pending")
