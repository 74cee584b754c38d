"""Make two pictures of the first of the twelve steps: in Helix, and in the shell.

Run by hand:

    python -m tests.editors.capture_steps

It writes `client-configs/helix/rename.svg` and `docs/shell.svg`.
"""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

from tests.editors import steps
from tests.editors.capture import picture
from tests.editors.helix import Start
from tests.editors.helix_screen import HelixScreen, prepare
from tests.editors.terminal import Terminal
from tests.parts.helix import ensure

DOCS = Path(__file__).parents[2] / "docs"
CONFIGS = Path(__file__).parents[2] / "client-configs"
THEME = 'theme = "ayu_dark"\n'
SHELL_SIZE = (100, 24)
_COLOUR = re.compile(r"\x1b\[[\d;:]*m")


def main() -> int:
    """Run both sessions and write the pictures; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        screen = record_helix(Path(folder))
    (CONFIGS / "helix" / "rename.svg").write_text(picture(screen).replace("Neovim", "Helix"))
    with tempfile.TemporaryDirectory() as folder:
        screen = record_shell(Path(folder))
    (DOCS / "shell.svg").write_text(picture(screen).replace("Neovim", "stet ask"))
    return 0


def record_helix(folder: Path) -> str:
    """Return the screen of Helix with the hunk at the cursor."""
    begin = Start(ensure("25.07"), folder, "config.toml")
    prepare(begin, steps.TEXTS, json.dumps(steps.script("")))
    config = folder / "config" / "helix" / "config.toml"
    config.write_text(config.read_text().replace('theme = "steps"\n', THEME))
    editor = HelixScreen(begin, "pet.txt")
    try:
        editor.go(2)
        editor.ask(steps.RENAME)
        editor.terminal.wait_for("+The dog", "1 hunk to review.")
        return without_blank_rows(editor.terminal.coloured().replace("\x1b[4:3m", "\x1b[4m"))
    finally:
        editor.close()


def record_shell(folder: Path) -> str:
    """Return the screen of a shell in which `stet ask` shows the hunk and asks about it."""
    root, script = folder / "work", folder / "script.json"
    (root / ".git").mkdir(parents=True)
    (root / "pet.txt").write_text(steps.PET)
    script.write_text(json.dumps(steps.script("")))
    environment = {
        "HOME": str(folder),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}",
        "LANG": "C.UTF-8",
        "STET_SCRIPTED_MODEL": str(script),
    }
    terminal = Terminal(["bash", "--norc"], environment, root, SHELL_SIZE)
    try:
        terminal.wait(lambda rows: rows[0], "a prompt")
        terminal.type("PS1='$ '; clear")
        terminal.keys("Enter")
        terminal.wait(lambda rows: rows[0] == "$", "the new prompt")
        terminal.type(f'stet ask "{steps.RENAME}" --file pet.txt')
        terminal.keys("Enter")
        terminal.wait_for("Accept this hunk?")
        terminal.keys("y", "Enter")
        terminal.wait_for("tokens in")
        # The last row names the scripted model.
        return without_blank_rows(terminal.coloured()).rpartition("\n")[0]
    finally:
        terminal.close()


def without_blank_rows(screen: str) -> str:
    """Return a screen without its rows that show nothing, so that the picture is small."""
    rows = screen.split("\n")
    return "\n".join(row for row in rows if _COLOUR.sub("", row).strip(" ~"))


if __name__ == "__main__":
    sys.exit(main())
