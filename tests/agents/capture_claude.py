"""Make `docs/agents.svg` and `docs/agents-helix.svg`: Claude Code in a terminal, and its hunks in a
Neovim or a Helix beside it.

Run by hand, with tmux on the PATH: `python -m tests.agents.capture_claude`.
"""

import sys
import tempfile
from pathlib import Path

from tests.agents.claude_beside import (
    END,
    PROMPT,
    SAVED,
    TYPED,
    answers,
    claude_beside,
    model_of,
    prompt,
    scene_beside,
)
from tests.agents.review_scenario import install, runtime
from tests.agents.scene import Scene
from tests.agents.test_claude_ide import write_settings
from tests.editors.capture import picture
from tests.editors.conftest import ensure_neovim
from tests.editors.helix import HelixEditor, Start
from tests.editors.neovim_screen import NeovimScreen
from tests.editors.scripts import script
from tests.editors.terminal import Terminal
from tests.parts import helix
from tests.support.agent_models.script import Script

DOCS = Path(__file__).parents[2] / "docs"
COLUMNS = 84
CLAUDE_LINES, EDITOR_LINES = 24, 12
DARK = "vim.o.background = 'dark'"


def main() -> int:
    """Run the programs and write the pictures; return the exit code."""
    for record, name, editor in (
        (record_neovim, "agents.svg", "Neovim"),
        (record_helix, "agents-helix.svg", "Helix"),
    ):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
            screens = record(Path(home).resolve())
        rule = "\x1b[0m" + COLUMNS * "─" + "\n"
        drawn = picture(rule.join(screens), COLUMNS, f"Claude Code, and {editor} below")
        (DOCS / name).write_text(drawn)
    return 0


def record_neovim(folder: Path) -> tuple[str, str]:
    """Return the coloured screens of Claude Code and of Neovim after one prompt."""
    (folder / "neovim").mkdir()
    variables = {"XDG_RUNTIME_DIR": str(folder / "notes")}
    (folder / "notes").mkdir()
    editor = NeovimScreen(
        ensure_neovim(), folder / "neovim", {"house.py": SAVED}, script(),
        lua=DARK, size=(COLUMNS, EDITOR_LINES), variables=variables,
    )  # fmt: skip
    try:
        scene = scene_beside(folder, Path(str(editor.lua("return vim.fn.getcwd()"))))
        editor.terminal.type(f"O{TYPED}")
        editor.terminal.keys("Enter", "Escape")
        shown = prompt_claude(scene)
        editor.wait("#T.hunks() == 2", "2 hunks")
        editor.terminal.wait_for("Return the name as a title.")
        return shown, editor.terminal.coloured()
    finally:
        editor.close()


def record_helix(folder: Path) -> tuple[str, str]:
    """Return the coloured screens of Claude Code and of Helix after one prompt."""
    begin = Start(helix.ensure("25.07"), folder / "helix", "config.toml")
    (begin.root / ".git").mkdir(parents=True)
    (begin.root / "house.py").write_text(SAVED)
    begin.prepare("[]")
    scene = scene_beside(folder, begin.root)
    environment = {**begin.environment(), **runtime(scene), "COLORTERM": "truecolor"}
    size = (COLUMNS, EDITOR_LINES + 2)
    editor = HelixEditor(
        Terminal([*begin.helix.command, "house.py"], environment, begin.root, size)
    )
    try:
        editor.wait_until_ready()
        editor.insert("O", TYPED)
        shown = prompt_claude(scene)
        editor.wait_for_marks("    return width", "def label")
        editor.go(editor.line_of("    return width"))
        editor.terminal.wait_for("width * height")
        return shown, editor.terminal.coloured()
    finally:
        editor.close()


def prompt_claude(scene: Scene) -> str:
    """Prompt Claude Code in the folder of the editor; return its screen."""
    write_settings(scene)
    install(scene, "claude")
    model = Script(answers(scene.workspace / "house.py"))
    with model_of(model) as url, claude_beside(scene, url, (COLUMNS, CLAUDE_LINES)) as claude:
        prompt(claude, PROMPT, END)
        return claude.coloured()


if __name__ == "__main__":
    sys.exit(main())
