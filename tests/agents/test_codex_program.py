"""What Stet relies on in Codex: its hooks, with the real program and a scripted model.

A model has the tools `apply_patch` and `exec_command`, or, as most since GPT-5.6, one tool `exec`
that runs JavaScript which calls them. Hooks are the same for both.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.agents.codex import run_codex
from tests.agents.hook_replies import DENY, REDIRECT, context
from tests.agents.hooks import Hooks
from tests.agents.loopback_process import has_namespaces
from tests.agents.scene import Scene, texts
from tests.conftest import Part
from tests.parts.codex import codex as program
from tests.support.agent_models.script import Answer, Script, call, say

pytestmark = pytest.mark.slow

ADDED = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\n"


def updated(old: str, new: str) -> str:
    """Return the patch that replaces one line of `a.txt`."""
    return f"*** Begin Patch\n*** Update File: a.txt\n@@\n-{old}\n+{new}\n*** End Patch\n"


@dataclass(frozen=True)
class Tools:
    """How a model calls its tools: by name, or from JavaScript."""

    model: str
    is_code: bool

    def patch(self, patch: str) -> Answer:
        """Make the call of `apply_patch`."""
        code = f"text(await tools.apply_patch({json.dumps(patch)}))"
        return call("exec", input=code) if self.is_code else call("apply_patch", input=patch)

    def shell(self, command: str) -> Answer:
        """Make the call of `exec_command`."""
        code = f"text((await tools.exec_command({json.dumps({'cmd': command})})).output)"
        return call("exec", input=code) if self.is_code else call("exec_command", cmd=command)


BY_NAME = Tools("gpt-5.5", is_code=False)
BY_CODE = Tools("gpt-6.2-sol", is_code=True)
both = pytest.mark.parametrize("tools", [BY_NAME, BY_CODE], ids=lambda tools: tools.model)


@pytest.fixture
def codex(part: Part) -> Path:
    """Return the program."""
    return part(program)


@both
async def test_codex_without_hooks_writes_the_disk(codex: Path, scene: Scene, tools: Tools) -> None:
    script = Script([tools.patch(updated("two", "2")), say("Done.")])
    await run_codex(codex, scene.home, scene.workspace, script, model=tools.model)
    assert texts(scene.workspace) == {"a.txt": "one\n2\n"}


@both
async def test_codex_reads_and_edits_where_a_hook_redirects_it(
    codex: Path, scene: Scene, tools: Tools
) -> None:
    """`updatedInput` holds for patches and for commands. A patch is not checked before the hook, so
    that it may quote what only the shadow has. The shadow is a folder that the user has added.
    """
    answers = [
        tools.shell("cat a.txt"),
        tools.patch(updated("one, unsaved", "1")),
        tools.patch(updated("1", "11")),
        tools.patch(ADDED),
    ]
    script = Script([*answers, say("Done.")])
    paths = {name: scene.shadow / name for name in ("a.txt", "new.txt")}
    hooks = Hooks(scene.notes, {"PreToolUse": REDIRECT}, paths)
    await run_codex(
        codex, scene.home, scene.workspace, script, "--add-dir", str(scene.shadow),
        model=tools.model, hooks=hooks,
    )  # fmt: skip
    assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}
    assert texts(scene.shadow) == {"a.txt": "11\ntwo\n", "new.txt": "new\n"}
    done = [
        f"{one['tool_name']}: {one['tool_input']['command']}"
        for one in hooks.inputs_of("PostToolUse")
    ]
    assert scene.shown([one.partition("\n@@")[0] for one in done]) == snapshot(
        [
            "Bash: cat SHADOW/a.txt",
            """\
apply_patch: *** Begin Patch
*** Update File: SHADOW/a.txt\
""",
            """\
apply_patch: *** Begin Patch
*** Update File: SHADOW/a.txt\
""",
            """\
