"""Stet's plugin in the real OpenCode: tasks, attached files, settings, and a hook that fails."""

import asyncio
import re
from pathlib import Path

import pytest

from tests.agents.opencode import run_opencode
from tests.agents.review_scenario import STET, install_in_thread, runtime
from tests.agents.scene import Scene, texts
from tests.conftest import Part
from tests.parts.opencode import opencode as program
from tests.support.agent_models.script import Answer, ModelRequest, Script, call, say
from tests.support.editor import FakeEditor
from tests.support.restarts import until_killed

pytestmark = pytest.mark.slow


@pytest.fixture
async def opencode(part: Part, scene: Scene) -> Path:
    """Return the program; Stet's plugin is installed."""
    found = part(program)
    await install_in_thread(scene, "opencode")
    return found


def read(file: Path) -> Answer:
    """Make the call that reads a file or lists a folder."""
    return call("read", filePath=str(file))


def edited(file: Path, old: str, new: str) -> Answer:
    """Make the call that replaces a text of a file."""
    return call("edit", filePath=str(file), oldString=old, newString=new)


class ReadsCopyOf(Script):
    """A model that reads a file, and then the copy of another file beside the first one's."""

    def __init__(self, file: Path, other: Path) -> None:
        super().__init__([read(file), say("Done.")])
        self._name = other.name

    def next(self, request: ModelRequest) -> Answer:
        """Record a request; return its answer."""
        if len(self.requests) != 1:
            return super().next(request)
        self.requests.append(request)
        [path] = re.findall(r"Read and edit a\.txt as (\S+):", request.results[-1])
        return read(Path(path).with_name(self._name))


async def make_repository(folder: Path) -> None:
    """Make a folder a repository of git."""
    process = await asyncio.create_subprocess_exec("git", "init", "-q", str(folder))
    assert await process.wait() == 0


def plugin_of(scene: Scene) -> Path:
    """Return the plugin that was installed."""
    return scene.home / ".config" / "opencode" / "plugin" / "stet.js"


async def test_opencode_s_tasks_see_the_pending_text_of_their_session(
    opencode: Path, scene: Scene, editor: FakeEditor
) -> None:
    """A task has a session of its own. What it edits is counted with its session's hunks.

    The copies are allowed, other folders only as the user's settings say.
    """
    file = scene.workspace / "a.txt"
    script = Script(
        [
            edited(file, "two", "2"),
            call("task", description="d", prompt="Do it.", subagent_type="general"),
            read(file),
            edited(file, "one, unsaved", "1"),
            say("The task is done."),
            say("Done."),
        ]
    )
    await run_opencode(
        opencode, scene.home, scene.workspace, script,
        environment=runtime(scene),
        settings={"permission": {"external_directory": {"*": "deny", "/srv/*": "allow"}}},
    )  # fmt: skip
    first_of_task = script.requests[2]
    assert "The user reviews your edits in an editor, with Stet." in first_of_task.texts[-1]
    assert "1: one, unsaved\n2: 2\n" in script.requests[3].results[-1]
    listed = await editor.command("stet.proposals", {"state": "pending"})
    assert [item["new"] for item in listed] == ["1\n", "2\n"]
    assert len({item["chat"] for item in listed}) == 1
    assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}
    await editor.wait_until(lambda: "opencode proposed 2 hunks to review" in str(editor.messages))


async def test_opencode_lists_folders_and_is_sent_the_unsaved_text_of_attached_files(
    opencode: Path, scene: Scene, editor: FakeEditor
) -> None:
    """The copies of other agents are not allowed."""
    other = scene.notes / "stet" / "shadow" / "1" / "claude-1" / "a.txt"
    other.parent.mkdir(parents=True)
    other.write_text("another's\n")
    script = Script([read(scene.workspace), read(other)])
    events = await run_opencode(
        opencode, scene.home, scene.workspace, script, "--file", "a.txt",
        environment=runtime(scene),
    )  # fmt: skip
    sent = "\n".join(script.requests[0].texts)
    assert "1: one\n2: two\n" in sent  # OpenCode's own: it reads the disk
    assert "-one\n+one, unsaved\n" in sent.partition("1: one\n2: two\n")[2]
    assert "a.txt" in script.requests[1].results[0]
    used = [one["part"]["state"] for one in events if one["type"] == "tool_use"]
    assert "rejected permission" in used[-1]["error"]


