"""The twelve steps of a review in one session of real Neovim, by the plugin's keys.

Each step's screen is compared with a screen of `screens/neovim/steps`, written by hand beforehand.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.editors import steps
from tests.editors.neovim_screen import COLOURS, NeovimScreen

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
SETTINGS = """
vim.g.stet = { settings = { agent = { disabledTools = { 'execute_command' } } } }
"""
SIZE = (120, 30)


def test_review_in_twelve_steps_shows_the_screens_written_by_hand(
    nvim_binary: Path, tmp_path: Path
) -> None:
    with running(nvim_binary, tmp_path, steps.TEXTS) as screen:
        show_hunks_of_all_sizes(screen)
        change_files(screen)
        decide_and_undo(screen)
        talk(screen, tmp_path / "go")
        screen.terminal.type(":wall | quitall")
        screen.terminal.keys("Enter")
        screen.terminal.wait_for_end()
    with running(nvim_binary, tmp_path, {"many.txt": steps.MANY}) as screen:
        check(screen, "12_reopened")
    left = {**steps.TEXTS, "pet.txt": steps.PET.replace("cat", "cow")}
    del left["gone.txt"]
    work = [path for path in (tmp_path / "work").iterdir() if path.is_file()]
    assert {path.name: path.read_text() for path in work} == left


@contextmanager
def running(program: Path, home: Path, files: Mapping[str, str]) -> Iterator[NeovimScreen]:
    model = steps.script("$HOLD")
    screen = NeovimScreen(program, home, files, model, lua=COLOURS + SETTINGS, size=SIZE)
    try:
        yield screen
    finally:
        screen.close()


def check(screen: NeovimScreen, name: str) -> None:
    screen.check(f"neovim/steps/{name}")
    screen.terminal.capture(f"neovim-{name}")


def show_hunks_of_all_sizes(screen: NeovimScreen) -> None:
    """Ask for hunks of one word, of a long paragraph, of 40 lines, and for 30 hunks."""
    screen.prompt("\\ka", steps.RENAME)
    check(screen, "01_rename")
    screen.message("Stet: Named the dog. 1 hunk to review.")
    screen.edit("wind.md")
    screen.prompt("\\ka", steps.CALM)
    check(screen, "02_calm")
    screen.message("Stet: Calmed the wind. 1 hunk to review.")
    screen.edit("old.txt")
    screen.prompt("\\ka", steps.SHORTEN)
    screen.message("Stet: Dropped the old lines. 1 hunk to review.")
    screen.terminal.type("]v")
    check(screen, "03_shorten")
    screen.message("Hunk 1/1: Drop the old lines (11 more lines below) · \\ky accept, \\kn reject")
    screen.edit("many.txt")
    screen.prompt("\\ka", steps.CAPITALS)
    check(screen, "04_capitals")
    screen.message("Stet: Wrote capitals. 30 hunks to review.")


def change_files(screen: NeovimScreen) -> None:
    """Ask for a new, a moved and a deleted file."""
    screen.edit("name.txt")
    screen.edit("gone.txt")
    screen.prompt("\\ka", steps.FILES)
    screen.terminal.wait_for("Stet: Delete gone.txt? nobody reads it")
    screen.terminal.type("\\kq")
    screen.terminal.wait_for("1: Delete", "2: Keep", "Type number")
    screen.terminal.keys("1", "Enter")
    check(screen, "05_moved_file")
    screen.message("Stet: Tidied the files. 2 hunks to review.")
    screen.terminal.type("\\ku")
    check(screen, "05_deleted_file")
    screen.terminal.keys("q", "Enter")
    screen.terminal.type("]v")
    screen.message("Hunk 1/1: Create new.txt")
    check(screen, "05_new_file")


def decide_and_undo(screen: NeovimScreen) -> None:
    """Accept a hunk, reject one, undo the accept, and type over what the hunk changes."""
    screen.edit("pet.txt")
    screen.terminal.type("]v")
    screen.message("Hunk 1/1: Name the dog")
    screen.terminal.type("\\ky")
    check(screen, "06_accepted")
    screen.edit("wind.md")
    screen.terminal.type("]v")
    screen.message("Hunk 1/1: Calm the wind")
    screen.prompt("\\kn", steps.REASON)
    check(screen, "07_rejected")
    screen.edit("pet.txt")
    screen.terminal.type("u")
    check(screen, "08_undone")
    screen.terminal.type("2Gwcwcow")
    screen.terminal.keys("Escape")
    check(screen, "09_conflict")


def talk(screen: NeovimScreen, go: Path) -> None:
    """Ask for a long answer, then write in the chat and steer the turn."""
    screen.prompt("\\ka", steps.EXPLAIN)
    check(screen, "10_explained")
    assert screen.lua("return vim.fn.expand('%:t')") == "pet.txt"
    screen.terminal.type("\\kt")
    screen.wait("vim.bo.filetype == 'markdown'", "the focus is in the chat")
    write(screen, steps.GO_ON)
    screen.terminal.wait_for("## Stet (t7)")
    write(screen, steps.SHORTER)
    lines = "vim.iter(vim.api.nvim_buf_get_lines(0, 0, -1, false))"
    headings = f"{lines}:filter(function(line) return line == '## Stet (t7)' end):totable()"
    screen.wait(f"#{headings} == 2", "the turn is steered")
    go.touch()
    check(screen, "11_steered")


def write(screen: NeovimScreen, text: str) -> None:
    """Write below the last heading of the chat, and send it."""
    screen.terminal.type(f"Go{text}")
    screen.terminal.keys("Escape")
    screen.wait("vim.fn.mode() == 'n'", "the text is written")
    screen.terminal.type("\\ks")
