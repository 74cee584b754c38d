"""How Codex trusts the hooks of its settings: by a hash of each, under its place in the file.

Codex itself computes the hashes (`codex app-server`), for a copy of the settings in a folder of its
own. A hook without its hash is not run, and nothing says so.
"""

import json
import os
import shutil
import subprocess
import tempfile
import threading
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stet.bridges.hooks.agent_hooks import AgentHooks
from stet.cli.agents.hook_command_line import is_hook_command
from stet.cli.terminal import CliError

LIST_SECONDS = 20.0
_LINE_BYTES = 2**24


def is_trusted(state: object) -> bool:
    """Return whether Codex runs a hook with this entry in the table `hooks.state`."""
    return isinstance(state, Mapping) and "trusted_hash" in state and state.get("enabled", True)


def move_trust(path: Path, agent: str, before: Mapping[str, Any], document: Any) -> None:
    """Give the hashes of the user's hooks the numbers that the hooks now have.

    Args:
        path: The path of the settings.
        agent: The name of the agent.
        before: The settings in which the numbers were right. Hashes of Stet's hooks are removed.
        document: The settings.
    """
    import tomlkit

    state = document.get("hooks", {}).get("state")
    if not is_table(state):
        return
    after = _users_hooks(tomllib.loads(tomlkit.dumps(document)), agent)
    moved = {}
    for event, numbers in _users_hooks(before, agent).items():
        new_numbers = dict(zip(numbers, after.get(event, []), strict=False))
        for old in range(len(before["hooks"][event])):
            prefix = f"{path}:{event_key(event)}:{old}:"
            if (new := new_numbers.get(old)) == old:
                continue
            for key in [one for one in state if one.startswith(prefix)]:
                if new is not None:
                    rest = key.removeprefix(prefix)
                    moved[f"{path}:{event_key(event)}:{new}:{rest}"] = state[key]
                del state[key]
    for key, value in moved.items():
        state[key] = value


def _users_hooks(settings: Mapping[str, Any], agent: str) -> dict[str, list[int]]:
    """Return by event the numbers of the entries that are not Stet's."""
    events = (one for one in settings.get("hooks", {}).items() if one[0] != "state")
    return {
        event: [at for at, entry in enumerate(entries) if not is_entry_of_stet(entry, agent)]
        for event, entries in events
    }


def is_entry_of_stet(entry: Any, agent: str) -> bool:
    """Return whether all commands of an entry of an event are Stet's."""
    commands = entry.get("hooks") if is_table(entry) else None
    return (
        isinstance(commands, list)
        and len(commands) > 0
        and all(is_table(one) and is_hook_command(one.get("command"), agent) for one in commands)
    )


def event_key(event: str) -> str:
    """Return the name of an event in the keys of hashes: `PreToolUse` is `pre_tool_use`."""
    return "".join(f"_{one.lower()}" if one.isupper() else one for one in event).lstrip("_")


def hook_hashes(path: Path, text: str, agent: AgentHooks) -> dict[str, str]:
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
        listed = listed_hooks(program, config.parent)
        found = {}
        for hook in listed:
            key, value = hook.get("key"), hook.get("currentHash")
            rest = str(key).removeprefix(str(config))
            if rest != key and is_hook_command(hook.get("command"), agent.name):
                found[f"{path}{rest}"] = str(value)
    if len(found) < len(agent.events):
        raise CliError("Codex does not list the hooks: install Codex 0.166 or newer.")
    return found


def listed_hooks(program: str, home: Path) -> list[dict[str, Any]]:
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


def is_table(value: object) -> bool:
    """Return whether a value of the settings is a table."""
    return isinstance(value, Mapping)
