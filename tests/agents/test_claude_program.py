"""What Stet relies on in Claude Code: its hooks, with the real program and a scripted model."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.agents.claude import hook_settings, run_claude
from tests.agents.hook_replies import DENY, REDIRECT, context
from tests.agents.hooks import Hooks
from tests.agents.scene import Scene, texts
from tests.conftest import Part
from tests.parts.claude_code import VERSION, claude_code
from tests.support.agent_models.script import Answer, Script, call, say

pytestmark = pytest.mark.slow

FILE_STATE = " (file state is current in your context — no need to Read it back)"


def table(answers: Sequence[Answer], script: Script, hooks: Hooks) -> list[str]:
    """Return a row for each call of the model: its tool and file, the hooks that were called for
    it, and the result that the model was sent.
    """
    rows = []
    results = script.requests[-1].results
    for number, (answer, result) in enumerate(zip(answers, results, strict=True), 1):
        (one,) = answer.calls
        called = [
            event
            for event, given in hooks.events
            if given.get("tool_use_id") == f"toolu_{number}_0"
        ]
        shown = result.replace(FILE_STATE, "").replace("\n", "⏎")
        rows.append(f"{one.name} {one.arguments['file_path']} | {' '.join(called)} | {shown}")
    return rows


@pytest.fixture
def claude(part: Part) -> Path:
    """Return the program."""
    return part(claude_code)


async def test_claude_without_hooks_writes_the_disk(claude: Path, scene: Scene) -> None:
    path = str(scene.workspace / "a.txt")
    calls = [
        call("Read", file_path=path),
        call("Edit", file_path=path, old_string="two", new_string="2"),
    ]
    script = Script([*calls, say("Done.")])
    events = await run_claude(
        claude, scene.home, scene.workspace, script, "--permission-mode", "acceptEdits"
    )
    assert events[0]["claude_code_version"] == VERSION
    assert events[-1]["result"] == "Done."
    assert texts(scene.workspace) == {"a.txt": "one\n2\n"}
    assert {"Read", "Edit", "Write"} <= set(script.requests[0].tools)
    assert scene.shown(table(calls, script, Hooks(scene.notes, {}, {}))) == snapshot(
        [
            "Read WORKSPACE/a.txt |  | 1\tone⏎2\ttwo⏎3\t",
            "Edit WORKSPACE/a.txt |  | The file WORKSPACE/a.txt has been updated successfully.",
        ]
    )


async def test_claude_reads_and_edits_where_a_hook_redirects_it(claude: Path, scene: Scene) -> None:
    """`updatedInput` holds for Read, Edit and Write. The user is not asked, and `PostToolUse` is
    given the other path.
    """
    path = str(scene.workspace / "a.txt")
    calls = [
        call("Read", file_path=path),
        call("Edit", file_path=path, old_string="two", new_string="2"),
        call("Write", file_path=str(scene.workspace / "new.txt"), content="new\n"),
        call("Read", file_path=path),
    ]
    script = Script([*calls, say("Done.")])
    hooks = Hooks(scene.notes, {"PreToolUse": REDIRECT}, {str(scene.workspace): scene.shadow})
    await run_claude(claude, scene.home, scene.workspace, script, settings=hook_settings(hooks))
    assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}
    assert texts(scene.shadow) == {"a.txt": "one, unsaved\n2\n", "new.txt": "new\n"}
    assert scene.shown(table(calls, script, hooks)) == snapshot(
        [
            "Read WORKSPACE/a.txt | PreToolUse PostToolUse | 1\tone, unsaved⏎2\ttwo⏎3\t",
            "Edit WORKSPACE/a.txt | PreToolUse PostToolUse | The file SHADOW/a.txt has been updated successfully.",
            "Write WORKSPACE/new.txt | PreToolUse PostToolUse | File created successfully at: SHADOW/new.txt",
            "Read WORKSPACE/a.txt | PreToolUse PostToolUse | 1\tone, unsaved⏎2\t2⏎3\t",
        ]
    )
    done = [
        f"{one['tool_name']} {one['tool_input']['file_path']}"
        for one in hooks.inputs_of("PostToolUse")
    ]
    assert scene.shown(done) == snapshot(
        ["Read SHADOW/a.txt", "Edit SHADOW/a.txt", "Write SHADOW/new.txt", "Read SHADOW/a.txt"]
    )


async def test_claude_checks_an_edit_against_the_named_file_before_it_calls_a_hook(
    claude: Path, scene: Scene
) -> None:
    """An edit of text that only the shadow has fails before any hook is called, so that a hook can
    neither redirect nor deny it. It works where the model itself names the shadow's path.
    """
    path, new = str(scene.workspace / "a.txt"), str(scene.workspace / "new.txt")
    unsaved = {"old_string": "one, unsaved", "new_string": "1"}
    calls = [
        call("Read", file_path=path),
        call("Edit", file_path=path, **unsaved),
        call("Edit", file_path=str(scene.shadow / "a.txt"), **unsaved),
        call("Write", file_path=new, content="new\n"),
        call("Edit", file_path=new, old_string="new", new_string="newer"),
        call("Edit", file_path=str(scene.shadow / "new.txt"), old_string="new", new_string="newer"),
    ]
    script = Script([*calls, say("Done.")])
    hooks = Hooks(scene.notes, {"PreToolUse": REDIRECT}, {str(scene.workspace): scene.shadow})
    await run_claude(claude, scene.home, scene.workspace, script, settings=hook_settings(hooks))
    assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}
    assert texts(scene.shadow) == {"a.txt": "1\ntwo\n", "new.txt": "newer\n"}
    assert scene.shown(table(calls, script, hooks)) == snapshot(
        [
            "Read WORKSPACE/a.txt | PreToolUse PostToolUse | 1\tone, unsaved⏎2\ttwo⏎3\t",
            "Edit WORKSPACE/a.txt |  | <tool_use_error>String to replace not found in file.⏎String: one, unsaved</tool_use_error>",
            "Edit SHADOW/a.txt | PreToolUse PostToolUse | The file SHADOW/a.txt has been updated successfully.",
            "Write WORKSPACE/new.txt | PreToolUse PostToolUse | File created successfully at: SHADOW/new.txt",
            "Edit WORKSPACE/new.txt |  | <tool_use_error>File does not exist. Note: your current working directory is WORKSPACE.</tool_use_error>",
            "Edit SHADOW/new.txt | PreToolUse PostToolUse | The file SHADOW/new.txt has been updated successfully.",
        ]
    )


async def test_claude_is_redirected_also_where_other_hooks_reply_nothing(
    claude: Path, scene: Scene
) -> None:
    path = str(scene.workspace / "a.txt")
    script = Script([call("Read", file_path=path), say("Done.")])
    hooks = Hooks(scene.notes, {"PreToolUse": REDIRECT}, {str(scene.workspace): scene.shadow})
    settings = hook_settings(hooks)
    other = {"hooks": [{"type": "command", "command": hooks.command("another")}]}
    settings["hooks"]["PreToolUse"] = [other, *settings["hooks"]["PreToolUse"], other]
    await run_claude(claude, scene.home, scene.workspace, script, settings=settings)
    assert script.requests[-1].results == ("1\tone, unsaved\n2\ttwo\n3\t",)


async def test_claude_reads_the_reason_of_a_hook_that_denies(claude: Path, scene: Scene) -> None:
    path = str(scene.workspace / "new.txt")
    script = Script([call("Write", file_path=path, content="new\n"), say("Done.")])
    hooks = Hooks(scene.notes, {"PreToolUse": DENY}, {})
    events = await run_claude(
        claude, scene.home, scene.workspace, script, settings=hook_settings(hooks)
    )
    assert script.requests[1].results == snapshot(
        ("PreToolUse:Write hook error: Taken as a proposal: hunk 7.",)
    )
    assert events[-1]["result"] == "Done."
    assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}
    assert [event for event, _ in hooks.events] == snapshot(
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd"]
    )


async def test_claude_is_sent_the_context_of_hooks(claude: Path, scene: Scene) -> None:
    script = Script([call("Read", file_path=str(scene.workspace / "a.txt")), say("Done.")])
    replies = {
        event: context(event)
        for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse")
    }
    hooks = Hooks(scene.notes, replies, {})
    await run_claude(claude, scene.home, scene.workspace, script, settings=hook_settings(hooks))
    lines = [
        [line for text in one.texts for line in text.splitlines() if "Context of" in line]
        for one in script.requests
    ]
    assert lines == snapshot(
        [
            [
                "SessionStart hook additional context: Context of SessionStart.",
                "UserPromptSubmit hook additional context: Context of UserPromptSubmit.",
            ],
            [
                "SessionStart hook additional context: Context of SessionStart.",
                "UserPromptSubmit hook additional context: Context of UserPromptSubmit.",
                "PreToolUse:Read hook additional context: Context of PreToolUse.",
                "PostToolUse:Read hook additional context: Context of PostToolUse.",
            ],
        ]
    )


async def test_the_input_of_each_hook_of_claude(claude: Path, scene: Scene) -> None:
    """The edit of text that is not in the file calls no hook."""
    path = str(scene.workspace / "a.txt")
    script = Script(
        [
            call("Read", file_path=path),
            call("Edit", file_path=path, old_string="not there", new_string="2"),
            call("Edit", file_path=path, old_string="two", new_string="2"),
            say("Done."),
        ]
    )
    hooks = Hooks(scene.notes, {}, {})
    await run_claude(
        claude, scene.home, scene.workspace, script, "--permission-mode", "acceptEdits",
        settings=hook_settings(hooks),
    )  # fmt: skip
    sequence = [f"{event} {given.get('tool_name', '')}".strip() for event, given in hooks.events]
    assert sequence == snapshot(
        [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse Read",
            "PostToolUse Read",
            "PreToolUse Edit",
            "PostToolUse Edit",
            "Stop",
            "SessionEnd",
        ]
    )
    inputs = dict(hooks.events)
    common = set.intersection(*map(set, inputs.values()))
    assert sorted(common) == snapshot(["cwd", "hook_event_name", "session_id", "transcript_path"])
    always = {*common, "prompt_id", "permission_mode", "effort", "tool_use_id", "duration_ms"}
    assert {
        event: scene.shown({name: value for name, value in given.items() if name not in always})
        for event, given in inputs.items()
    } == snapshot(
        {
            "SessionStart": {"source": "startup"},
            "UserPromptSubmit": {"prompt": "Go."},
            "PreToolUse": {
                "tool_name": "Edit",
                "tool_input": {
                    "file_path": "WORKSPACE/a.txt",
                    "old_string": "two",
                    "new_string": "2",
                    "replace_all": False,
                },
            },
            "PostToolUse": {
                "tool_name": "Edit",
                "tool_input": {
                    "file_path": "WORKSPACE/a.txt",
                    "old_string": "two",
                    "new_string": "2",
                    "replace_all": False,
                },
                "tool_response": {
                    "filePath": "WORKSPACE/a.txt",
                    "oldString": "two",
                    "newString": "2",
                    "originalFile": """\
one
two
""",
                    "structuredPatch": [
                        {
                            "oldStart": 1,
                            "oldLines": 2,
                            "newStart": 1,
                            "newLines": 2,
                            "lines": [" one", "-two", "+2"],
                        }
                    ],
                    "userModified": False,
                    "replaceAll": False,
                },
            },
            "Stop": {
                "stop_hook_active": False,
                "last_assistant_message": "Done.",
                "background_tasks": [],
                "session_crons": [],
            },
            "SessionEnd": {"reason": "other"},
        }
    )
