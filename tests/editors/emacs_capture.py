"""Make the pictures of `client-configs/emacs`: real Emacs in a real terminal.

Run by hand, with the embedded model installed (`stet model install`):

    python -m tests.editors.emacs_capture

`screenshot.svg` selects a function, asks for documentation with the keys of the README, goes to the
hunk and captures the screen. The text is the model's own; repeat the run if it isn't worth a
picture. `paragraph.svg` and `conflict.svg` are two of the twelve steps, with a scripted model.
The raw screens are also written to the folder of `STET_CAPTURES`, if that is set.
"""

import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.editors import steps
from tests.editors.capture import SAMPLE, picture
from tests.editors.emacs import CONFIG, Start, only_stet, start
from tests.editors.emacs_screen import EmacsScreen
from tests.editors.scripts import edit, script
from tests.parts.emacs import ensure
from tests.support.local_models import small_model

PATIENCE = 6
"""The number of usual time-outs that the model's answer may take."""
INIT = """
(menu-bar-mode -1)
(load-theme 'modus-vivendi t)
(setq eglot-menu-string "e" mode-line-format
      '(" " mode-line-buffer-identification "  L%l  (" mode-name ")" mode-line-misc-info))
(setq-default mode-line-format mode-line-format)
"""


COLOURS = {"COLORTERM": "truecolor"}


def main() -> int:
    """Run the sessions and write the pictures; return the exit code."""
    for name, recorded in (
        ("screenshot", record),
        ("paragraph", paragraph),
        ("conflict", conflict),
    ):
        with tempfile.TemporaryDirectory() as folder:
            screen = recorded(Path(folder))
        # Rich has no wavy underlines.
        shown = picture(screen.replace("\x1b[4:3m", "\x1b[4m"))
        (CONFIG / f"{name}.svg").write_text(shown.replace("Neovim", "Emacs"))
        if captures := os.environ.get("STET_CAPTURES"):
            Path(captures, f"emacs-{name}.txt").write_text(screen)
    return 0


def paragraph(folder: Path) -> str:
    """Return the screen with a changed sentence in a long paragraph."""
    model = script(
        edit("wind.md", steps.WIND, steps.WIND.replace("tremendous", "strong"), "Calm the wind")
    )
    screen = step(folder, "wind.md", model, "(global-visual-line-mode)\n")
    try:
        screen.editor.prompt("C-c x a", steps.CALM).wait_for_hunks(2)
        screen.editor.press("C-c x n").terminal.wait_for("1 of 1: Calm the wind", "+ …")
        screen.editor.terminal.wait_until_gone("100%")
        return screen.editor.terminal.coloured()
    finally:
        screen.editor.close()


def conflict(folder: Path) -> str:
    """Return the screen with a conflict: the user has typed over the text of a hunk."""
    model = script(edit("pet.txt", steps.CAT, steps.DOG, "Name the dog"))
    screen = step(folder, "pet.txt", model)
    try:
        screen.editor.prompt("C-c x a", steps.RENAME).wait_for_hunks(1)
        screen.editor.line(2).press("M-f C-f M-d").type("cow")
        screen.editor.terminal.wait_for("Conflict", "C-c x c resolve")
        screen.editor.terminal.wait_until_gone("100%")
        return screen.editor.terminal.coloured()
    finally:
        screen.editor.close()


def step(folder: Path, name: str, model: Sequence[object], init: str = "") -> EmacsScreen:
    """Start Emacs in a file of the steps."""
    files = {name: steps.TEXTS[name]}
    return EmacsScreen(
        ensure(), folder, files, model, init=INIT + init, size=(100, 11), variables=COLOURS
    )


def record(folder: Path) -> str:
    """Return the screen with the proposal, as the terminal received it."""
    home, root = folder / "home", folder / "shop"
    models = home / ".data" / "stet" / "models"
    models.mkdir(parents=True)
    weights = small_model().path
    (models / weights.name).symlink_to(weights)
    (root / ".git").mkdir(parents=True)
    (root / "cart.py").write_text(SAMPLE)
    given = Start(
        ensure(),
        home,
        root,
        script=None,
        init=INIT,
        path=only_stet(home),
        size=(100, 26),
        variables=COLOURS,
    )
    editor = start(given, "cart.py")
    try:
        editor.served().line(13).press("C-SPC C-n C-n C-n")
        editor.prompt("C-c x r", "Add documentation")
        for _ in range(PATIENCE):  # a model is slow on a busy machine
            with contextlib.suppress(AssertionError):
                editor.wait("(> (length (test-hunks)) 0)", "a docstring is proposed")
                break
        editor.press("M-< C-c x n").terminal.wait_for("[Stet: 1 pending]")
        editor.terminal.wait_until_gone("100%")
        return editor.terminal.coloured()
    finally:
        editor.close()


if __name__ == "__main__":
    sys.exit(main())