async def test_opencode_s_agent_with_few_permissions_reads_copies(
    opencode: Path, scene: Scene, editor: FakeEditor
) -> None:
    reader = {"mode": "primary", "permission": {"*": "deny", "read": "allow"}}
    script = Script([read(scene.workspace / "a.txt"), say("Done.")])
    await run_opencode(
        opencode, scene.home, scene.workspace, script,
        environment=runtime(scene),
        settings={"agent": {"reader": reader}, "default_agent": "reader"},
    )  # fmt: skip
    assert "1: one, unsaved\n" in script.requests[1].results[0]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("kill -9 $$", "stet hook ended: SIGKILL"),
        ("sleep 60", "stet hook has not answered for 1 seconds"),
    ],
)
async def test_edits_are_refused_and_reads_pass_where_the_hook_fails(
    command: str, reason: str, opencode: Path, scene: Scene
) -> None:
    broken = scene.notes / "stet.sh"
    broken.write_text(f"#!/bin/sh\n{command}\n")
    broken.chmod(0o755)
    text = plugin_of(scene).read_text()
    changed = text.replace(str(STET), str(broken)).replace("SECONDS = 30", "SECONDS = 1")
    plugin_of(scene).write_text(changed)
    file = scene.workspace / "a.txt"
    script = Script([read(file), edited(file, "two", "2"), say("Done.")])
    await run_opencode(opencode, scene.home, scene.workspace, script, environment=runtime(scene))
    results = script.requests[-1].results
    assert "1: one\n" in results[0]
    assert results[1].startswith("The edit was not made: the user reviews edits with Stet, and ")
    assert reason in results[1]
    assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}


async def test_opencode_works_where_stet_was_removed_without_its_plugin(
    opencode: Path, scene: Scene
) -> None:
    text = plugin_of(scene).read_text()
    plugin_of(scene).write_text(text.replace(str(STET), str(scene.notes / "nothing")))
    file = scene.workspace / "a.txt"
    script = Script([edited(file, "two", "2"), say("Done.")])
    await run_opencode(opencode, scene.home, scene.workspace, script, environment=runtime(scene))
    assert texts(scene.workspace) == {"a.txt": "one\n2\n"}


@pytest.mark.parametrize(
    ("rules", "is_allowed"),
    [
        ({"read": {"*": "allow", "a.txt": "deny"}}, False),
        ({"read": {"*": "allow", "a.txt": "ask"}}, False),
        ({"edit": {"*": "allow", "a.txt": "deny"}}, False),
        ({"edit": {"*": "deny", "a.txt": "allow"}}, True),
    ],
)
async def test_rules_of_the_user_for_paths_hold_for_copies(
    rules: dict[str, dict[str, str]], is_allowed: bool, opencode: Path, scene: Scene
) -> None:
    """In a repository, OpenCode's rules are for paths below its top folder."""
    await make_repository(scene.workspace)
    file = scene.workspace / "a.txt"
    script = Script([read(file) if "read" in rules else edited(file, "two", "2"), say("Done.")])
    async with until_killed(scene.workspace, env=runtime(scene)) as editor:
        await editor.command("stet.proposals")
        events = await run_opencode(
            opencode, scene.home, scene.workspace, script,
            environment=runtime(scene), settings={"permission": rules}, is_played=False,
        )  # fmt: skip
    [used] = [one["part"]["state"] for one in events if one["type"] == "tool_use"]
    assert (used["status"] == "completed") == is_allowed
    refusals = "user has specified a rule|rejected permission|user's rules do not allow this"
    assert is_allowed or re.search(refusals, used["error"])
    assert file.read_text() == "one\ntwo\n"


async def test_rules_of_the_user_hold_for_a_copy_that_the_agent_names(
    opencode: Path, scene: Scene
) -> None:
    await make_repository(scene.workspace)
    async with until_killed(scene.workspace, env=runtime(scene)) as editor:
        await editor.command("stet.proposals")
        script = ReadsCopyOf(scene.workspace / "a.txt", scene.workspace / "b.txt")
        (scene.workspace / "b.txt").write_text("hidden\n")
        await run_opencode(
            opencode, scene.home, scene.workspace, script, environment=runtime(scene),
            settings={"permission": {"read": {"*": "allow", "b.txt": "deny"}}},
        )  # fmt: skip
    assert "The user's rules do not allow this copy." in script.requests[2].results[-1]
