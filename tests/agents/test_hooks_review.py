"""The real Codex, Copilot CLI and OpenCode beside an editor: the same review as Claude Code's."""

import json
from pathlib import Path

import pytest

from tests.agents.codex import run_codex
from tests.agents.copilot import Model, run_copilot
from tests.agents.opencode import run_opencode
from tests.agents.review_scenario import AgentTools, check_review, install_in_thread, runtime
from tests.agents.scene import Scene
from tests.conftest import Part
from tests.parts.codex import codex
from tests.parts.copilot_cli import copilot_cache, copilot_cli
from tests.parts.opencode import opencode
from tests.support.agent_models.script import Answer, Script, call

pytestmark = pytest.mark.slow


def patch(path: Path, old: str, new: str) -> str:
    """Return the patch that replaces a line."""
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"


def added(path: Path, line: str) -> str:
    """Return the patch that creates a file."""
    return f"*** Begin Patch\n*** Add File: {path}\n+{line}\n*** End Patch\n"


def from_javascript(text: str) -> Answer:
    """Make the call of `apply_patch` from JavaScript."""
    return call("exec", input=f"text(await tools.apply_patch({json.dumps(text)}))")


def shell_from_javascript(command: str) -> Answer:
    """Make the call of a shell command from JavaScript."""
    given = json.dumps({"cmd": command})
    return call("exec", input=f"text((await tools.exec_command({given})).output)")


def by_shell(patch: str) -> Answer:
    """Make the call of a shell command that applies a patch."""
    return call("exec_command", cmd=f"apply_patch <<'EOF'\n{patch}EOF\n")


CODEX = {
    ("gpt-5.5", "by shell"): AgentTools(
        read=lambda path: call("exec_command", cmd=f"cat {path.name}"),
        edit=lambda path, old, new: by_shell(patch(Path(path.name), old, new)),
        create=lambda path, line: by_shell(added(Path(path.name), line)),
    ),
    ("gpt-5.5", "by name"): AgentTools(
        read=lambda path: call("exec_command", cmd=f"cat {path.name}"),
        edit=lambda path, old, new: call("apply_patch", input=patch(Path(path.name), old, new)),
        create=lambda path, line: call("apply_patch", input=added(Path(path.name), line)),
    ),
    ("gpt-6.2-sol", "by code"): AgentTools(
        read=lambda path: shell_from_javascript(f"cat {path.name}"),
        edit=lambda path, old, new: from_javascript(patch(Path(path.name), old, new)),
        create=lambda path, line: from_javascript(added(Path(path.name), line)),
    ),
}
COPILOT: dict[Model, AgentTools] = {
    "claude-sonnet-4.5": AgentTools(
        read=lambda path: call("view", path=str(path)),
        edit=lambda path, old, new: call("edit", path=str(path), old_str=old, new_str=new),
        create=lambda path, line: call("create", path=str(path), file_text=f"{line}\n"),
    ),
    "gpt-5.4": AgentTools(
        read=lambda path: call("view", path=str(path)),
        edit=lambda path, old, new: call("apply_patch", input=patch(path, old, new)),
        create=lambda path, line: call("apply_patch", input=added(path, line)),
    ),
}
OPENCODE = {
    "m": AgentTools(
        read=lambda path: call("read", filePath=str(path)),
        edit=lambda path, old, new: call("edit", filePath=str(path), oldString=old, newString=new),
        create=lambda path, line: call("write", filePath=str(path), content=f"{line}\n"),
    ),
    "gpt-5.5": AgentTools(
        read=lambda path: call("read", filePath=str(path)),
        edit=lambda path, old, new: call("apply_patch", patchText=patch(path, old, new)),
        create=lambda path, line: call("apply_patch", patchText=added(path, line)),
    ),
}


@pytest.mark.parametrize(("model", "way"), CODEX)
async def test_codex_is_reviewed_hunk_by_hunk(
    model: str, way: str, part: Part, scene: Scene
) -> None:
    program = part(codex)
    await install_in_thread(scene, "codex", program)

    async def run(script: Script, resumes: bool) -> None:
        await run_codex(
            program, scene.home, scene.workspace, script,
            model=model, environment=runtime(scene), resumes=resumes,
        )  # fmt: skip

    await check_review(scene, "codex", CODEX[model, way], run, sees_unsaved="+one, unsaved")


@pytest.mark.parametrize("model", COPILOT)
async def test_copilot_is_reviewed_hunk_by_hunk(model: Model, part: Part, scene: Scene) -> None:
    part(copilot_cache)
    program = part(copilot_cli)
    await install_in_thread(scene, "copilot")

    async def run(script: Script, resumes: bool) -> None:
        more = ("--continue",) if resumes else ()
        await run_copilot(
            program, scene.home, scene.workspace, script, *more,
            model=model, environment=runtime(scene),
        )  # fmt: skip

    await check_review(scene, "copilot", COPILOT[model], run)


@pytest.mark.parametrize("model", OPENCODE)
async def test_opencode_is_reviewed_hunk_by_hunk(model: str, part: Part, scene: Scene) -> None:
    program = part(opencode)
    await install_in_thread(scene, "opencode")

    async def run(script: Script, resumes: bool) -> None:
        more = ("--continue",) if resumes else ()
        await run_opencode(
            program, scene.home, scene.workspace, script, *more,
            model=model, environment=runtime(scene),
        )  # fmt: skip

    await check_review(scene, "opencode", OPENCODE[model], run)
