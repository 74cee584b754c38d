"""One scenario for each agent beside an editor: what is proposed, decided and sent back.

The agent edits two files and makes a third, the user types into an unsaved buffer, rejects a hunk
with a reason and amends another, and the agent gets a second prompt. The final texts are the same
for all agents.
"""

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agents.captured_edits import record
from tests.agents.scene import Scene, texts
from tests.support.agent_models.script import Answer, ModelRequest, Script, say
from tests.support.editor import FakeEditor

STET = Path(sys.executable).with_name("stet")
SAVED = {"a.txt": "one\ntwo\n", "b.txt": "red\ngreen\nblue\n"}
TYPED = {"a.txt": "one, unsaved\ntyped\n2\n", "b.txt": "red\ngreen\nnavy\n"}


@dataclass(frozen=True)
class AgentTools:
    """How the model of an agent calls its tools.

    Attributes:
        read: Makes the call that reads a file.
        edit: Makes the call that replaces a line of a file.
        create: Makes the call that creates a file of one line, without its line end.
    """

    read: Callable[[Path], Answer]
    edit: Callable[[Path, str, str], Answer]
    create: Callable[[Path, str], Answer]


Run = Callable[[Script, bool], Awaitable[object]]
"""Runs the agent once with a script; the flag says whether the last session goes on."""


class ScriptWithUser(Script):
    """A model during whose third request the user does something."""

    def __init__(self, answers: Sequence[Answer], act: Callable[[], None]) -> None:
        super().__init__(answers)
        self._act = act

    def next(self, request: ModelRequest) -> Answer:
        """Record a request; return its answer."""
        if len(self.requests) == 2:
            self._act()
        return super().next(request)


def install(scene: Scene, agent: str, program: Path | None = None) -> None:
    """Install Stet's hooks into the settings of an agent with the home folder of a scene."""
    path = os.environ["PATH"] if program is None else f"{program.parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(scene.home), **runtime(scene)}
    command = [str(STET), "agents", "install", agent, "--write"]
    ended = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def runtime(scene: Scene) -> dict[str, str]:
    """Return the variable that names the folder of the sockets."""
    return {"XDG_RUNTIME_DIR": str(scene.notes)}


async def check_review(
    scene: Scene, author: str, tools: AgentTools, run: Run, *, sees_unsaved: str = ""
) -> None:
    """Play the scenario, and check what the agent is sent and what the texts are at the end.

    Args:
        scene: The folders; the hooks of the agent are installed.
        author: The name of the agent.
        tools: The calls of the agent's model.
        run: Runs the agent.
        sees_unsaved: A line that the model is sent with the unsaved text; "" for the text itself
            in the result of the first read.
    """
    (scene.workspace / "b.txt").write_text(SAVED["b.txt"])
    async with FakeEditor.start(scene.workspace, env=runtime(scene)) as editor:
        await play_review(editor, scene, author, tools, run, sees_unsaved=sees_unsaved)


async def play_review(
    editor: FakeEditor,
    scene: Scene,
    author: str,
    tools: AgentTools,
    run: Run,
    *,
    sees_unsaved: str = "",
    way: str = "terminal",
) -> None:
    """Play the scenario in an editor; the arguments are those of `check_review`.

    `way` is where the agent runs, for the table of docs/agents.md.
    """
    a, b, new = (scene.workspace / name for name in ("a.txt", "b.txt", "new.txt"))
    editor.open("a.txt")
    editor.change("a.txt", "one\n", "one, unsaved\n")
    editor.flush()
    await editor.command("stet.proposals")

    def type_a_line() -> None:
        editor.change("a.txt", "one, unsaved\n", "one, unsaved\ntyped\n")
        editor.flush()

    calls = [
        tools.read(a),
        tools.edit(a, "two", "2"),
        tools.read(b),
        tools.edit(b, "red", "RED"),
        tools.edit(b, "blue", "BLUE"),
        tools.create(new, "new"),
    ]
    script = ScriptWithUser([*calls, say("Done.")], type_a_line)
    await run(script, False)
    first = script.requests[1]
    seen = "\n".join(first.texts) if sees_unsaved else first.results[0]
    assert (sees_unsaved or "one, unsaved") in seen
    disk = texts(scene.workspace)
    assert disk == SAVED

    listed = await _decide(editor, author)
    await _decided(editor, len(listed))
    second = Script([say("Seen.")])
    await run(second, True)
    news = "\n".join(second.requests[0].texts)
    assert "red is a name" in news
    assert "navy" in news
    assert {name: editor.text(name) for name in TYPED} == TYPED
    kinds = Counter(item["kind"] for item in listed)
    seen_by_test = {
        "unsaved": "its prompt" if sees_unsaved else "what it reads",
        "hunks": ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items())),
        "disk": "unchanged" if disk == SAVED else "changed",
        "prompt": "reason, amended text",
    }
    record(author, way, seen_by_test)


async def _decide(editor: FakeEditor, author: str) -> list[Any]:
    """Reject one hunk with a reason, amend another and accept the rest; return all."""
    listed: list[Any] = await editor.command("stet.proposals", {"state": "pending"})
    by_new = {item["new"]: item["hunk"] for item in listed}
    assert sorted(by_new) == ["2\n", "BLUE\n", "RED\n", "new\n"]
    assert {item["author"] for item in listed} == {author}
    await editor.command("stet.reject", {"hunk": by_new["RED\n"], "reason": "red is a name"})
    await editor.command("stet.accept", {"hunk": by_new["BLUE\n"], "new": "navy\n"})
    await editor.command("stet.accept", {"hunk": by_new["2\n"]})
    await editor.command("stet.accept", {"hunk": by_new["new\n"]})
    await editor.wait_until(lambda: "2\n" in editor.text("a.txt"))
    return listed


async def _decided(editor: FakeEditor, n_hunks: int) -> None:
    """Wait until all hunks are decided."""
    states: list[str] = []
    while len(states) < n_hunks or {"pending", "sent"} & set(states):
        states = [item["state"] for item in await editor.command("stet.proposals")]


async def install_in_thread(scene: Scene, agent: str, program: Path | None = None) -> None:
    """Call `install` beside the event loop."""
    await asyncio.to_thread(install, scene, agent, program)
