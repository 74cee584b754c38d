"""Unusual files in real Neovim: line ends, tabs, wide characters, encodings, new files."""

from collections.abc import Callable

import pytest

from tests.editors.neovim import Neovim
from tests.editors.scripts import edit, script

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
Begin = Callable[..., Neovim]


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("one\r\ntwo\r\nthree\r\n", "two\n", "zwei\n", "one\r\nzwei\r\nthree\r\n"),
        ("one\ntwo", "two", "zwei", "one\nzwei"),
        ("one\ntwo", "one\n", "eins\n", "eins\ntwo"),
        ("a:\n\tb\n\t\tc\n", "\t\tc\n", "\t\td\n\t\te\n", "a:\n\tb\n\t\td\n\t\te\n"),
        ("a\n", "a\n", "a\n\n\nb\n", "a\n\n\nb\n"),
        ("a\r\n", "a\n", "b\nc\n", "b\r\nc\r\n"),
        ("a\nb\nc\n", "b\nc\n", "", "a\n"),
        ("a\x0cb\u2028c\nd\n", "d\n", "e\n", "a\x0cb\u2028c\ne\n"),
    ],
    ids=[
        "crlf",
        "at-the-end-without-newline",
        "no-final-newline",
        "tabs",
        "grows",
        "grows-crlf",
        "loses-its-end",
        "odd-breaks",
    ],
)
def test_accepting_and_writing_leaves_exactly_this_on_the_disk(
    neovim: Begin, before: str, old: str, new: str, after: str
) -> None:
    editor = neovim({"f.txt": before}, script(edit("f.txt", old, new)), lua="vim.o.fixeol = false")
    editor.keys("\\kaplease<CR>")
    editor.wait("#T.hunks() == 1", "one hunk")
    assert editor.on_disk("f.txt") == before
    assert not editor.lua("return vim.bo.modified")
    editor.keys("\\kY")
    editor.wait_for_states("accepted")
    assert editor.on_disk("f.txt") == before
    editor.keys(":write<CR>")
    editor.wait("not vim.bo.modified", "the file is written")
    assert editor.on_disk("f.txt") == after


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_wide_characters_in_the_hunk_and_the_selection(neovim: Begin, encoding: str) -> None:
    text = "# 漢字 😀 é\nx = '😀漢' + 'a'\ny = 1\n"
    lua = f"""
    vim.api.nvim_create_autocmd('VimEnter', {{ callback = function()
      local general = {{ general = {{ positionEncodings = {{ '{encoding}' }} }} }}
      vim.lsp.config('stet', {{ capabilities = general }})
    end }})
    """
    calls = [edit("a.py", "x = '😀漢' + 'a'\n", "x = '😀漢a'  # 😀\n")]
    editor = neovim({"a.py": text}, script(*calls), lua=lua)
    assert editor.lua("return T.client().offset_encoding") == encoding
    editor.keys("2G0f漢vf'\\kajoin<CR>")
    editor.wait_for_hunks(1)
    editor.keys("\\ky")
    editor.wait_for_lines(["# 漢字 😀 é", "x = '😀漢a'  # 😀", "y = 1"])
    editor.keys("2G0f漢vE")
    editor.wait_for_context("漢a'")


def test_a_new_file_is_proposed_and_made_when_accepted(neovim: Begin) -> None:
    call = {"name": "create_file", "arguments": {"file": "lib/new.py", "content": "x = 1\ny = 2\n"}}
    editor = neovim({"a.py": "import new\n"}, script(call))
    editor.keys("\\kamake it<CR>")
    editor.wait_for_states("pending")
    assert not (editor.root / "lib").exists()
    editor.keys("]v")
    editor.wait("vim.api.nvim_buf_get_name(0):match('lib/new.py$')", "the file to be is shown")
    editor.wait_for_hunks(0)
    assert editor.lines() == [""]
    editor.keys("\\ky")
    editor.wait_for_states("accepted")
    editor.wait_for_lines(["x = 1", "y = 2"])
    editor.keys(":write ++p<CR>")
    editor.wait("not vim.bo.modified", "the file is written")
    assert editor.on_disk("lib/new.py") == "x = 1\ny = 2\n"
