"""Stet's hooks in the settings of Codex (`config.toml`), whose comments and order stay."""

import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from stet.bridges.hooks.agent_hooks import AgentHooks
from stet.cli.agents.agent_setup import AgentSettingsFile
from stet.cli.agents.codex_trust import (
    event_key,
    hook_hashes,
    is_entry_of_stet,
    is_table,
    is_trusted,
    move_trust,
)
from stet.cli.agents.hook_command_line import hook_command
from stet.cli.terminal import CliError
from stet.control.descriptor import SHADOW
from stet.system.runtime_folder import runtime_path

_SANDBOX, _ROOTS = "sandbox_workspace_write", "writable_roots"


def codex_config(path: Path, hooks: AgentHooks) -> AgentSettingsFile:
    """Return the file at a path."""
    return AgentSettingsFile(
        path,
        partial(_with_hooks, path, hooks),
        partial(_without_hooks, path, hooks),
        partial(_is_current, path, hooks),
    )


def _with_hooks(path: Path, agent: AgentHooks, text: str) -> str:
    """Return settings with Stet's hooks, their hashes, and the folder of the copies as writable.

    Raises:
        CliError: If the settings have another form than expected, or Codex can't be asked.
    """
    document = _parsed(path, text)
    with _without_loss(path):
        return _checked(agent.name, text, _installed(path, agent, document))


def _installed(path: Path, agent: AgentHooks, document: Any) -> str:
    import tomlkit  # late, as all of this

    _clear(path, document, agent.name)
    before = tomllib.loads(tomlkit.dumps(document))
    hooks = document.setdefault("hooks", tomlkit.table(is_super_table=True))
    for event in agent.events:
        _add_entry(hooks, event, agent)
    roots = document.setdefault(_SANDBOX, tomlkit.table()).setdefault(_ROOTS, tomlkit.array())
    if _copies() not in roots:
        roots.append(_copies())
    move_trust(path, agent.name, before, document)
    is_inline = isinstance(hooks, tomlkit.items.InlineTable)
    new_state = tomlkit.inline_table() if is_inline else tomlkit.table(is_super_table=True)
    state = hooks.setdefault("state", new_state)
    is_inline = isinstance(state, tomlkit.items.InlineTable)
    for key, value in hook_hashes(path, tomlkit.dumps(document), agent).items():
        trusted = tomlkit.inline_table() if is_inline else tomlkit.table()
        trusted["trusted_hash"] = value
        state[key] = trusted
    return str(tomlkit.dumps(document))


def _add_entry(hooks: Any, event: str, agent: AgentHooks) -> None:
    """Add the entry of an event, in the form in which the user writes the entries."""
    import tomlkit

    entries = hooks.get(event)
    is_inline = isinstance(entries, tomlkit.items.Array) or (
        entries is None and isinstance(hooks, tomlkit.items.InlineTable)
    )
    table = tomlkit.inline_table if is_inline else tomlkit.table
    command, entry = table(), table()
    command.update({"type": "command", "command": hook_command(agent.name)})
    if matcher := _matcher(agent, event):
        entry["matcher"] = matcher
    commands = tomlkit.array() if is_inline else tomlkit.aot()
    commands.append(command)
    entry["hooks"] = commands
    if entries is None:
        hooks[event] = tomlkit.array() if is_inline else tomlkit.aot()
    hooks[event].append(entry)


def _without_hooks(path: Path, agent: AgentHooks, text: str) -> str:
    """Return settings without Stet's hooks.

    Raises:
        CliError: If the settings have another form than expected.
    """
    import tomlkit

    document = _parsed(path, text)
    with _without_loss(path):
        _clear(path, document, agent.name)
        rest = str(tomlkit.dumps(document))
        if rest == text:
            return text
        rest = rest.rstrip("\n")  # tomlkit leaves the blank line before a table that is removed
        return _checked(agent.name, text, f"{rest}\n" if rest else "")


@contextmanager
def _without_loss(path: Path) -> Iterator[None]:
    """Refuse a change that tomlkit can't make: it does not write all forms of tables.

    Raises:
        CliError: If the block raises an error about the form of the settings.
    """
    from tomlkit.exceptions import TOMLKitError

    try:
        yield
    except (TOMLKitError, ValueError, LookupError) as error:
        raise CliError(
            f"{path} can't be changed without loss. Write its hooks as tables: [[hooks.PreToolUse]]"
        ) from error


