"""Runs Copilot CLI once (`copilot -p`) with a scripted model and hooks."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from tests.agents.agent_variables import copilot_variables
from tests.agents.hooks import Hooks
from tests.agents.loopback_process import LoopbackProcess
from tests.parts.copilot_cli import copilot_cache
from tests.support.agent_models.anthropic_messages import AnthropicMessages
from tests.support.agent_models.responses import Responses
from tests.support.agent_models.script import Script
from tests.support.agent_models.script_server import ScriptServer

EVENTS = (
    "sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "postToolUseFailure",
    "agentStop", "sessionEnd",
)  # fmt: skip
Model = Literal["claude-sonnet-4.5", "gpt-5.4"]
"""The models' names: the tools and the form on the wire depend on them."""


async def run_copilot(
    program: Path,
    home: Path,
    folder: Path,
    script: Script,
    *arguments: str,
    model: Model,
    hooks: Hooks | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Run `copilot -p` in a folder with the prompt `Go.`; return the events that it prints.

    The system's folder for temporary files is not open to the agent.

    Args:
        program: Copilot CLI.
        home: Its home folder.
        folder: Its workspace.
        script: The model; all of it is played.
        arguments: More arguments.
        model: The model's name.
        hooks: The hooks of all `EVENTS`; None for those that are in the home folder already.
        environment: More variables.

    Raises:
        TimeoutError: If it hangs.
        AssertionError: If it fails, or does not play the script to the end.
    """
    settings = home / ".copilot"
    if hooks is not None:
        commands = {
            event: [{"type": "command", "bash": hooks.command(event), "timeoutSec": 60}]
            for event in EVENTS
        }
        (settings / "hooks").mkdir(parents=True)
        written = json.dumps({"version": 1, "hooks": commands})
        (settings / "hooks" / "hooks.json").write_text(written)
    is_claude = model.startswith("claude")
    form: type[ScriptServer] = AnthropicMessages if is_claude else Responses
    async with (
        LoopbackProcess.start(folder) as process,
        form(script, process.listening) as server,
    ):
        variables = {
            "PATH": os.environ["PATH"],
            **copilot_variables(home, server.url(""), model, copilot_cache()),
            **(environment or {}),
        }
        options = ["-p", "Go.", "--output-format", "json", "--disallow-temp-dir"]
        ended = await process.run([str(program), *options, *arguments], variables)
    assert ended.code == 0, ended
    script.check_played()
    return [json.loads(line) for line in ended.output.splitlines()]
