"""Stet's hooks in the settings of Codex (`config.toml`), whose comments and order stay.

Codex runs only hooks that the user has trusted, by a hash of each. Codex itself computes the hashes
(`codex app-server`), for a copy of the settings in a folder of its own.
"""

import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from stet.bridges.hooks.agent_hooks import AgentHooks
from stet.cli.agents.agent_setup import AgentSettingsFile
from stet.cli.agents.hook_command_line import hook_command, is_hook_command
from stet.cli.terminal import CliError
from stet.control.descriptor import SHADOW
from stet.system.runtime_folder import runtime_path

LIST_SECONDS = 20.0
_SANDBOX, _ROOTS = "sandbox_workspace_write", "writable_roots"
_LINE_BYTES = 2**24


def codex_config(path: Path, hooks: AgentHooks) -> AgentSettingsFile:
    """Return the file at a path."""
    return AgentSettingsFile(
        path, partial(_with_hooks, path, hooks), partial(_without_hooks, path, hooks)
    )


def _with_hooks(path: Path, agent: AgentHooks, text: str) -> str:
    """Return settings with Stet's hooks, their hashes, and the folder of the copies as writable.

    Raises:
        CliError: If the settings have another form than expected, or Codex can't be asked.
    """
    import tomlkit  # late, as all of this

    document = _cleared(path, text, agent.name)
    hooks = document.setdefault("hooks", tomlkit.table(is_super_table=True))
    for event in agent.events:
        command = tomlkit.table()
        command.update({"type": "command", "command": hook_command(agent.name)})
        entry = tomlkit.table()
        if event in agent.tool_events:
            entry["matcher"] = "|".join(agent.tools_of(event))
        commands = tomlkit.aot()
        commands.append(command)
        entry["hooks"] = commands
        hooks.setdefault(event, tomlkit.aot()).append(entry)
    roots = document.setdefault(_SANDBOX, tomlkit.table()).setdefault(_ROOTS, tomlkit.array())
    if _copies() not in roots:
        roots.append(_copies())
    state = hooks.setdefault("state", tomlkit.table(is_super_table=True))
    for key, value in _hashes(path, tomlkit.dumps(document), agent.name).items():
        trusted = tomlkit.table()
        trusted["trusted_hash"] = value
        state[key] = trusted
    return tomlkit.dumps(document)


def _without_hooks(path: Path, agent: AgentHooks, text: str) -> str:
    """Return settings without Stet's hooks.

    Raises:
        CliError: If the settings have another form than expected.
    """
    import tomlkit

    return tomlkit.dumps(_cleared(path, text, agent.name))


def _copies() -> str:
    """Return the folder with the copies that agents edit, of all servers."""
    return str(runtime_path(os.environ) / SHADOW)


def _cleared(path: Path, text: str, agent: str) -> Any:
    """Return the parsed settings without Stet's hooks; what is then empty is removed.

    Raises:
        CliError: If the settings have another form than expected.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document: Any = tomlkit.parse(text)
    except TOMLKitError as error:
        raise CliError(f"{path} can't be read: {error}. Correct the file first.") from error
    hooks = document.get("hooks", {})
    lists = [value for name, value in hooks.items() if name != "state"] if _is_table(hooks) else [0]
    if not all(isinstance(one, list) for one in lists):
        raise CliError(f"{path} has another form than expected. Correct the file first.")
    for event in [name for name in hooks if name != "state"]:
        _clear_event(hooks, event, agent, f"{path}:{_snake(event)}:")
    if _is_table(state := hooks.get("state")) and not state:
        del hooks["state"]
    if "hooks" in document and not hooks:
        del document["hooks"]
    _clear_roots(document)
    return document


def _clear_roots(document: Any) -> None:
    """Remove the folder of the copies from the writable folders."""
    sandbox = document.get(_SANDBOX)
    if not _is_table(sandbox) or _copies() not in (roots := sandbox.get(_ROOTS, [])):
        return
    roots.remove(_copies())
    if not roots:
        del sandbox[_ROOTS]
    if not sandbox:
        del document[_SANDBOX]


def _clear_event(hooks: Any, event: str, agent: str, prefix: str) -> None:
    """Remove Stet's entries of an event with their hashes."""
    entries = hooks[event]
    for at in range(len(entries) - 1, -1, -1):
        commands = entries[at].get("hooks") if _is_table(entries[at]) else None
        ours = isinstance(commands, list) and all(
            _is_table(one) and is_hook_command(one.get("command"), agent) for one in commands
        )
        if ours and commands:
            del entries[at]
            state = hooks.get("state", {})
            for key in [one for one in state if one.startswith(f"{prefix}{at}:")]:
                del state[key]
    if not entries:
        del hooks[event]


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping)


def _snake(event: str) -> str:
    """Return the name of an event in the keys of hashes: `PreToolUse` is `pre_tool_use`."""
    return "".join(f"_{one.lower()}" if one.isupper() else one for one in event).lstrip("_")


def _hashes(path: Path, text: str, agent: str) -> dict[str, str]:
    """Return the hash of each hook of Stet, by the key that Codex uses in the file `path`.

    Raises:
        CliError: If there is no Codex, or it does not list the hooks.
    """
    program = shutil.which("codex")
    if program is None:
        raise CliError(
            "codex is not found on the PATH: Codex itself has to name its hooks' hashes."
        )
    with tempfile.TemporaryDirectory(prefix="stet-codex-") as folder:
        config = Path(folder).resolve() / "config.toml"
        config.write_text(text, encoding="utf-8")
        listed = _listed_hooks(program, config.parent)
        found = {}
        for hook in listed:
            key, value = hook.get("key"), hook.get("currentHash")
            rest = str(key).removeprefix(str(config))
            if rest != key and is_hook_command(hook.get("command"), agent):
                found[f"{path}{rest}"] = str(value)
    if not found:
        raise CliError("Codex does not list the hooks: install Codex 0.166 or newer.")
    return found


def _listed_hooks(program: str, home: Path) -> list[dict[str, Any]]:
    """Return the hooks that Codex lists for its settings in the folder `home`; [] if it can't."""
    requests = (
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "s", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(home)]}},
    )
    environment = {**os.environ, "CODEX_HOME": str(home)}
    with subprocess.Popen(  # noqa: S603 - the user's own Codex
        [program, "app-server"],
        cwd=home, env=environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        timer = threading.Timer(LIST_SECONDS, process.kill)
        timer.start()
        try:
            for request in requests:
                process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            while line := process.stdout.readline(_LINE_BYTES):
                message = json.loads(line)
                if message.get("id") == 2:
                    data = message.get("result", {}).get("data", [])
                    return [hook for one in data for hook in one.get("hooks", [])]
        except (OSError, ValueError):
            return []
        finally:
            timer.cancel()
            process.kill()
    return []
