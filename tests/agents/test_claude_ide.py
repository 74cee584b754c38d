"""The real `claude --ide` in a terminal beside an editor: its edits wait as hunks."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.agents.agent_variables import claude_variables
from tests.agents.scene import Scene
from tests.conftest import Part
from tests.editors.terminal import DEADLINE, Terminal
from tests.parts.claude_code import claude_code
from tests.support.agent_models.anthropic_messages import AnthropicMessages
from tests.support.agent_models.script import Script, call, say
from tests.support.editor import FakeEditor

pytestmark = pytest.mark.slow

SAVED = "one\ntwo\nthree\nfour\n"
CLOSED = "http://127.0.0.1:9"


@pytest.fixture
def claude(part: Part) -> Path:
    """Return the program."""
    return part(claude_code)


class ClaudeInTerminal:
    """Claude Code in a terminal, connected to an editor."""

    def __init__(self, terminal: Terminal, editor: FakeEditor) -> None:
        self.terminal = terminal
        self.editor = editor

    async def shows(self, *shown: str) -> None:
        """Wait until the terminal shows some texts."""
        await asyncio.to_thread(self.terminal.wait_for, *shown)

    async def select(self, shown: str) -> None:
        """Move the selection until the terminal shows it: Claude does not listen at once."""
        async with asyncio.timeout(DEADLINE):
            while not any(shown in line for line in await asyncio.to_thread(self.terminal.screen)):
                self.editor.select("a.txt", "one")
                await self.editor.command("stet.proposals")
                self.editor.select("a.txt", "two")
                await self.editor.command("stet.proposals")

    async def prompt(self, text: str) -> None:
        """Type a prompt."""
        await asyncio.to_thread(self.terminal.type, text)
        await self.shows(text)
        await asyncio.to_thread(self.terminal.keys, "Enter")

    async def agree(self, question: str) -> None:
        """Answer a question with Enter, again if Claude did not listen yet."""

        def is_gone(screen: list[str]) -> bool:
            asked = any(question in line for line in screen)
            if asked:
                self.terminal.keys("Enter")
            return not asked

        await self.shows(question)
        await asyncio.to_thread(self.terminal.wait, is_gone, f"no {question!r}")

    async def is_written(self, path: Path, text: str) -> None:
        """Wait until Claude has written a file."""
        await asyncio.to_thread(
            self.terminal.wait, lambda _: path.read_bytes() == text.encode(), f"{text!r} in {path}"
        )

    async def hunks(self, n_hunks: int) -> dict[str, str]:
        """Return the ids of the pending hunks by new text, as soon as there are so many."""
        found: dict[str, str] | None = None
        async with asyncio.timeout(DEADLINE):
            while found is None or len(found) != n_hunks:
                listed = await self.editor.command("stet.proposals", {"state": "pending"})
                found = {item["new"]: item["hunk"] for item in listed}
        return found


def write_settings(scene: Scene) -> Path:
    """Write the settings of a user who has run Claude before; return their folder."""
    folder = scene.home / ".claude"
    folder.mkdir()
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    values = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": ["none"], "rejected": []},
        "projects": {str(scene.workspace): project},
    }
    (folder / ".claude.json").write_text(json.dumps(values))
    return folder


def environment_of(scene: Scene, url: str) -> dict[str, str]:
    """Return the variables of Claude Code, which reaches loopback only."""
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), CLOSED)
    return {
        **proxies,
        **{name.upper(): value for name, value in proxies.items()},
        "no_proxy": "127.0.0.1,localhost",
        "NO_PROXY": "127.0.0.1,localhost",
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "TMPDIR": str(scene.home),
        **claude_variables(scene.home, url),
    }


@asynccontextmanager
async def running(
    program: Path, scene: Scene, script: Script, saved: str = SAVED
) -> AsyncIterator[ClaudeInTerminal]:
    """Start an editor with `a.txt`, and Claude Code that has found it."""
    folder = write_settings(scene)
    (scene.workspace / "a.txt").write_bytes(saved.encode())
    env = {"XDG_RUNTIME_DIR": str(scene.notes), "CLAUDE_CONFIG_DIR": str(folder)}
    settings = {"agents": {"claudeIde": True}}
    async with (
        FakeEditor.start(scene.workspace, env=env, settings=settings) as editor,
        AnthropicMessages(script) as model,
    ):
        editor.open("a.txt")
        async with asyncio.timeout(DEADLINE):
            while not locks_in(folder):
                await editor.command("stet.status")
        command = [str(program), "--ide", "--permission-mode", "default"]
        environment = environment_of(scene, model.url(""))
        terminal = await asyncio.to_thread(Terminal, command, environment, scene.workspace)
        try:
            claude = ClaudeInTerminal(terminal, editor)
            await claude.shows("manual mode on")
            await claude.select("1 line selected")
            yield claude
        finally:
            await asyncio.to_thread(terminal.close)
        editor.from_server("a.txt")  # Claude has written it


def locks_in(folder: Path) -> list[Path]:
    """Return the lock files."""
    return list((folder / "ide").glob("*.lock"))


async def test_claude_writes_what_the_user_has_decided(claude: Path, scene: Scene) -> None:
    path = scene.workspace / "a.txt"
    new = "1\ntwo\n3\nfour\nfive\n"
    answers = [
        call("Read", file_path=str(path)),
        call("Write", file_path=str(path), content=new),
        say("Done."),
        say("Seen."),
    ]
    script = Script(answers)
    async with running(claude, scene, script) as running_claude:
        editor = running_claude.editor
        editor.change("a.txt", "two\n", "two, typed\n")
        editor.flush()
        sent = await editor.command("stet.sendSelection", {"file": "a.txt", "from": 2, "to": 3})
        assert sent == {"sessions": 1}
        await running_claude.shows("@a.txt#L2-3")
        await running_claude.prompt("Go.")
        hunks = await running_claude.hunks(3)
        assert path.read_text() == SAVED
        await editor.command("stet.accept", {"hunk": hunks["1\n"]})
        await editor.command("stet.accept", {"hunk": hunks["3\n"], "new": "THREE\n"})
        await editor.command("stet.reject", {"hunk": hunks["five\n"], "reason": "four are enough"})
        merged = "1\ntwo, typed\nTHREE\nfour\n"
        await running_claude.is_written(path, merged)
        assert editor.text("a.txt") == merged
        await running_claude.shows("Done.")
        await running_claude.prompt("Next.")
        await running_claude.shows("Seen.")
    asked = "\n".join(script.requests[0].texts)
    assert "This may or may not be related to the current task." in asked  # what is selected
    assert "The user modified your proposed" in script.requests[2].results[1]
    assert "four are enough" in "\n".join(script.requests[3].texts)
    script.check_played()
    assert locks_in(scene.home / ".claude") == []


async def test_rejection_and_answer_in_the_terminal(claude: Path, scene: Scene) -> None:
    path = scene.workspace / "a.txt"
    edit = call("Edit", file_path=str(path), old_string="two", new_string="2")
    script = Script([call("Read", file_path=str(path)), edit, edit, say("Done.")])
    async with running(claude, scene, script) as running_claude:
        editor = running_claude.editor
        await running_claude.prompt("Go.")
        hunks = await running_claude.hunks(1)
        await editor.command("stet.reject", {"hunk": hunks["2\n"]})
        await running_claude.shows("Rejected update to a.txt")
        assert path.read_text() == SAVED
        await running_claude.prompt("Again.")
        await running_claude.hunks(1)
        await running_claude.agree("Do you want to make this edit to a.txt?")
        await running_claude.is_written(path, SAVED.replace("two", "2"))
        await running_claude.hunks(0)
        await running_claude.shows("Done.")
    script.check_played()


async def test_line_ends_stay(claude: Path, scene: Scene) -> None:
    path = scene.workspace / "a.txt"
    calls = [
        call("Read", file_path=str(path)),
        call("Edit", file_path=str(path), old_string="two", new_string="2"),
    ]
    script = Script([*calls, say("Done.")])
    async with running(claude, scene, script, "one\r\ntwo\r\nthree\r\n") as running_claude:
        await running_claude.prompt("Go.")
        hunks = await running_claude.hunks(1)
        await running_claude.editor.command("stet.accept", {"hunk": hunks["2\r\n"]})
        await running_claude.is_written(path, "one\r\n2\r\nthree\r\n")
        await running_claude.shows("Done.")
