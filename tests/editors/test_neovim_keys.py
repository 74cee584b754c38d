"""Stet's keys in real Neovim: they take none away from the user or from a distribution."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.editors.neovim import Neovim
from tests.editors.scripts import GREET, greet_script
from tests.editors.test_neovim_lists import keys_in_code, reported

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
Begin = Callable[..., Neovim]
FIXTURES = Path(__file__).parent / "fixtures" / "keymaps"
DISTRIBUTIONS = sorted(path.stem for path in FIXTURES.glob("*.txt"))
OWN_MAPS = """
local maps = {}
for _, mode in ipairs({ 'n', 'x', 'o', 'i', 's', 'c', 't' }) do
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(0, mode)) do
    if vim.startswith(map.desc or '', 'Stet: ') then table.insert(maps, { mode, map.lhsraw }) end
  end
end
return maps
"""
SET_ALL = """
vim.g.mapleader, vim.g.maplocalleader, vim.o.timeoutlen = ' ', ',', 20
_G.pressed = {}
for _, map in ipairs(vim.json.decode(...)) do
  local raw = vim.api.nvim_replace_termcodes(map[2], true, true, true)
  vim.keymap.set(map[1], map[2], function() table.insert(_G.pressed, raw) end, { desc = map[2] })
end
"""
RECORD = """
vim.g.mapleader, T.maps = ' ', {}
local set, api_set, buf_set = vim.keymap.set, vim.api.nvim_set_keymap, vim.api.nvim_buf_set_keymap
local function note(level, modes, key, options, buffer)
  if not debug.getinfo(level, 'S').source:find('client-configs/neovim', 1, true) then return end
  for _, mode in ipairs(type(modes) == 'table' and modes or { modes }) do
    table.insert(T.maps, {
      mode = mode, raw = vim.api.nvim_replace_termcodes(key, true, true, true),
      desc = (options or {}).desc or '', buffer = buffer,
    })
  end
end
function vim.keymap.set(modes, key, act, options)
  note(3, modes, key, options, (options or {}).buffer)
  return set(modes, key, act, options)
end
function vim.api.nvim_set_keymap(mode, key, act, options)
  note(3, mode, key, options)
  return api_set(mode, key, act, options)
end
function vim.api.nvim_buf_set_keymap(buffer, mode, key, act, options)
  note(3, mode, key, options, buffer)
  return buf_set(buffer, mode, key, act, options)
end
"""
"""Lua that notes each map which is set by a file of the plugin, in any mode and buffer."""
GLOBAL_MAPS = "return vim.tbl_map(function(m) return m.lhsraw end, vim.api.nvim_get_keymap(...))"
RAW = "return vim.tbl_map(function(k) return vim.api.nvim_replace_termcodes(k, true, true, true) end, ...)"


def rows(name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the modes (or `group`) of each line of a fixture, with its whole keys."""
    for line in (FIXTURES / f"{name}.txt").read_text().splitlines():
        if not line.startswith("#"):
            modes, prefix, *keys = line.split(" ")
            yield modes, [f"{'' if prefix == '-' else prefix}{key}" for key in keys]


def maps_of(name: str) -> list[tuple[str, str]]:
    """Return the mode and the key of each map of a distribution."""
    found = {(m, k) for modes, keys in rows(name) if modes != "group" for m in modes for k in keys}
    return sorted(found)


def groups_of(name: str) -> list[str]:
    """Return the prefixes that a distribution gives a name."""
    return [key for modes, keys in rows(name) if modes == "group" for key in keys]


def test_fixtures_name_their_sources_and_hold_the_maps() -> None:
    assert DISTRIBUTIONS == ["astronvim", "doom", "lazyvim"]
    for name in DISTRIBUTIONS:
        head = (FIXTURES / f"{name}.txt").read_text()
        assert re.search(
            r"# Source: \S+/\S+, \S+(?:,| ).*?commit\s+(?:# )?[0-9a-f]{40}", head, re.DOTALL
        )
        assert len(maps_of(name)) > 150
    assert ("n", "]h") in maps_of("lazyvim")
    assert "<leader>s" in groups_of("lazyvim")


def clashes(editor: Neovim, owned: list[list[str]], name: str) -> list[tuple[str, str]]:
    """Return the keys that take away or delay a map of a distribution, each with that map."""
    maps = maps_of(name)
    raw = editor.lua(RAW, [key for _, key in maps])
    others = [(mode, key) for (mode, _), key in zip(maps, raw, strict=True)]
    others += [("n", key) for key in editor.lua(RAW, groups_of(name)) if key not in ("[", "]")]
    visual = {"v": ("x", "s")}
    return [
        (key, other)
        for mode, key in owned
        for other_mode, other in others
        if mode in visual.get(other_mode, (other_mode,))
        if key.startswith(other) or other.startswith(key)
    ]


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_no_key_is_a_map_of_a_distribution(neovim: Begin, name: str) -> None:
    editor = neovim({"a.py": "a = 1\n"}, [], lua="vim.g.mapleader = ' '")
    owned = editor.lua(OWN_MAPS)
    assert len({key for _, key in owned}) == len(keys_in_code()) > 20
    assert clashes(editor, owned, name) == []


