"""What Stet relies on in Copilot CLI: its hooks, with the real program and a scripted model.

Claude's models have the tools `view`, `edit` and `create`; those of OpenAI have `view` and
`apply_patch`, whose input is the patch as a text.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.agents.copilot import Model, run_copilot
from tests.agents.hooks import Hooks
from tests.agents.scene import Scene, texts
from tests.conftest import Part
from tests.parts.copilot_cli import copilot_cache, copilot_cli
from tests.support.agent_models.script import Answer, Script, call, say

pytestmark = pytest.mark.slow

REDIRECT = {"permissionDecision": "allow", "modifiedArgs": {"$redirected": "toolArgs"}}
DENY = {
    "permissionDecision": "deny",
    "permissionDecisionReason": "Taken as a proposal: hunk 7.",
}


def edited(file: Path, old: str, new: str) -> Answer:
    """Make the call of a model of Anthropic that replaces a text of a file."""
    return call("edit", path=str(file), old_str=old, new_str=new)


def patched(file: Path, old: str, new: str) -> Answer:
    """Make the call of a model of OpenAI that replaces a line of a file."""
    patch = f"*** Begin Patch\n*** Update File: {file}\n@@\n-{old}\n+{new}\n*** End Patch\n"
    return call("apply_patch", input=patch)


def created(file: Path, text: str) -> Answer:
    """Make the call of a model of Anthropic that creates a file."""
    return call("create", path=str(file), file_text=f"{text}\n")


def added(file: Path, text: str) -> Answer:
    """Make the call of a model of OpenAI that creates a file."""
    return call(
        "apply_patch", input=f"*** Begin Patch\n*** Add File: {file}\n+{text}\n*** End Patch\n"
    )


Edit = Callable[[Path, str, str], Answer]
Create = Callable[[Path, str], Answer]
both = pytest.mark.parametrize(
    ("model", "edit", "create"),
    [("claude-sonnet-4.5", edited, created), ("gpt-5.4", patched, added)],
)


@pytest.fixture
def copilot(part: Part) -> Path:
    """Return the program."""
    part(copilot_cache)
    return part(copilot_cli)


async def test_copilot_without_a_reply_of_hooks_writes_the_disk(
    copilot: Path, scene: Scene
) -> None:
    file = scene.workspace / "a.txt"
    script = Script([edited(file, "two", "2"), say("Done.")])
    await run_copilot(
        copilot, scene.home, scene.workspace, script, "--allow-all-tools",
        model="claude-sonnet-4.5", hooks=Hooks(scene.notes, {}, {}),
    )  # fmt: skip
    assert texts(scene.workspace) == {"a.txt": "one\n2\n"}


@both
async def test_copilot_reads_and_edits_where_a_hook_redirects_it(
    copilot: Path, scene: Scene, model: Model, edit: Edit, create: Create
) -> None:
    """`modifiedArgs` holds for all tools. An edit is not checked before the hook, so that it may
    quote what only the shadow has. What the hook allows is allowed in the shadow too, which is no
    folder that the user has added.
    """
    file, new = scene.workspace / "a.txt", scene.workspace / "new.txt"
    answers = [
        call("view", path=str(file)),
        edit(file, "one, unsaved", "1"),
        edit(file, "1", "11"),
        create(new, "new"),
        edit(new, "new", "newer"),
    ]
    script = Script([*answers, say("Done.")])
    hooks = Hooks(scene.notes, {"preToolUse": REDIRECT}, {str(scene.workspace): scene.shadow})
    await run_copilot(copilot, scene.home, scene.workspace, script, model=model, hooks=hooks)
    assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}
    assert texts(scene.shadow) == {"a.txt": "11\ntwo\n", "new.txt": "newer\n"}
    results = scene.shown(script.requests[-1].results)
    assert results[0] == "one, unsaved\ntwo\n"
    assert all("SHADOW" in one and "WORKSPACE" not in one for one in results[1:])
    assert ["SHADOW" in str(scene.shown(one)) for one in hooks.inputs_of("postToolUse")] == [
        True
    ] * 5


@both
async def test_copilot_reads_the_reason_of_a_hook_that_denies(
    copilot: Path, scene: Scene, model: Model, edit: Edit, create: Create
) -> None:
    script = Script([edit(scene.workspace / "a.txt", "two", "2"), say("Done.")])
    hooks = Hooks(scene.notes, {"preToolUse": DENY}, {})
    await run_copilot(
        copilot, scene.home, scene.workspace, script, "--allow-all-tools", model=model, hooks=hooks
    )
    assert script.requests[1].results == snapshot(
        ("Denied by preToolUse hook: Taken as a proposal: hunk 7.",)
    )
    assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}
    assert hooks.inputs_of("postToolUse") + hooks.inputs_of("postToolUseFailure") == []


@pytest.mark.parametrize("rule", ["read", "write"])
async def test_yes_of_a_hook_is_stronger_than_a_rule_that_denies(
    rule: str, copilot: Path, scene: Scene
) -> None:
    """Without a yes, the shadow is a folder that the user has not added."""
    file = scene.workspace / "a.txt"
    answer = call("view", path=str(file)) if rule == "read" else edited(file, "two", "2")
    script = Script([answer, say("Done.")])
    hooks = Hooks(scene.notes, {"preToolUse": REDIRECT}, {str(scene.workspace): scene.shadow})
    await run_copilot(
        copilot, scene.home, scene.workspace, script, "--allow-all-tools", "--deny-tool", rule,
        model="claude-sonnet-4.5", hooks=hooks,
    )  # fmt: skip
    assert "denied" not in script.requests[1].results[0]


async def test_copilot_is_sent_the_context_of_hooks(copilot: Path, scene: Scene) -> None:
    script = Script([call("view", path=str(scene.workspace / "a.txt")), say("Done.")])
    replies = {
        event: {"additionalContext": f"Context of {event}."}
        for event in ("sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse")
    }
    await run_copilot(
        copilot, scene.home, scene.workspace, script, "--allow-all-tools",
        model="claude-sonnet-4.5", hooks=Hooks(scene.notes, replies, {}),
    )  # fmt: skip
    lines = [
        [line for line in "\n".join(one.texts + one.results).splitlines() if "Context" in line]
        for one in script.requests
    ]
    assert lines == snapshot(
        [
            ["Context of sessionStart.", "Context of userPromptSubmitted."],
            [
                "Context of sessionStart.",
                "Context of userPromptSubmitted.",
                "Context of preToolUse.",
                "Context of postToolUse.",
            ],
        ]
    )


async def test_the_input_of_each_hook_of_copilot(copilot: Path, scene: Scene) -> None:
    """The edit that can't be done calls `postToolUseFailure`. The first two hooks run at the same
    time, so that their order is not certain.
    """
    file = scene.workspace / "a.txt"
    script = Script([edited(file, "not there", "2"), edited(file, "two", "2"), say("Done.")])
    hooks = Hooks(scene.notes, {}, {})
    await run_copilot(
        copilot, scene.home, scene.workspace, script, "--allow-all-tools",
        model="claude-sonnet-4.5", hooks=hooks,
    )  # fmt: skip
    assert [event for event, _ in hooks.events[2:]] == snapshot(
        ["preToolUse", "postToolUseFailure", "preToolUse", "postToolUse", "agentStop", "sessionEnd"]
    )
    session = hooks.inputs_of("sessionStart")[0]["sessionId"]
    inputs = json.loads(json.dumps(dict(hooks.events)).replace(session, "SESSION"))
    common = set.intersection(*map(set, inputs.values()))
    assert sorted(common) == snapshot(["cwd", "sessionId", "timestamp"])
    assert {
        event: scene.shown({name: value for name, value in given.items() if name not in common})
        for event, given in sorted(inputs.items())
    } == snapshot(
        {
            "agentStop": {
                "transcriptPath": "HOME/.copilot/session-state/SESSION/events.jsonl",
                "stopReason": "end_turn",
                "stop_hook_active": False,
            },
            "postToolUse": {
                "toolName": "edit",
                "toolArgs": {"path": "WORKSPACE/a.txt", "old_str": "two", "new_str": "2"},
                "toolResult": {
                    "resultType": "success",
                    "textResultForLlm": "File WORKSPACE/a.txt updated with changes.",
                },
            },
            "postToolUseFailure": {
                "toolName": "edit",
                "toolArgs": {"path": "WORKSPACE/a.txt", "old_str": "not there", "new_str": "2"},
                "error": "No match found",
            },
            "preToolUse": {
                "toolName": "edit",
                "toolArgs": {"path": "WORKSPACE/a.txt", "old_str": "two", "new_str": "2"},
            },
            "sessionEnd": {"reason": "complete"},
            "sessionStart": {"source": "new", "initialPrompt": "Go."},
            "userPromptSubmitted": {"prompt": "Go."},
        }
    )
