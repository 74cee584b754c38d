"""Make `docs/agents.svg`: Claude Code in a terminal, and its hunks in a Neovim beside it.

Run by hand, with tmux on the PATH: `python -m tests.agents.capture_claude`.
"""

import asyncio
import queue
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.agents.review_scenario import install, runtime
from tests.agents.scene import Scene
from tests.agents.test_claude_ide import environment_of, write_settings
from tests.editors.capture import picture
from tests.editors.conftest import ensure_neovim
from tests.editors.neovim_screen import NeovimScreen
from tests.editors.scripts import script
from tests.editors.terminal import Terminal
from tests.parts.claude_code import claude_code
from tests.support.agent_models.anthropic_messages import AnthropicMessages
from tests.support.agent_models.script import Script, call, say

PICTURE = Path(__file__).parents[2] / "docs" / "agents.svg"
COLUMNS = 84
CLAUDE_LINES, NEOVIM_LINES = 24, 12
DARK = "vim.o.background = 'dark'"
SAVED = """\
def area(width, height):
    return width + height


def label(name):
    return name.strip().title()
"""
TYPED = "# Rooms of a house."
"""A line that the user types, and does not save."""


def main() -> int:
    """Run both programs and write the picture; return the exit code."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        screens = record(Path(home).resolve())
    rule = "\x1b[0m" + COLUMNS * "─" + "\n"
    PICTURE.write_text(picture(rule.join(screens), COLUMNS, "Claude Code, and Neovim below"))
    return 0


def record(folder: Path) -> tuple[str, str]:
    """Return the coloured screens of Claude Code and of Neovim after one prompt."""
    parts = [folder / name for name in ("neovim", "shadow", "home", "notes")]
    for one in parts:
        one.mkdir()
    variables = {"XDG_RUNTIME_DIR": str(parts[3])}
    editor = NeovimScreen(
        ensure_neovim(), parts[0], {"house.py": SAVED}, script(),
        lua=DARK, size=(COLUMNS, NEOVIM_LINES), variables=variables,
    )  # fmt: skip
    try:
        scene = Scene(Path(str(editor.lua("return vim.fn.getcwd()"))), *parts[1:])
        editor.terminal.type(f"O{TYPED}")
        editor.terminal.keys("Enter", "Escape")
        write_settings(scene)
        install(scene, "claude")
        with model_of(scene) as url:
            return prompt_claude(editor, scene, url), editor.terminal.coloured()
    finally:
        editor.close()


@contextmanager
def model_of(scene: Scene) -> Iterator[str]:
    """Serve the model of Claude Code in another thread; yield its address."""
    path = str(scene.workspace / "house.py")
    answers = [
        call("Read", file_path=path),
        call("Edit", file_path=path, old_string="width + height", new_string="width * height"),
        call(
            "Edit", file_path=path, old_string="def label(name):\n",
            new_string='def label(name):\n    """Return the name as a title."""\n',
        ),
        say("The area is a product now, and label has a docstring. Both wait in your editor."),
    ]  # fmt: skip
    addresses: queue.Queue[str] = queue.Queue()
    is_over = threading.Event()

    async def serve() -> None:
        async with AnthropicMessages(Script(answers)) as model:
            addresses.put(model.url(""))
            await asyncio.to_thread(is_over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        yield addresses.get()
    finally:
        is_over.set()
        thread.join()


def prompt_claude(editor: NeovimScreen, scene: Scene, url: str) -> str:
    """Prompt Claude Code in the folder of the editor; return its screen."""
    environment = {**environment_of(scene, url), **runtime(scene)}
    size = (COLUMNS, CLAUDE_LINES)
    command = [str(claude_code()), "--permission-mode", "default"]
    terminal = Terminal(command, environment, scene.workspace, size)
    try:
        terminal.wait_for("manual mode on")
        terminal.type("Fix area, and document label.")
        terminal.wait_for("document label.")
        terminal.keys("Enter")
        terminal.wait_for("Both wait in your editor.")
        editor.wait("#T.hunks() == 2", "2 hunks")
        editor.terminal.wait_for("Return the name as a title.")
        terminal.wait(lambda screen: "esc to interrupt" not in str(screen), "the turn is over")
        return terminal.coloured()
    finally:
        terminal.close()


if __name__ == "__main__":
    sys.exit(main())
