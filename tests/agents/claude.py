"""Runs Claude Code in print mode with a scripted model and hooks."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.agents.agent_variables import claude_variables
from tests.agents.hooks import Hooks
from tests.agents.loopback_process import LoopbackProcess
from tests.support.agent_models.anthropic_messages import AnthropicMessages
from tests.support.agent_models.script import Script

EVENTS = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop",
    "SessionEnd",
)  # fmt: skip


def hook_settings(hooks: Hooks) -> dict[str, Any]:
    """Make the settings that run the hooks at all `EVENTS`, for every tool."""
    return {
        "hooks": {
            event: [{"hooks": [{"type": "command", "command": hooks.command(event)}]}]
            for event in EVENTS
        }
    }


async def run_claude(
    program: Path,
    home: Path,
    folder: Path,
    script: Script,
    *arguments: str,
    settings: dict[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Run `claude -p` in a folder with the prompt `Go.`; return the events that it prints.

    The program runs as the user of the tests: it takes root too as long as permissions are on.

    Args:
        program: Claude Code.
        home: Its home folder.
        folder: Its workspace.
        script: The model; all of it is played.
        arguments: More arguments.
        settings: Its settings, as `--settings` takes them.
        environment: More variables.

    Raises:
        TimeoutError: If it hangs.
        AssertionError: If it fails, or does not play the script to the end.
    """
    async with (
        LoopbackProcess.start(folder) as process,
        AnthropicMessages(script, process.listening) as model,
    ):
        variables = {
            "PATH": os.environ["PATH"],
            "TMPDIR": str(home),
            **claude_variables(home, model.url("")),
            **(environment or {}),
        }
        command = [
            str(program), "-p", "Go.", "--output-format", "stream-json", "--verbose",
            "--settings", json.dumps(settings or {}), *arguments,
        ]  # fmt: skip
        ended = await process.run(command, variables)
    assert ended.code == 0, ended
    script.check_played()
    return [json.loads(line) for line in ended.output.splitlines()]