def _checked(agent: str, before: str, after: str) -> str:
    """Return the changed text of the settings.

    Raises:
        ValueError: If it has lost settings of the user, or is not TOML.
    """
    if _users_settings(before, agent) != _users_settings(after, agent):
        raise ValueError("settings are lost")
    return after


def _users_settings(text: str, agent: str) -> dict[str, Any]:
    """Return the settings without Stet's, the hashes of hooks, and what is then empty."""
    settings = tomllib.loads(text)
    hooks, sandbox = settings.pop("hooks", {}), settings.pop(_SANDBOX, {})
    hooks.pop("state", None)
    entries = {
        event: [one for one in values if not is_entry_of_stet(one, agent)]
        for event, values in hooks.items()
    }
    roots = [one for one in sandbox.pop(_ROOTS, []) if one != _copies()]
    rest = {name: values for name, values in entries.items() if values}
    return {**settings, "hooks": rest, _SANDBOX: {**sandbox, _ROOTS: roots}}


def _is_current(path: Path, agent: AgentHooks, text: str) -> bool:
    """Return whether settings have a trusted hook for each event, and the folder of the copies.

    A hook is trusted by its number in the list of an event, so a hook that the user has put before
    it makes it untrusted.
    """
    settings = tomllib.loads(text)
    hooks = settings.get("hooks", {})
    trusted = {
        event
        for event in agent.events
        for at, entry in enumerate(hooks.get(event, []))
        if [one.get("command") for one in entry.get("hooks", [])] == [hook_command(agent.name)]
        and entry.get("matcher", "") == _matcher(agent, event)
        and is_trusted(hooks.get("state", {}).get(f"{path}:{event_key(event)}:{at}:0"))
    }
    roots = settings.get(_SANDBOX, {}).get(_ROOTS, [])
    return trusted == set(agent.events) and _copies() in roots


def _matcher(agent: AgentHooks, event: str) -> str:
    """Return which tools the hook of an event is for; "" if it is for no tool."""
    return "|".join(agent.tools_of(event)) if event in agent.tool_events else ""


def _copies() -> str:
    """Return the folder with the copies that agents edit, of all servers."""
    return str(runtime_path(os.environ) / SHADOW)


def _parsed(path: Path, text: str) -> Any:
    """Return the parsed settings.

    Raises:
        CliError: If the settings have another form than expected.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document: Any = tomlkit.parse(text)
    except TOMLKitError as error:
        raise CliError(f"{path} can't be read: {error}. Correct the file first.") from error
    if not _is_expected(document.unwrap()):
        raise CliError(f"{path} has another form than expected. Correct the file first.")
    return document


def _clear(path: Path, document: Any, agent: str) -> None:
    """Remove Stet's hooks from parsed settings, and what is then empty."""
    hooks, before = document.get("hooks", {}), document.unwrap()
    for event in [name for name in hooks if name != "state"]:
        _clear_event(hooks, event, agent)
    move_trust(path, agent, before, document)
    if is_table(state := hooks.get("state")) and not state:
        del hooks["state"]
    if "hooks" in document and not hooks:
        del document["hooks"]
    _clear_roots(document)


def _is_expected(settings: Mapping[str, Any]) -> bool:
    """Return whether settings have the types that Codex expects, as far as they are changed."""
    hooks, sandbox = settings.get("hooks", {}), settings.get(_SANDBOX, {})
    if not is_table(hooks) or not is_table(sandbox) or not is_table(hooks.get("state", {})):
        return False
    lists = [value for name, value in hooks.items() if name != "state"]
    if not all(isinstance(one, list) for one in (*lists, sandbox.get(_ROOTS, []))):
        return False
    return all(is_table(entry) for entries in lists for entry in entries)


def _clear_roots(document: Any) -> None:
    """Remove the folder of the copies from the writable folders."""
    sandbox = document.get(_SANDBOX)
    if not is_table(sandbox) or _copies() not in (roots := sandbox.get(_ROOTS, [])):
        return
    roots.remove(_copies())
    if not roots:
        del sandbox[_ROOTS]
    if not sandbox:
        del document[_SANDBOX]


def _clear_event(hooks: Any, event: str, agent: str) -> None:
    """Remove Stet's entries of an event."""
    entries = hooks[event]
    for at in range(len(entries) - 1, -1, -1):
        if is_entry_of_stet(entries[at], agent):
            del entries[at]
    if not entries:
        del hooks[event]
