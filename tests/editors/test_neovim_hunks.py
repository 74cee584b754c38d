"""Hunks drawn in real Neovim, in a real terminal, compared with screens written by hand."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.ansi import AnsiDecoder
from rich.style import Style

from tests.editors.neovim_screen import COLOURS, NeovimScreen
from tests.editors.painted import backgrounds
from tests.editors.scripts import edit, script
from tests.support.proposals import PROPOSING_SERVER

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]
Begin = Callable[..., NeovimScreen]
CAT, DOG = "The cat sat on the mat.\n", "The dog sat on the mat.\n"
PET = f"alpha\n{CAT}omega\n"
RENAME = edit("a.txt", CAT, DOG, "Name the dog")
COLOURED = re.compile(r"\x1b\[(?:\d+;)*[34][0-8][;m]")
"""A sequence that sets a colour other than the default."""
WITHDRAWN = """
local messages, hunks = require('stet.messages'), require('stet.hunks')
hunks.are_in_view = function() return false end
local function count(decide)
  messages.show_message(nil, { type = 3, message = ('long '):rep(40) })
  decide()
  vim.wait(300, function() return #vim.api.nvim_list_wins() > 1 end)
  return #vim.api.nvim_list_wins()
end
return { withdrawn = count(messages.uncover), shown = count(function() end) }
"""
"""Lua that counts the windows after a long message, with and without hunks drawn before it."""
DEFAULT_COLOURS = "vim.o.background = '{background}'"


PROPOSING = f"""
vim.g.stet = {{ cmd = vim.json.decode([=[{json.dumps(list(PROPOSING_SERVER))}]=]) }}
"""
"""Lua for a server with the command `test.propose`."""


@pytest.fixture
def begin(nvim_binary: Path, tmp_path: Path) -> Iterator[Begin]:
    """Start editors: `begin(files, calls)` returns one in which the hunks of `calls` are shown."""
    started: list[NeovimScreen] = []

    def start(
        files: dict[str, str], *calls: dict[str, Any], n_here: int | None = None, **options: Any
    ) -> NeovimScreen:
        screen = NeovimScreen(nvim_binary, tmp_path, files, script(*calls), **options)
        started.append(screen)
        if calls:
            screen.ask(len(calls) if n_here is None else n_here)
        return screen

    yield start
    for screen in started:
        screen.close()


def style_of(screen: NeovimScreen, row: int, text: str) -> Style:
    """Return the style of the first character of a text in a row of the screen."""
    line = list(AnsiDecoder().decode(screen.terminal.coloured()))[row]
    at = line.plain.index(text)
    styles = [span.style for span in line.spans if span.start <= at < span.end]
    return Style.combine(style for style in styles if isinstance(style, Style))


def test_hunk_of_one_word_marks_the_word_on_both_sides(begin: Begin) -> None:
    begin({"a.txt": PET}, RENAME).check("one_word")


def test_hunk_of_a_long_paragraph_shows_only_the_changed_sentence(begin: Begin) -> None:
    sentences = [
        "The first sentence stays here exactly as it was, yes.",
        "The second one stays too, and it is in the next line.",
        "Here a tremendous wind was blowing from the far hill.",
        "After it there comes the fourth, which does not move.",
        "And the fifth ends what is one long line of the text.",
    ]
    old = " ".join(sentences) + "\n"
    new = old.replace("tremendous", "strong")
    begin({"a.txt": f"# Wind\n\n{old}"}, edit("a.txt", old, new)).check("long_paragraph")


def test_deletion_of_forty_lines_is_shown_from_its_beginning_with_a_count(begin: Begin) -> None:
    old = "".join(f"old {n:02}\n" for n in range(1, 41))
    screen = begin({"a.txt": f"head\n{old}tail\n"}, edit("a.txt", old, "", "Drop the old"))
    screen.command("next")
    screen.check("deletion")


def test_insertions_are_shown_above_the_first_line_and_below_the_last(begin: Begin) -> None:
    calls = [edit("a.txt", "one\n", "zero\none\n"), edit("a.txt", "two\n", "two\nthree\n")]
    begin({"a.txt": "one\ntwo\n"}, *calls).check("insertions")


def test_thirty_hunks_are_drawn_wherever_the_window_goes(begin: Begin) -> None:
    text = "".join(f"a {n:02}\nb {n:02}\nc {n:02}\n" for n in range(1, 31))
    calls = [edit("a.txt", f"b {n:02}\n", f"B {n:02}\n") for n in range(1, 31)]
    screen = begin({"a.txt": text}, *calls)
    screen.check("thirty")
    screen.terminal.keys("G")
    screen.check("thirty_end")
    screen.terminal.keys("g", "g")
    screen.check("thirty")


def test_conflict_shows_both_sides_with_its_own_sign(begin: Begin) -> None:
    screen = begin({"a.txt": PET}, RENAME)
    screen.terminal.keys("j", "w", "c", "w")
    screen.terminal.type("cow")
    screen.terminal.keys("Escape")
    screen.check("conflict")


def test_closed_fold_counts_its_hunks_and_shows_nothing_of_them(begin: Begin) -> None:
    text = f"alpha\n{CAT}two\nthree\nfour\nomega\n"
    screen = begin({"a.txt": text}, RENAME, edit("a.txt", "three\n", "3\n"))
    screen.lua("vim.cmd('2,5fold')")
    screen.check("fold")


def test_toggle_goes_from_the_lines_to_one_line_to_nothing_and_back(begin: Begin) -> None:
    screen = begin({"a.txt": PET}, RENAME)
    for name in ("one_word", "compact", "off", "one_word"):
        screen.check(name)
        screen.command("toggle")


def test_hunk_is_drawn_again_after_its_accept_was_undone(begin: Begin) -> None:
    screen = begin({"a.txt": PET}, RENAME)
    screen.check("one_word")
    screen.command("next", "accept")
    screen.wait("vim.fn.getline(2) == 'The dog sat on the mat.'", "it is accepted")
    screen.check("accepted")
    screen.terminal.keys("u")
    screen.check("one_word")


def test_message_at_the_cursor_is_withdrawn_by_hunks_that_are_decided_before_it(
    begin: Begin,
) -> None:
    screen = begin({"a.txt": PET}, RENAME)
    windows = screen.lua(WITHDRAWN)
    assert windows == {"withdrawn": 1, "shown": 2}


def test_jump_scrolls_until_the_whole_hunk_is_in_view(begin: Begin) -> None:
    lines = [f"l {n}\n" for n in range(10, 71)]
    old = "".join(lines[30:35])
    screen = begin({"a.txt": "".join(lines)}, edit("a.txt", old, old.replace("l", "x")))
    screen.command("next")
    screen.check("jump")


def test_next_and_accept_typed_at_once_act_on_the_same_hunk(begin: Begin) -> None:
    text = "".join(f"a {n:02}\nb {n:02}\nc {n:02}\n" for n in range(1, 11))
    calls = [edit("a.txt", f"b {n:02}\n", f"B {n:02}\n") for n in range(1, 11)]
    screen = begin({"a.txt": text}, *calls)
    screen.command(*["next", "accept"] * 4, "next", "reject no")
    screen.wait("#T.hunks() == 5 and vim.fn.getline(11) == 'B 04'", "five are decided")
    wanted = [f"{'B' if n < 5 else 'b'} {n:02}" for n in range(1, 11)]
    assert screen.lua("return vim.fn.getline(1, '$')")[1::3] == wanted
    assert screen.lua("return vim.fn.line('.')") == 14


def test_previous_goes_to_the_last_hunk_before_the_cursor_and_round(begin: Begin) -> None:
    text = "".join(f"a {n:02}\nb {n:02}\nc {n:02}\n" for n in range(1, 4))
    calls = [edit("a.txt", f"b {n:02}\n", f"B {n:02}\n") for n in range(1, 4)]
    screen = begin({"a.txt": text}, *calls)
    for line in (8, 5, 2, 8):
        screen.command("previous")
        screen.wait(f"vim.fn.line('.') == {line}", f"the hunk at line {line}")


def test_hunk_of_a_new_file_is_shown_in_its_empty_buffer(begin: Begin) -> None:
    arguments = {"file": "new.txt", "content": "first\nsecond\n"}
    screen = begin({"a.txt": PET}, {"name": "create_file", "arguments": arguments}, n_here=0)
    screen.command("next")
    screen.check("new_file")


def test_lines_wrap_at_the_width_of_a_narrow_window(begin: Begin) -> None:
    old = "The quick brown cat jumps over the lazy dog\n"
    files = {"a.txt": f"alpha\n{old}omega\n"}
    begin(files, edit("a.txt", old, old.replace("cat", "fox")), size=(30, 12)).check("narrow")


def test_wide_characters_and_tabs_take_their_columns(begin: Begin) -> None:
    old = "東京 cat\there é\n"
    files = {"a.txt": f"alpha\n{old}omega\n"}
    begin(files, edit("a.txt", old, old.replace("cat", "dog"))).check("wide")


@pytest.mark.parametrize("background", ["dark", "light"])
def test_default_colours_differ_for_lines_and_words_of_both_sides(
    begin: Begin, background: str
) -> None:
    lua = DEFAULT_COLOURS.format(background=background)
    screen = begin({"a.txt": PET}, RENAME, lua=lua)
    screen.check("no_color")
    assert len(backgrounds(screen.terminal.coloured())) == 5


def test_without_colours_signs_and_reverse_video_tell_the_sides_apart(begin: Begin) -> None:
    lua = DEFAULT_COLOURS.format(background="dark")
    screen = begin({"a.txt": PET}, RENAME, lua=lua, variables={"NO_COLOR": "1"})
    screen.check("no_color")
    assert len(backgrounds(screen.terminal.coloured())) == 2  # the page, and reverse video
    assert style_of(screen, 1, "cat").reverse
    assert style_of(screen, 2, "dog").reverse
    assert not style_of(screen, 1, "sat").reverse
    assert style_of(screen, 2, "sat").bold


def test_terminal_without_colours_tells_the_sides_apart_by_signs_and_reverse_video(
    begin: Begin,
) -> None:
    lua = f"{DEFAULT_COLOURS.format(background='dark')} vim.o.termguicolors = false"
    screen = begin({"a.txt": PET}, RENAME, lua=lua, variables={"COLORTERM": ""}, terminal="vt100")
    assert screen.lua("return vim.api.nvim_list_uis()[1].term_colors") <= 0
    screen.check("no_color")
    assert not COLOURED.search(screen.terminal.coloured())
    assert style_of(screen, 1, "cat").reverse
    assert style_of(screen, 2, "dog").reverse
    assert not style_of(screen, 1, "sat").reverse
    assert style_of(screen, 2, "sat").bold


def test_moved_file_says_where_it_goes(begin: Begin) -> None:
    move = {"name": "move_file", "arguments": {"file": "a.txt", "to": "there.txt"}}
    begin({"a.txt": "moved\n"}, move).check("moved_file")


def test_removal_of_a_whole_file_shows_its_lines_and_says_so(begin: Begin) -> None:
    screen = begin({"a.txt": "gone\nfor good\n"}, lua=COLOURS + PROPOSING)
    screen.lua("T.send('test.propose', { remove = 'a.txt' })")
    screen.check("removed_file")
