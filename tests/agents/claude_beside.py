"""Claude Code in a terminal beside an editor in another one: its model, its prompts."""

import asyncio
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.agents.review_scenario import runtime
from tests.agents.scene import Scene
from tests.agents.test_claude_ide import environment_of
from tests.editors.terminal import Terminal
from tests.parts.claude_code import claude_code
from tests.support.agent_models.anthropic_messages import AnthropicMessages
from tests.support.agent_models.script import Answer, Script, call, say

SAVED = """\
def area(width, height):
    return width + height


def label(name):
    return name.strip().title()
"""
TYPED = "# Rooms of a house."
"""A line that the user types, and does not save."""
PROMPT = "Fix area, and document label."
END = "Both wait in your editor."


def answers(path: Path) -> list[Answer]:
    """Return what the model does with `SAVED`: two edits."""
    return [
        call("Read", file_path=str(path)),
        call("Edit", file_path=str(path), old_string="width + height", new_string="width * height"),
        call(
            "Edit", file_path=str(path), old_string="def label(name):\n",
            new_string='def label(name):\n    """Return the name as a title."""\n',
        ),
        say(f"The area is a product now, and label has a docstring. {END}"),
    ]  # fmt: skip


@contextmanager
def model_of(script: Script) -> Iterator[str]:
    """Serve the model of Claude Code in another thread; yield its address."""
    addresses: queue.Queue[str] = queue.Queue()
    is_over = threading.Event()

    async def serve() -> None:
        async with AnthropicMessages(script) as model:
            addresses.put(model.url(""))
            await asyncio.to_thread(is_over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        yield addresses.get()
    finally:
        is_over.set()
        thread.join()


@contextmanager
def claude_beside(scene: Scene, url: str, size: tuple[int, int]) -> Iterator[Terminal]:
    """Start Claude Code in the workspace of a scene, in a terminal; yield the terminal."""
    command = [str(claude_code()), "--permission-mode", "default"]
    environment = {**environment_of(scene, url), **runtime(scene)}
    terminal = Terminal(command, environment, scene.workspace, size)
    try:
        terminal.wait_for("manual mode on")
        yield terminal
    finally:
        terminal.close()


def prompt(terminal: Terminal, text: str, *ends: str) -> None:
    """Send a prompt, and wait until the answer has these ends and the turn is over."""
    terminal.type(text)
    terminal.wait_for(text)
    terminal.keys("Enter")
    terminal.wait_for(*ends)
    terminal.wait(lambda screen: "esc to interrupt" not in str(screen), "the turn is over")


def scene_beside(folder: Path, workspace: Path) -> Scene:
    """Return a scene whose workspace is that of an editor; its other folders are made."""
    others: Sequence[Path] = [folder / name for name in ("shadow", "home", "notes")]
    for one in others:
        one.mkdir(exist_ok=True)
    return Scene(workspace, *others)
