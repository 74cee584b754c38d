"""The real Claude Code beside an editor: its edits become hunks, and it is sent the decisions."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.agents.claude import run_claude
from tests.agents.scene import Scene, texts
from tests.conftest import Part
from tests.parts.claude_code import claude_code
from tests.support.agent_models.script import Answer, ModelRequest, Script, call, say
from tests.support.editor import FakeEditor

pytestmark = pytest.mark.slow

STET = Path(sys.executable).with_name("stet")
SAVED = {"a.txt": "one\ntwo\n", "b.txt": "red\ngreen\nblue\n"}


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


@pytest.fixture
def claude(part: Part) -> Path:
    """Return the program."""
    return part(claude_code)


def installed_settings(scene: Scene) -> dict[str, Any]:
    """Return the settings that `stet agents install` writes."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(scene.home)}
    command = [str(STET), "agents", "install", "claude", "--write"]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    settings: dict[str, Any] = json.loads((scene.home / ".claude" / "settings.json").read_text())
    return settings


async def test_claude_is_reviewed_hunk_by_hunk(claude: Path, scene: Scene) -> None:
    (scene.workspace / "b.txt").write_text(SAVED["b.txt"])
    settings = await asyncio.to_thread(installed_settings, scene)
    runtime = {"XDG_RUNTIME_DIR": str(scene.notes)}
    a, b, new = (str(scene.workspace / name) for name in ("a.txt", "b.txt", "new.txt"))
    async with FakeEditor.start(scene.workspace, env=runtime) as editor:
        editor.open("a.txt")
        editor.change("a.txt", "one\n", "one, unsaved\n")
        editor.flush()
        await editor.command("stet.proposals")

        def type_a_line() -> None:
            editor.change("a.txt", "one, unsaved\n", "one, unsaved\ntyped\n")
            editor.flush()

        edits = [
            call("Read", file_path=a),
            call("Edit", file_path=a, old_string="two", new_string="2"),
            call("Read", file_path=b),
            call("Edit", file_path=b, old_string="red", new_string="RED"),
            call("Edit", file_path=b, old_string="blue", new_string="BLUE"),
            call("Write", file_path=new, content="new\n"),
        ]
        script = ScriptWithUser([*edits, say("Done.")], type_a_line)
        await run_claude(
            claude, scene.home, scene.workspace, script, settings=settings, environment=runtime
        )
        assert script.requests[1].results[0].startswith("1\tone, unsaved\n2\ttwo\n")
        assert texts(scene.workspace) == SAVED

        listed = await editor.command("stet.proposals", {"state": "pending"})
        by_new = {item["new"]: item["hunk"] for item in listed}
        assert sorted(by_new) == ["2\n", "BLUE\n", "RED\n", "new\n"]
        assert {item["author"] for item in listed} == {"claude"}
        await editor.command("stet.reject", {"hunk": by_new["RED\n"], "reason": "red is a name"})
        await editor.command("stet.accept", {"hunk": by_new["BLUE\n"], "new": "navy\n"})
        await editor.command("stet.accept", {"hunk": by_new["2\n"]})
        await editor.command("stet.accept", {"hunk": by_new["new\n"]})
        await editor.wait_until(lambda: "2\n" in editor.text("a.txt"))
        await decided(editor, len(listed))

        second = Script([say("Seen.")])
        await run_claude(
            claude, scene.home, scene.workspace, second, "--continue",
            settings=settings, environment=runtime,
        )  # fmt: skip
        news = "\n".join(second.requests[0].texts)
        assert "red is a name" in news
        assert "navy" in news
        assert editor.text("a.txt") == "one, unsaved\ntyped\n2\n"
        assert editor.text("b.txt") == "red\ngreen\nnavy\n"


async def decided(editor: FakeEditor, n_hunks: int) -> None:
    """Wait until all hunks are decided."""
    states: list[str] = []
    while len(states) < n_hunks or {"pending", "sent"} & set(states):
        states = [item["state"] for item in await editor.command("stet.proposals")]


async def test_claude_without_an_editor_writes_the_disk(claude: Path, scene: Scene) -> None:
    settings = await asyncio.to_thread(installed_settings, scene)
    path = str(scene.workspace / "a.txt")
    script = Script(
        [
            call("Read", file_path=path),
            call("Edit", file_path=path, old_string="two", new_string="2"),
            say("Done."),
        ]
    )
    await run_claude(
        claude, scene.home, scene.workspace, script, "--permission-mode", "acceptEdits",
        settings=settings, environment={"XDG_RUNTIME_DIR": str(scene.notes)},
    )  # fmt: skip
    assert texts(scene.workspace) == {"a.txt": "one\n2\n"}
