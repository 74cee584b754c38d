"""Inline completions in real Neovim 0.12: grey text at the cursor, accepted by Tab."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors.conftest import NVIM
from tests.editors.neovim import Neovim, Start, start
from tests.parts import neovim as neovim_part
from tests.support.completion_server import ServerThread, infill
from tests.support.openai_server import OpenAIServer

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
AREA = "import math\n\n\ndef area(radius):\n    return\n"
HINTS = """vim.iter(vim.api.nvim_buf_get_extmarks(0,
  vim.api.nvim_create_namespace('nvim.lsp.inline_completion'), 0, -1, { details = true }))"""


Begin = Callable[..., Neovim]


@pytest.fixture
def begin(part: Part, tmp_path: Path) -> Iterator[Begin]:
    started: list[Neovim] = []
    program = part(neovim_part.ensure).write_script(tmp_path / "bin" / "nvim")

    def start_with(server: OpenAIServer, *, lua: str = "", enabled: bool = True) -> Neovim:
        given = {"completion": {"enabled": enabled, "baseUrl": server.base_url}}
        settings = f"vim.g.stet = {{ settings = vim.json.decode([[{json.dumps(given)}]]) }}\n"
        chosen = Start(program, tmp_path, {"a.py": AREA}, [], settings + lua, NVIM.parent)
        editor = start(chosen)
        started.append(editor)
        return editor.open("a.py")

    yield start_with
    for editor in started:
        editor.close()


def test_a_completion_is_shown_and_tab_accepts_it(begin: Begin, completions: ServerThread) -> None:
    editor = begin(completions.server)
    completions.add(infill(" math.pi * radius ** 2\n\n"))
    editor.keys("5GA")
    editor.wait_for_rows("    return math.pi * radius ** 2")
    assert editor.lines()[4] == "    return"  # it is only drawn
    editor.capture("completion")
    editor.keys("<Tab>")
    editor.wait_for_lines(AREA.replace("return", "return math.pi * radius ** 2").splitlines())
    assert editor.lua("return vim.api.nvim_win_get_cursor(0)") == [5, 32]


def test_tab_without_a_completion_is_a_tab(begin: Begin, completions: ServerThread) -> None:
    editor = begin(completions.server, lua="vim.o.expandtab, vim.o.shiftwidth = true, 2")
    completions.add(infill(""))
    editor.keys("1GI<Tab><Esc>")
    editor.wait("vim.fn.getline(1):match('^%s+import math$') ~= nil", "a tab is typed")


def test_lines_are_drawn_below_and_typing_on_asks_nothing(
    begin: Begin, completions: ServerThread
) -> None:
    editor = begin(completions.server)
    completions.add(infill("a = 1\n    b = 2\n\n"))
    editor.keys("4Go")  # Neovim indents the line
    editor.wait_for_rows("    a = 1", "    b = 2")
    editor.keys("a =")
    editor.wait(
        f"{HINTS}:any(function(m) return m[4].virt_text and m[4].virt_text[1][1] == ' 1' end)",
        "the rest",
    )
    editor.keys("<Tab>")
    editor.wait("vim.fn.getline(6) == '    b = 2'", "both lines are inserted")
    assert len(completions.server.requests) == 1


def test_completions_are_turned_on_and_off_while_neovim_runs(
    begin: Begin, completions: ServerThread
) -> None:
    editor = begin(completions.server, enabled=False)
    supported = (
        "vim.lsp.get_clients({ name = 'stet' })[1]:supports_method('textDocument/inlineCompletion')"
    )
    assert editor.lua(f"return {supported}") is False
    mapped = "vim.fn.maparg('<Tab>', 'i', false, true).buffer == 1"
    assert editor.lua(f"return {mapped}") is False
    change = """
      local stet = vim.lsp.get_clients({ name = 'stet' })[1]
      stet.settings.stet.completion.enabled = ...
      stet:notify('workspace/didChangeConfiguration', { settings = stet.settings })
    """
    editor.lua(change, True)
    editor.wait(supported, "completions are registered")
    completions.add(infill(" 1"))
    editor.keys("5GA")
    editor.wait_for_rows("    return 1")
    assert editor.lua(f"return {mapped}") is True
    editor.keys("<Esc>")
    asks = "vim.fn.exists('#nvim.lsp.inline_completion:' .. vim.api.nvim_get_current_buf()) == 1"
    assert editor.lua(f"return {asks}") is True
    editor.lua(change, False)
    editor.wait(f"not {supported}", "the registration is ended")
    assert editor.lua(f"return {asks}") is False
    assert editor.lua(f"return {mapped}") is False
    editor.lua(change, True)
    editor.wait(f"{supported} and {asks} and {mapped}", "completions are registered again")


def test_a_map_of_the_users_is_left_alone(begin: Begin, completions: ServerThread) -> None:
    lua = "vim.keymap.set('i', '<Tab>', 'mine', { desc = 'the user has it' })"
    editor = begin(completions.server, lua=lua)
    editor.wait("vim.fn.execute('messages'):find('<Tab> (complete)', 1, true)", "it is reported")
    assert editor.lua("return vim.fn.maparg('<Tab>', 'i', false, true).buffer") == 0
