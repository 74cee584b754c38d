"""Make `client-configs/emacs/screenshot.svg`: real Emacs in a real terminal, a real model.

Run by hand, with the embedded model installed (`stet model install`):

    python -m tests.editors.emacs_capture

It selects a function, asks for documentation with the keys of the README, goes to the hunk and
captures the screen. The text is the model's own; repeat the run if the text isn't worth a picture.
The raw screen is also written to the folder of `STET_CAPTURES`, if that is set.
"""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from platformdirs import user_data_path

from tests.editors.capture import SAMPLE, picture
from tests.editors.emacs import CONFIG, Start, only_stet, start
from tests.parts.emacs import ensure

PATIENCE = 6
"""The number of usual time-outs that the model's answer may take."""
INIT = """
(menu-bar-mode -1)
(load-theme 'modus-vivendi t)
(setq eglot-menu-string "e" mode-line-format
      '(" " mode-line-buffer-identification "  L%l  (" mode-name ")" mode-line-misc-info))
(setq-default mode-line-format mode-line-format)
"""


def main() -> int:
    """Run the session and write the picture; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        screen = record(Path(folder)).replace("\x1b[4:3m", "\x1b[4m")  # Rich has no wavy underlines
    (CONFIG / "screenshot.svg").write_text(picture(screen).replace("Neovim", "Emacs"))
    if captures := os.environ.get("STET_CAPTURES"):
        Path(captures, "emacs.txt").write_text(screen)
    return 0


def record(folder: Path) -> str:
    """Return the screen with the proposal, as the terminal received it."""
    home, root = folder / "home", folder / "shop"
    models = home / ".data" / "stet"
    models.mkdir(parents=True)
    (models / "models").symlink_to(user_data_path("stet") / "models")
    (root / ".git").mkdir(parents=True)
    (root / "cart.py").write_text(SAMPLE)
    given = Start(
        ensure(), home, root, script=None, init=INIT, path=only_stet(home), size=(100, 26)
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
        return editor.terminal.coloured()
    finally:
        editor.close()


if __name__ == "__main__":
    sys.exit(main())
