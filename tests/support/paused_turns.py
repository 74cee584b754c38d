"""Turns that pause in the middle of their work, until a test lets them continue."""

from pathlib import Path

from tests.support.fault_scene import FaultScene, until_read
from tests.support.live_turns import ask, calls, done, edit, scripted


def paused_model(folder: Path) -> tuple[dict[str, str], Path]:
    """Make a model whose second answer, an edit of `b.txt`, waits for a file; return both."""
    go = folder / "go"
    reply = {**calls(edit("b.txt", "two\n", "2\n")), "hold": str(go)}
    return scripted(folder, calls(("read_file", {"file": "b.txt"})), reply, done()), go


async def start_paused_turn(scene: FaultScene) -> str:
    """Start a turn that waits for its second answer."""
    turn = await ask(scene.editor, "Digits", uri=scene.uri)
    await until_read(scene.editor, turn)
    return turn
