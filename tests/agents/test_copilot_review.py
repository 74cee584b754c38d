"""Stet's hooks in the real Copilot CLI: tasks, folders, mentioned files, and a hook that is late."""

import json
from pathlib import Path

import pytest

from tests.agents.copilot import run_copilot
from tests.agents.review_scenario import install_in_thread, runtime
from tests.agents.scene import Scene, texts
from tests.conftest import Part
from tests.parts.copilot_cli import copilot_cache, copilot_cli
from tests.support.agent_models.script import Answer, Script, call, say
from tests.support.editor import FakeEditor

pytestmark = pytest.mark.slow


@pytest.fixture
async def copilot(part: Part, scene: Scene) -> Path:
    """Return the program; Stet's hooks are installed."""
    part(copilot_cache)
    program = part(copilot_cli)
    await install_in_thread(scene, "copilot")
    return program


def viewed(file: Path) -> Answer:
    """Make the call that reads a file or lists a folder."""
    return call("view", path=str(file))


def edited(file: Path, old: str, new: str) -> Answer:
    """Make the call that replaces a text of a file."""
    return call("edit", path=str(file), old_str=old, new_str=new)


async def run(copilot: Path, scene: Scene, script: Script, *arguments: str) -> None:
    """Run Copilot CLI once with a model of Anthropic."""
    await run_copilot(
        copilot, scene.home, scene.workspace, script, *arguments,
        model="claude-sonnet-4.5", environment=runtime(scene),
    )  # fmt: skip


async def test_copilot_s_tasks_see_the_pending_text_of_their_session(
    copilot: Path, scene: Scene, editor: FakeEditor
) -> None:
    """A task has a session of its own. What it edits is counted with its session's hunks."""
    file = scene.workspace / "a.txt"
    task = call(
        "task", agent_type="general-purpose", name="n", description="d", prompt="Do it.",
        mode="sync",
    )  # fmt: skip
    answers = [edited(file, "two", "2"), task, viewed(file), edited(file, "one, unsaved", "1")]
    script = Script([*answers, say("The task is done."), say("Done.")])
    await run(copilot, scene, script)
    assert "The user reviews your edits in an editor" in "\n".join(script.requests[2].texts)
    assert script.requests[3].results[-1] == "one, unsaved\n2\n"
    listed = await editor.command("stet.proposals", {"state": "pending"})
    assert [item["new"] for item in listed] == ["1\n", "2\n"]
    assert len({item["chat"] for item in listed}) == 1
    assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}
    await editor.wait_until(lambda: "copilot proposed 2 hunks to review" in str(editor.messages))


async def test_copilot_lists_folders_and_is_sent_the_unsaved_text_of_mentioned_files(
    copilot: Path, scene: Scene, editor: FakeEditor
) -> None:
    script = Script([viewed(scene.workspace), say("Done.")])
    await run(copilot, scene, script, "-p", "Look at @a.txt.")
    assert "-one\n+one, unsaved\n" in "\n".join(script.requests[0].texts)
    assert "a.txt" in script.requests[1].results[0]


async def test_edit_of_copilot_that_did_not_wait_for_the_hook_is_reported(
    copilot: Path, scene: Scene
) -> None:
    """Copilot runs a tool whose hook takes longer than its time limit."""
    path = scene.home / ".copilot" / "hooks" / "stet.json"
    settings = json.loads(path.read_text())
    [hook] = settings["hooks"]["preToolUse"]
    hook |= {"bash": f"answer=$({hook['bash']}); sleep 4; echo $answer", "timeoutSec": 3}
    path.write_text(json.dumps(settings))
    file = scene.workspace / "a.txt"
    script = Script([edited(file, "two", "2"), say("Done.")])
    async with FakeEditor.start(scene.workspace, env=runtime(scene)) as editor:
        await editor.command("stet.proposals")
        await run(copilot, scene, script, "--allow-all-tools")
        assert texts(scene.workspace) == {"a.txt": "one\n2\n"}
        editor.write(file, file.read_text())  # what the agent has written
        sent = "\n".join((*script.requests[1].texts, *script.requests[1].results))
        assert "This change was written without the user's review." in sent
        [item] = await editor.command("stet.proposals", {"state": "pending"})
        warning = f"copilot has written a.txt to the disk, past the review. Accept {item['hunk']}"
        await editor.wait_until(lambda: warning in str(editor.messages))
        await editor.command("stet.accept", {"hunk": item["hunk"]})
        uri = editor.open("a.txt")
        await editor.wait_until(lambda: editor.text(uri) == "one\ntwo\n")