apply_patch: *** Begin Patch
*** Add File: SHADOW/new.txt
+new
*** End Patch
""",
        ]
    )


@pytest.mark.skipif(not has_namespaces(), reason="Codex has no sandbox on this system")
async def test_codex_is_refused_a_shadow_that_the_user_has_not_added(
    codex: Path, scene: Scene
) -> None:
    script = Script([BY_NAME.patch(updated("one, unsaved", "1")), say("Done.")])
    hooks = Hooks(scene.notes, {"PreToolUse": REDIRECT}, {"a.txt": scene.shadow / "a.txt"})
    await run_codex(codex, scene.home, scene.workspace, script, model=BY_NAME.model, hooks=hooks)
    assert script.requests[1].results == snapshot(
        ("patch rejected: writing outside of the project; rejected by user approval settings",)
    )
    assert texts(scene.shadow) == {"a.txt": "one, unsaved\ntwo\n"}
    assert [event for event, _ in hooks.events] == snapshot(
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"]
    )


@both
async def test_codex_applies_the_patch_of_a_command_itself(
    codex: Path, scene: Scene, tools: Tools
) -> None:
    """The hook before it names the shell, and no hook follows: the shell has not run."""
    folder = scene.workspace / "sub"
    folder.mkdir()
    (folder / "a.txt").write_text("two\n")
    command = f"cd sub && apply_patch <<'EOF'\n{updated('two', '2')}EOF\n"
    script = Script([tools.shell(command), say("Done.")])
    hooks = Hooks(scene.notes, {}, {})
    await run_codex(codex, scene.home, scene.workspace, script, model=tools.model, hooks=hooks)
    assert texts(folder) == {"a.txt": "2\n"}
    [before] = hooks.inputs_of("PreToolUse")
    assert before["tool_name"] == "Bash"
    assert before["tool_input"] == {"command": command}
    assert hooks.inputs_of("PostToolUse") == []


@both
async def test_codex_reads_the_reason_of_a_hook_that_denies(
    codex: Path, scene: Scene, tools: Tools
) -> None:
    script = Script([tools.patch(updated("two", "2")), say("Done.")])
    hooks = Hooks(scene.notes, {"PreToolUse": DENY}, {})
    await run_codex(codex, scene.home, scene.workspace, script, model=tools.model, hooks=hooks)
    (result,) = script.requests[1].results
    assert "Command blocked by PreToolUse hook: Taken as a proposal: hunk 7." in result
    assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}
    assert [event for event, _ in hooks.events] == snapshot(
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"]
    )


async def test_codex_passes_over_hooks_that_the_user_has_not_trusted(
    codex: Path, scene: Scene
) -> None:
    """Nothing that it prints names them, and the edit reaches the disk."""
    script = Script([BY_NAME.patch(updated("two", "2")), say("Done.")])
    hooks = Hooks(scene.notes, {"PreToolUse": DENY}, {})
    events = await run_codex(
        codex, scene.home, scene.workspace, script, model=BY_NAME.model, hooks=hooks,
        trusts_hooks=False,
    )  # fmt: skip
    assert hooks.events == []
    assert texts(scene.workspace) == {"a.txt": "one\n2\n"}
    assert "hook" not in json.dumps(scene.shown(events))


async def test_codex_is_sent_the_context_of_hooks(codex: Path, scene: Scene) -> None:
    script = Script([BY_NAME.shell("cat a.txt"), say("Done.")])
    replies = {
        event: context(event)
        for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse")
    }
    hooks = Hooks(scene.notes, replies, {})
    await run_codex(codex, scene.home, scene.workspace, script, model=BY_NAME.model, hooks=hooks)
    lines = [
        [text for text in one.texts if text.startswith("Context of")] for one in script.requests
    ]
    assert lines == snapshot(
        [
            ["Context of SessionStart.", "Context of UserPromptSubmit."],
            [
                "Context of SessionStart.",
                "Context of UserPromptSubmit.",
                "Context of PreToolUse.",
                "Context of PostToolUse.",
            ],
        ]
    )


async def test_the_input_of_each_hook_of_codex(codex: Path, scene: Scene) -> None:
    script = Script([BY_NAME.patch(updated("two", "2")), say("Done.")])
    hooks = Hooks(scene.notes, {}, {})
    await run_codex(codex, scene.home, scene.workspace, script, model=BY_NAME.model, hooks=hooks)
    inputs = dict(hooks.events)
    common = set.intersection(*map(set, inputs.values()))
    assert sorted(common) == snapshot(
        ["cwd", "hook_event_name", "model", "permission_mode", "session_id", "transcript_path"]
    )
    always = {*common, "turn_id", "tool_use_id"}
    shown = {
        event: scene.shown({name: value for name, value in given.items() if name not in always})
        for event, given in inputs.items()
    }
    shown["PostToolUse"]["tool_response"] = re.sub(
        r"Wall time: \S+", "Wall time: N", shown["PostToolUse"]["tool_response"]
    )
    assert shown == snapshot(
        {
            "SessionStart": {"source": "startup"},
            "UserPromptSubmit": {"prompt": "Go."},
            "PreToolUse": {
                "tool_name": "apply_patch",
                "tool_input": {
                    "command": """\
*** Begin Patch
*** Update File: a.txt
@@
-two
+2
*** End Patch
"""
                },
            },
            "PostToolUse": {
                "tool_name": "apply_patch",
                "tool_input": {
                    "command": """\
*** Begin Patch
*** Update File: a.txt
@@
-two
+2
*** End Patch
"""
                },
                "tool_response": """\
Exit code: 0
Wall time: N seconds
Output:
Success. Updated the following files:
M a.txt
""",
            },
            "Stop": {"stop_hook_active": False, "last_assistant_message": "Done."},
        }
    )
