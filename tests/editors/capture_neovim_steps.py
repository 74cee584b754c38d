"""Make `paragraph.svg` and `conflict.svg` of `client-configs/neovim`: two of the twelve steps.

Run by hand, with tmux on the PATH: `python -m tests.editors.capture_neovim_steps`.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.editors import steps
from tests.editors.capture import CONFIG, picture
from tests.editors.conftest import ensure_neovim
from tests.editors.neovim_screen import NeovimScreen
from tests.editors.scripts import script

COLUMNS, LINES = 84, 9
DARK = "vim.o.background = 'dark'"
"""Neovim's own colours."""


def main() -> int:
    """Run the sessions and write the pictures; return the exit code."""
    pictures = {"paragraph": ("wind.md", 1, ask_about_wind), "conflict": ("pet.txt", 0, type_over)}
    for name, (file, nth, act) in pictures.items():
        with tempfile.TemporaryDirectory() as home:
            screen = record(Path(home), file, nth, act)
        (CONFIG / f"{name}.svg").write_text(picture(screen, COLUMNS))
    return 0


def record(home: Path, file: str, nth: int, act: Callable[[NeovimScreen], None]) -> str:
    """Return the coloured screen after one turn of the steps and what the user does then."""
    call = steps.script("$HOLD")[2 * nth]["tool_calls"]
    text = {file: steps.TEXTS[file]}
    size = (COLUMNS, LINES)
    editor = NeovimScreen(ensure_neovim(), home, text, script(*call), lua=DARK, size=size)
    try:
        editor.ask(1)
        act(editor)
        return editor.terminal.coloured()
    finally:
        editor.close()


def ask_about_wind(editor: NeovimScreen) -> None:
    """Go to the hunk."""
    editor.terminal.type("]v")
    editor.message("Hunk 1/1: Calm the wind")


def type_over(editor: NeovimScreen) -> None:
    """Type over the word that the hunk replaces, and go to the conflict."""
    editor.terminal.type("2Gwcwcow")
    editor.terminal.keys("Escape")
    editor.terminal.wait_for("Conflict: you edited this text.")
    editor.terminal.type("gg]v")
    editor.message("Hunk 1/1: Name the dog")


if __name__ == "__main__":
    sys.exit(main())