def test_every_map_that_is_set_is_a_described_key_of_one_buffer_that_was_free(
    neovim: Begin,
) -> None:
    editor = neovim({"a.py": GREET}, greet_script(), lua=RECORD)
    editor.keys(" kause f-strings<CR>")
    editor.wait_for_hunks(4, 10)
    buffers = {editor.lua("return vim.api.nvim_get_current_buf()")}
    for key, filetype in ((" kd", "diff"), (" kt", "markdown")):
        editor.keys(key)
        editor.wait(f"vim.bo.filetype == '{filetype}'", f"{filetype} is shown")
        editor.wait("#vim.lsp.get_clients({ bufnr = 0 }) == 1", "Stet serves it")
        buffers.add(editor.lua("return vim.api.nvim_get_current_buf()"))
    recorded = editor.lua("return T.maps")
    assert {one["buffer"] for one in recorded} == buffers
    assert len(buffers) == 3
    assert all(one["desc"].startswith("Stet: ") for one in recorded)
    listed = {(one["mode"], one["raw"]) for one in recorded}
    assert {mode for mode, _ in listed} == {"n", "x"}
    assert {key for _, key in listed} == set(editor.lua(RAW, [*keys_in_code().values()]))
    assert {(mode, key) for mode, key in editor.lua(OWN_MAPS)} == listed
    assert not editor.lua("return require('stet.keys').taken()")
    for name in DISTRIBUTIONS:
        assert clashes(editor, [list(one) for one in listed], name) == []


def test_which_key_shows_the_name_of_the_prefix(neovim: Begin) -> None:
    lua = """
    T.named = {}
    package.loaded['which-key'] = { add = function(names) vim.list_extend(T.named, names) end }
    """
    editor = neovim({"a.py": "a = 1\n"}, [], lua=lua)
    buffer = editor.lua("return vim.api.nvim_get_current_buf()")
    named = editor.lua(
        "return vim.tbl_map(function(n) return { n[1], n.group, n.mode, n.buffer } end, T.named)"
    )
    assert named == [["<leader>k", "Stet", ["n", "x"], buffer]]


def test_no_key_is_a_default_map_of_neovim(neovim: Begin) -> None:
    editor = neovim({"a.py": "a = 1\n"}, [])
    owned = editor.lua(OWN_MAPS)
    for mode in ("n", "x"):
        taken = set(editor.lua(GLOBAL_MAPS, mode))
        assert taken
        for key in (key for own_mode, key in owned if own_mode == mode):
            assert not [other for other in taken if key.startswith(other) or other.startswith(key)]


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_all_maps_of_a_distribution_work_in_a_served_buffer(neovim: Begin, name: str) -> None:
    maps = [one for one in maps_of(name) if one[0] in "nxov"]
    given = json.dumps(json.dumps(maps))
    lua = f"(function(...) {SET_ALL} end)({given})"
    editor = neovim({"a.txt": "a\n"}, [], lua=lua)  # a language has maps of its own, such as `[[`
    assert len({key for _, key in editor.lua(OWN_MAPS)}) == len(keys_in_code())
    normal = [key for mode, key in maps if mode == "n"]
    for n, key in enumerate(normal, 1):
        editor.keys(typed(key))
        editor.wait(f"#_G.pressed == {n}", f"{key} works")
    assert editor.lua("return _G.pressed") == editor.lua(RAW, normal)


def typed(key: str) -> str:
    """Return a key in the notation of `Neovim.keys`."""
    key = key.replace("<leader>", " ").replace("<localleader>", ",")
    return re.sub(r"<(?!(?:[CASM]-[^>]+|\w+)>)", "<lt>", key, flags=re.IGNORECASE)


def test_key_that_the_user_has_mapped_is_left_alone_and_reported_once(neovim: Begin) -> None:
    lua = """
    vim.keymap.set('n', '<leader>kx', function() T.mine = true end, { desc = 'mine' })
    vim.api.nvim_create_autocmd('BufReadPost', { callback = function(event)
      vim.keymap.set('n', ']v', function() T.local_too = true end, { buffer = event.buf })
    end })
    """
    editor = neovim({"a.py": "a = 1\n", "b.py": "b = 1\n"}, [], lua=lua)
    words = (
        "Stet: these keys are yours already, so Stet has not mapped them: <leader>kx (cancel), ]v"
    )
    reported(editor, words)
    editor.keys("\\kx]v")
    editor.wait("T.mine and T.local_too", "both maps work")
    editor.open("b.py")
    assert editor.lua("return vim.fn.execute('messages')").count("are yours already") == 1
    editor.keys(":checkhealth stet<CR>")
    editor.wait("vim.bo.filetype == 'checkhealth'", "the report is shown")
    report = "\n".join(editor.lines())
    assert "<leader>kx was yours already (mine), so `cancel` has no key" in report
    assert "vim.g.stet is valid" in report
    assert "serves 2 buffers" in report


