"""Runs Codex once (`codex exec`) with a scripted model and hooks."""

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.agents.hooks import Hooks
from tests.agents.loopback_process import LoopbackProcess, has_namespaces
from tests.support.agent_models.responses import Responses
from tests.support.agent_models.script import Script

EVENTS = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest", "Stop",
)  # fmt: skip
SANDBOX = "workspace-write" if has_namespaces() else "danger-full-access"


async def run_codex(
    program: Path,
    home: Path,
    folder: Path,
    script: Script,
    *arguments: str,
    model: str,
    hooks: Hooks | None = None,
    trusts_hooks: bool = True,
    environment: Mapping[str, str] | None = None,
    resumes: bool = False,
) -> list[dict[str, Any]]:
    """Run `codex exec` in a folder with the prompt `Go.`; return the events that it prints.

    The agent may write its folder, but neither `/tmp` nor anything else that no argument names.
    Where the system lets this user make no namespace, Codex's sandbox can't work and is off.

    Args:
        program: Codex.
        home: Its home folder.
        folder: Its workspace.
        script: The model; all of it is played.
        arguments: More arguments.
        model: A name that Codex knows: the tools depend on it.
        hooks: The hooks of all `EVENTS`.
        trusts_hooks: Whether the user has trusted the hooks.
        environment: More variables.
        resumes: Whether the last session goes on. Codex's settings then stay as they are.

    Raises:
        TimeoutError: If it hangs.
        AssertionError: If it fails, or does not play the script to the end.
    """
    settings = home / ".codex"
    settings.mkdir(exist_ok=True)
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CODEX_HOME": str(settings),
        "THE_KEY": "none",
        **(environment or {}),
    }
    async with (
        LoopbackProcess.start(folder) as process,
        Responses(script, process.listening) as server,
    ):
        if hooks:
            config = settings / "config.toml"
            config.write_text(_hook_tables(hooks))
            if trusts_hooks:
                trusted = await _hashes(program, folder, variables)
                with config.open("a") as file:
                    file.writelines(_trust(trusted))
        command = [
            str(program), "exec", "--json", "--skip-git-repo-check", "--sandbox", SANDBOX,
            *_model(model, server.url("/v1")), *arguments,
            *(("resume", "--last") if resumes else ()), "Go.",
        ]  # fmt: skip
        ended = await process.run(command, variables)
    assert ended.code == 0, ended
    script.check_played()
    return [json.loads(line) for line in ended.output.splitlines()]


def _model(model: str, url: str) -> Iterator[str]:
    """Yield the arguments that set the model, and close the folders for temporary files."""
    provider = {
        "name": "here", "base_url": url, "wire_api": "responses", "env_key": "THE_KEY",
    }  # fmt: skip
    values: dict[str, object] = {
        "model": model,
        "model_provider": "here",
        **{f"model_providers.here.{name}": value for name, value in provider.items()},
        "model_providers.here.request_max_retries": 0,
        "model_providers.here.stream_max_retries": 0,
        "sandbox_workspace_write.exclude_slash_tmp": True,
        "sandbox_workspace_write.exclude_tmpdir_env_var": True,
    }
    for name, value in values.items():
        yield from ("-c", f"{name}={json.dumps(value)}")


def _hook_tables(hooks: Hooks) -> str:
    lines = []
    for event in EVENTS:
        command = json.dumps(hooks.command(event))
        lines += [f"[[hooks.{event}]]", f"[[hooks.{event}.hooks]]", 'type = "command"']
        lines += [f"command = {command}"]
    return "\n".join(lines) + "\n"


def _trust(hashes: Mapping[str, str]) -> Iterator[str]:
    """Yield the settings that Codex writes when a user trusts hooks with `/hooks`."""
    for key, value in hashes.items():
        yield f'[hooks.state.{json.dumps(key)}]\ntrusted_hash = "{value}"\n'


async def _hashes(program: Path, folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the key of each hook and its hash, as Codex's own server lists them."""
    process = await asyncio.create_subprocess_exec(
        str(program), "app-server",
        cwd=folder,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=2**24,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout
    requests: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "t", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(folder)]}},
    ]
    try:
        process.stdin.writelines(json.dumps(one).encode() + b"\n" for one in requests)
        async for line in process.stdout:
            message = json.loads(line)
            if message.get("id") == 2:
                (listed,) = message["result"]["data"]
                return {hook["key"]: hook["currentHash"] for hook in listed["hooks"]}
    finally:
        process.kill()
        await process.communicate()
    raise AssertionError("Codex ended before it listed the hooks")
