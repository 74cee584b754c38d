"""What Stet relies on in OpenCode: a plugin's hooks, with the real program and a scripted model."""

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from tests.agents.hooks import Hooks
from tests.agents.opencode import run_opencode
from tests.agents.scene import Scene, texts
from tests.conftest import Part
from tests.parts.opencode import opencode as program
from tests.support.agent_models.script import Answer, Script, call, say

pytestmark = pytest.mark.slow

REDIRECT = {"tool.execute.before": {"redirect": True}}


def edited(file: Path, old: str, new: str) -> Answer:
    """Make the call that replaces a text of a file."""
    return call("edit", filePath=str(file), oldString=old, newString=new)


def what_stays(value: Any) -> Any:
    """Return a JSON value without what differs from run to run."""
    if isinstance(value, list):
        return [what_stays(one) for one in value]
    if not isinstance(value, dict):
        return value
    varying = {"id", "sessionID", "messageID", "time", "title"}
    return {name: what_stays(one) for name, one in value.items() if name not in varying}


@pytest.fixture
def opencode(part: Part) -> Path:
    """Return the program."""
    return part(program)


async def test_opencode_reads_and_edits_where_a_hook_redirects_it(
    opencode: Path, scene: Scene
) -> None:
    """Assigned arguments hold for all tools. An edit is not checked before the hook, so that it may
    quote what only the shadow has. The shadow is a folder that the user's settings allow.
    """
    file, new = scene.workspace / "a.txt", scene.workspace / "new.txt"
    answers = [
        call("read", filePath=str(file)),
        edited(file, "one, unsaved", "1"),
        edited(file, "1", "11"),
        call("write", filePath=str(new), content="new\n"),
        edited(new, "new", "newer"),
    ]
    script = Script([*answers, say("Done.")])
    hooks = Hooks(scene.notes, REDIRECT, {str(scene.workspace): scene.shadow})
    await run_opencode(
        opencode, scene.home, scene.workspace, script, hooks=hooks, allowed=scene.shadow
    )
    assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}
    assert texts(scene.shadow) == {"a.txt": "11\ntwo\n", "new.txt": "newer\n"}
    done = [
        f"{one['input']['tool']} {one['input']['args']['filePath']}"
        for one in hooks.inputs_of("tool.execute.after")
    ]
    assert scene.shown(done) == snapshot(
        [
            "read SHADOW/a.txt",
            "edit SHADOW/a.txt",
            "edit SHADOW/a.txt",
            "write SHADOW/new.txt",
            "edit SHADOW/new.txt",
        ]
    )
    assert "1: one, unsaved" in script.requests[1].results[0]


async def test_opencode_ends_its_turn_where_the_shadow_is_not_allowed(
    opencode: Path, scene: Scene
) -> None:
    script = Script([call("read", filePath=str(scene.workspace / "a.txt"))])
    hooks = Hooks(scene.notes, REDIRECT, {str(scene.workspace): scene.shadow})
    events = await run_opencode(opencode, scene.home, scene.workspace, script, hooks=hooks)
    assert [event for event, _ in hooks.events] == ["chat.message", "tool.execute.before"]
    assert [one["part"]["state"]["error"] for one in events if one["type"] == "tool_use"] == (
        snapshot(["The user rejected permission to use this specific tool call."])
    )


async def test_opencode_reads_the_reason_of_a_hook_that_denies(
    opencode: Path, scene: Scene
) -> None:
    script = Script([edited(scene.workspace / "a.txt", "two", "2"), say("Done.")])
    hooks = Hooks(
        scene.notes, {"tool.execute.before": {"deny": "Taken as a proposal: hunk 7."}}, {}
    )
    await run_opencode(opencode, scene.home, scene.workspace, script, hooks=hooks)
    assert script.requests[1].results == ("Taken as a proposal: hunk 7.",)
    assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}
    assert hooks.inputs_of("tool.execute.after") == []


async def test_the_input_of_each_hook_of_opencode_and_the_context_that_it_adds(
    opencode: Path, scene: Scene
) -> None:
    """An edit that can't be done calls no hook after it."""
    file = scene.workspace / "a.txt"
    script = Script([edited(file, "not there", "2"), edited(file, "two", "2"), say("Done.")])
    replies = {
        event: {"context": f"Context of {event}."}
        for event in ("chat.message", "tool.execute.after")
    }
    hooks = Hooks(scene.notes, replies, {})
    await run_opencode(opencode, scene.home, scene.workspace, script, hooks=hooks)
    assert texts(scene.workspace) == {"a.txt": "one\n2\n"}
    assert [event for event, _ in hooks.events] == snapshot(
        ["chat.message", "tool.execute.before", "tool.execute.before", "tool.execute.after"]
    )
    assert scene.shown(what_stays(dict(hooks.events))) == snapshot(
        {
            "chat.message": {
                "input": {},
                "output": {
                    "message": {
                        "role": "user",
                        "agent": "build",
                        "model": {"providerID": "here", "modelID": "m"},
                    },
                    "parts": [{"type": "text", "text": "Go."}],
                },
            },
            "tool.execute.before": {
                "input": {"tool": "edit", "callID": "call_2"},
                "output": {
                    "args": {"filePath": "WORKSPACE/a.txt", "oldString": "two", "newString": "2"}
                },
            },
            "tool.execute.after": {
                "input": {
                    "tool": "edit",
                    "callID": "call_2",
                    "args": {"filePath": "WORKSPACE/a.txt", "oldString": "two", "newString": "2"},
                },
                "output": {
                    "metadata": {
                        "diagnostics": {},
                        "diff": """\
Index: WORKSPACE/a.txt
===================================================================
--- WORKSPACE/a.txt
+++ WORKSPACE/a.txt
@@ -1,2 +1,2 @@
 one
-two
+2
""",
                        "filediff": {
                            "file": "WORKSPACE/a.txt",
                            "patch": """\
Index: WORKSPACE/a.txt
===================================================================
--- WORKSPACE/a.txt
+++ WORKSPACE/a.txt
@@ -1,2 +1,2 @@
 one
-two
+2
""",
                            "additions": 1,
                            "deletions": 1,
                        },
                        "truncated": False,
                    },
                    "output": "Edit applied successfully.",
                },
            },
        }
    )
    assert script.requests[-1].texts == snapshot(
        (
            """\
Go.
Context of chat.message.\
""",
        )
    )
    assert script.requests[-1].results == snapshot(
        (
            "Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.",
            """\
Edit applied successfully.
Context of tool.execute.after.\
""",
        )
    )