def test_prefix_that_the_user_has_mapped_is_left_alone(neovim: Begin) -> None:
    lua = "vim.o.timeoutlen = 60000 vim.keymap.set('n', '<leader>k', function() T.mine = true end)"
    editor = neovim({"a.py": "a = 1\n"}, [], lua=lua)
    editor.keys("\\k")
    editor.wait("T.mine", "it is at once")
    assert [key for mode, key in editor.lua(OWN_MAPS) if mode == "n"] == ["[v", "]v"]


def test_keys_that_lazy_nvim_loads_late_are_left_alone(neovim: Begin) -> None:
    editor = neovim({"a.py": "a = 1\n"}, [])
    editor.lua("vim.keymap.set('n', '<leader>kx', function() T.mine = true end)")
    editor.lua("vim.api.nvim_exec_autocmds('User', { pattern = 'VeryLazy' })")
    reported(editor, "are yours already, so Stet has not mapped them: <leader>kx (cancel)")
    editor.keys("\\kx")
    editor.wait("T.mine", "the map works")


def test_keys_are_configured_in_the_users_init(neovim: Begin) -> None:
    lua = "vim.g.stet = { prefix = 'gh', keys = { next = 'gz', cancel = false } }"
    editor = neovim({"a.py": "a = 1\n"}, [], lua=lua)
    keys = {key for mode, key in editor.lua(OWN_MAPS) if mode == "n"}
    assert {"gha", "ghy", "gz", "[v"} < keys
    assert not {"ghx", "]v", "\\ka"} & keys


def test_classic_keys_are_those_of_the_single_file(neovim: Begin) -> None:
    editor = neovim({"a.py": "a = 1\n"}, [], lua="vim.g.stet = { keys = 'classic' }")
    old = (Path(__file__).parents[1] / "e2e/fixtures/stet-single-file.lua").read_text()
    lines = re.findall(r"^  \{ .*?'(<leader>.|[][]h)', '", old, re.MULTILINE)
    assert len(lines) > 20
    expected = {line.replace("<leader>", "\\") for line in lines} | {
        "\\h",
        "\\o",
        "\\g",
        "\\A",
    }  # for `toggle`, `chats`, `send_selection` and `agent`, which are new
    assert {key for _, key in editor.lua(OWN_MAPS)} == expected


def test_mistake_in_the_configuration_is_reported_once(neovim: Begin) -> None:
    lua = "vim.g.stet = { prefx = 'gh', settings = 1, keys = 'old' }"
    editor = neovim({"a.py": "a = 1\n"}, [], lua=lua)
    reported(
        editor,
        "Stet: vim.g.stet has no option `prefx`; vim.g.stet.settings is not a table; "
        "vim.g.stet.keys is a table, or 'classic'",
    )


def test_settings_reach_the_server(neovim: Begin) -> None:
    lua = "vim.g.stet = { settings = { edit = { reviewStyle = 'inline' } } }"
    editor = neovim({"a.py": "a = 1\n"}, [], lua=lua)
    settings = editor.lua("return vim.lsp.get_clients({ name = 'stet' })[1].settings")
    assert settings == {"stet": {"edit": {"reviewStyle": "inline"}}}


def test_command_completes_every_action(neovim: Begin) -> None:
    editor = neovim({"a.py": "a = 1\n"}, [])
    complete = "return vim.fn.getcompletion(..., 'cmdline')"
    assert sorted(editor.lua(complete, "Stet ")) == sorted(keys_in_code())
    assert editor.lua(complete, "Stet acc") == ["accept", "accept_all"]
    assert editor.lua(complete, "Stet ask acc") == []


def test_command_takes_a_range_and_a_prompt(neovim: Begin) -> None:
    rewritten = {"text": "```\nb = 20\n```"}
    editor = neovim({"a.py": "a = 1\nb = 2\nc = 3\n"}, [rewritten])
    editor.keys(":2Stet rewrite make it twenty<CR>")
    editor.wait_for_hunks(1)
    assert [hunk["new"] for hunk in editor.command("stet.proposals")] == ["b = 20\n"]
    editor.keys(":2<CR>:Stet accept<CR>")
    editor.wait_for_lines(["a = 1", "b = 20", "c = 3"])
    editor.keys(":Stet nothing<CR>")
    reported(editor, "Stet: no action `nothing`")


def test_help_is_found(neovim: Begin) -> None:
    editor = neovim({"a.py": "a = 1\n"}, [])
    editor.lua(
        "vim.cmd.helptags(vim.api.nvim_get_runtime_file('doc/stet.txt', false)[1]:match('(.*)/'))"
    )
    editor.keys(":help stet-keys<CR>")
    editor.wait("vim.bo.filetype == 'help' and vim.fn.expand('%:t') == 'stet.txt'", "it is shown")
