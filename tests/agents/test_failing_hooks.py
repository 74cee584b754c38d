"""What an agent does where a hook that is asked before an edit fails.

OpenCode has no such case: its hooks are functions, and one that throws denies.
"""

from collections.abc import Awaitable, Callable

import pytest

from tests.agents.claude import hook_settings, run_claude
from tests.agents.codex import run_codex
from tests.agents.copilot import run_copilot
from tests.agents.hooks import Hooks
from tests.agents.scene import Scene, texts
from tests.conftest import Part
from tests.parts.claude_code import claude_code
from tests.parts.codex import codex
from tests.parts.copilot_cli import copilot_cache, copilot_cli
from tests.support.agent_models.script import Answer, Script, call, say

pytestmark = pytest.mark.slow

PATCH = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\n"


async def claude_writes(part: Part, scene: Scene, hooks: Hooks) -> str:
    """Have Claude Code write `new.txt`, as the user allows; return the result of the call."""
    script = written(call("Write", file_path=str(scene.workspace / "new.txt"), content="new\n"))
    await run_claude(
        part(claude_code), scene.home, scene.workspace, script, "--permission-mode", "acceptEdits",
        settings=hook_settings(hooks),
    )  # fmt: skip
    return script.requests[1].results[0]


async def codex_writes(part: Part, scene: Scene, hooks: Hooks) -> str:
    """Have Codex write `new.txt`, as the user allows; return the result of the call."""
    script = written(call("apply_patch", input=PATCH))
    await run_codex(part(codex), scene.home, scene.workspace, script, model="gpt-5.5", hooks=hooks)
    return script.requests[1].results[0]


async def copilot_writes(part: Part, scene: Scene, hooks: Hooks) -> str:
    """Have Copilot CLI write `new.txt`, as the user allows; return the result of the call."""
    part(copilot_cache)
    script = written(call("create", path=str(scene.workspace / "new.txt"), file_text="new\n"))
    await run_copilot(
        part(copilot_cli), scene.home, scene.workspace, script, "--allow-all-tools",
        model="claude-sonnet-4.5", hooks=hooks,
    )  # fmt: skip
    return script.requests[1].results[0]


def written(answer: Answer) -> Script:
    """Return the script of a model that calls one tool."""
    return Script([answer, say("Done.")])


Agent = Callable[[Part, Scene, Hooks], Awaitable[str]]


@pytest.mark.parametrize(
    ("agent", "code", "is_written", "result"),
    [
        (claude_writes, 1, True, "File created successfully"),
        (claude_writes, 2, False, "The hook failed."),
        (codex_writes, 1, True, "Success. Updated the following files:\nA new.txt"),
        (codex_writes, 2, False, "Command blocked by PreToolUse hook: The hook failed."),
        (copilot_writes, 1, False, "(hook errored)"),
        (copilot_writes, 2, False, "Denied by preToolUse hook: hook exited with code 2"),
    ],
)
async def test_a_failing_hook_lets_claude_and_codex_write_unless_it_exits_with_2(
    part: Part, scene: Scene, agent: Agent, code: int, is_written: bool, result: str
) -> None:
    failure = {"$fails": code}
    hooks = Hooks(scene.notes, {"PreToolUse": failure, "preToolUse": failure}, {})
    assert result in await agent(part, scene, hooks)
    assert ("new.txt" in texts(scene.workspace)) == is_written
