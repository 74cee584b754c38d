"""Runs OpenCode once (`opencode run`) with a scripted model and a plugin that has the hooks."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.agents.agent_variables import opencode_variables
from tests.agents.hooks import Hooks
from tests.agents.loopback_process import LoopbackProcess
from tests.support.agent_models.chat_completions import ChatCompletions
from tests.support.agent_models.script import Script

_PLUGIN = Path(__file__).with_name("recording_plugin.mjs")


async def run_opencode(
    program: Path,
    home: Path,
    folder: Path,
    script: Script,
    *arguments: str,
    hooks: Hooks | None = None,
    allowed: Path | None = None,
    environment: Mapping[str, str] | None = None,
    model: str = "m",
    settings: Mapping[str, Any] | None = None,
    is_played: bool = True,
    starter: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Run `opencode run` in a folder with the prompt `Go.`; return the events that it prints.

    Args:
        program: OpenCode.
        home: Its home folder.
        folder: Its workspace.
        script: The model; all of it is played.
        arguments: More arguments.
        hooks: The hooks; what they reply is explained in the plugin. None for no such plugin.
        allowed: A folder outside of the workspace that the agent may use.
        environment: More variables.
        model: The name of the model: it decides with which tool files are edited.
        settings: More settings of the user.
        is_played: Whether all of the script must be played: a turn ends where the user refuses.
        starter: A command that starts OpenCode, whose last argument is the program.

    Raises:
        TimeoutError: If it hangs.
        AssertionError: If it fails, or does not play the script to the end.
    """
    async with (
        LoopbackProcess.start(folder) as process,
        ChatCompletions(script, process.listening) as server,
    ):
        more = {
            "permission": {"external_directory": {f"{allowed}/*": "allow"} if allowed else "ask"},
            **({"plugin": [_PLUGIN.as_uri()]} if hooks else {}),
            **(settings or {}),
        }
        variables = {
            "PATH": os.environ["PATH"],
            **opencode_variables(home, server.url(""), (model,), more),
            **({"HOOK_RULES": str(hooks.rules)} if hooks else {}),
            **(environment or {}),
        }
        asked = ["run", "Go.", "--format", "json", "--title", "A test", *arguments]
        command = [*starter, str(program), *asked]
        ended = await process.run(command, variables)
    assert ended.code == 0, ended
    if is_played:
        script.check_played()
    return [json.loads(line) for line in ended.output.splitlines()]
