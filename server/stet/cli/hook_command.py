"""`stet hook NAME`: called by an agent before and after its tools; asks the server of the folder.

The input of the hook is a JSON object on stdin, the answer is one on stdout. If no server has the
folder open, the answer is `{}`, and the agent goes on as without Stet. If a server has it open and
does not answer, an edit is denied: it would pass the review.

In an overlay of `stet run` the hook sends the agent what the user has decided, and writes the files
that have another text now: the server never writes below a mounted overlay.

This module imports nothing that takes long.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from stet.control.control_client import (
    ControlClient,
    RequestRefused,
    ServerLost,
    choose_server,
    find_servers,
)
from stet.control.descriptor import SHADOW, Descriptor, read_descriptors
from stet.system.isolation_mark import isolated_session
from stet.system.runtime_folder import runtime_path

ANSWER_SECONDS = 20.0
"""How long the server may take; agents give a hook a minute."""
BLOCKED = 2
"""The exit code by which an agent does not run the tool; the reason is on stderr."""
USAGE = "usage: stet hook NAME [EVENT] (an agent calls it; see `stet agents`)"
_READS = frozenset({"Read", "view", "read"})
"""Tools that change nothing, so that they may run without an answer."""
_BEFORE = frozenset({"PreToolUse", "preToolUse"})
_AFTER = frozenset({"PostToolUse", "postToolUse"})
_FLAT = frozenset({"copilot"})
"""The agents whose answers have no object `hookSpecificOutput`."""
_SHELL = "Bash"
"""The tool of Codex that runs a command, in which there may be a patch."""
_PATCH = "*** Begin Patch"
_HEADERS = ("*** Add File: ", "*** Delete File: ", "*** Update File: ", "*** Move to: ")
_PATHS = ("file_path", "notebook_path", "filePath", "path")
"""The fields of a tool's input that name a file."""


class SeveralServers(Exception):
    """A patch names files of several servers."""


def run(arguments: Sequence[str]) -> int:
    """Answer one hook; return the exit code."""
    is_usage = not 1 <= len(arguments) <= 2 or any(one.startswith("-") for one in arguments)
    if is_usage or sys.stdin.isatty():
        sys.stderr.write(f"{USAGE}\n")
        return 0 if {"-h", "--help"} & set(arguments) else 1
    try:
        event = dict(json.loads(sys.stdin.buffer.read()))
        if len(arguments) == 2:  # Copilot CLI does not send the name of the event
            event["hook_event_name"] = arguments[1]
        answer = _answer(arguments[0], event)
    except Exception as error:  # noqa: BLE001 - whatever is wrong, no edit must pass the review
        sys.stderr.write(
            f"stet hook failed: {type(error).__name__}: {error}. The user reviews edits with Stet: "
            f"ask the user to update it, or to run `stet agents uninstall {arguments[0]}`.\n"
        )
        return BLOCKED
    sys.stdout.write(json.dumps(answer))
    return 0


def _answer(agent: str, event: Mapping[str, Any]) -> object:
    """Return the answer to an event."""
    if event.get("tool_name") == _SHELL and _PATCH not in str(event.get("tool_input")):
        return {}
    files = _files_of(event)
    if session := isolated_session(str(files[0] if files else event.get("cwd") or "/")):
        if event.get("hook_event_name") in _BEFORE | _AFTER:
            return {}  # `stet run` catches what the agent writes
        return _answer_isolated(agent, event, session)
    runtime = runtime_path(os.environ)
    try:
        server = _find_server(runtime, event, files)
        if server is None:
            return {}
        with ControlClient(server, ANSWER_SECONDS) as client:
            return client.request("control.hook", {"agent": agent, "event": event})
    except (SeveralServers, ServerLost, RequestRefused) as error:
        return _failure(agent, event, error)


def _answer_isolated(agent: str, event: Mapping[str, Any], session: str) -> object:
    """Return the answer to an event that is not that of a tool; refresh the files of the overlay.

    Without the server of the session, the agent goes on: `stet run` reports that at its end.
    """
    request = {"session": session, "agent": agent, "event": event}
    for server in find_servers(runtime_path(os.environ), str(event.get("cwd") or "/")):
        with suppress(ServerLost, RequestRefused), ControlClient(server, ANSWER_SECONDS) as client:
            reply = client.request("control.isolatedHook", request)
            _write_files(reply["files"], session)
            return reply["answer"]
    return {}


def _write_files(files: Sequence[tuple[str, str | None]], session: str) -> None:
    """Write files, by real path, in the overlay of a session; remove those without a text.

    A file that can't be written stays: what the agent changes there later is merged.
    """
    from stet.system.overlay_writer import write_in_overlay  # late: few hooks write files

    for path, text in files:
        with suppress(OSError):
            write_in_overlay(Path(path), text, session)


def _failure(agent: str, event: Mapping[str, Any], error: Exception) -> object:
    """Return the answer if the server of a folder does not answer: no edit passes the review."""
    cause = "which does not answer"
    reason = f"{error}. Ask the user to restart Stet, or to run `stet agents uninstall {agent}`."
    if isinstance(error, SeveralServers):
        cause = "and no editor has all of these files and the folder of the command open"
        reason = "use the tool apply_patch, for the files of one workspace only."
    kind = event.get("hook_event_name")
    reads = (event.get("tool_name") or event.get("toolName")) in _READS
    if reads or kind not in _BEFORE | _AFTER:
        return {}
    if kind in _BEFORE:
        text = f"The edit was not made: the user reviews edits with Stet, {cause}: {reason}"
        decision = {"permissionDecision": "deny", "permissionDecisionReason": text}
    else:
        decision = {"additionalContext": f"This edit was not proposed to the user: {reason}"}
    if agent in _FLAT:
        return decision
    return {"hookSpecificOutput": {"hookEventName": kind, **decision}}


def _files_of(event: Mapping[str, Any]) -> list[Path]:
    """Return the absolute paths of the files that a tool names."""
    folder = Path(str(event.get("cwd") or "/"))
    tool_input = event.get("tool_input") or event.get("toolArgs")
    if isinstance(tool_input, Mapping):
        named = next((tool_input[name] for name in _PATHS if tool_input.get(name)), None)
        if isinstance(named, str):
            return [folder / named]
        tool_input = tool_input.get("command") or tool_input.get("patchText")
    if isinstance(tool_input, str) and _PATCH in tool_input:
        return _patched_files(tool_input, folder, is_command=event.get("tool_name") == _SHELL)
    return []


def _patched_files(text: str, folder: Path, *, is_command: bool) -> list[Path]:
    """Return the absolute paths of the files that a patch names, each once, in order.

    The server reads the patch exactly.

    Args:
        text: The patch, or a shell command that applies a patch.
        folder: The folder in which the agent works.
        is_command: Whether the text is a command.
    """
    if is_command:
        from stet.bridges.hooks.shell_patch import ShellPatchUnclear, shell_patch  # late: slow

        with suppress(ShellPatchUnclear):
            if (found := shell_patch(text)) is not None:
                folder = folder / found.folder
    lines = (line.strip() for line in text.split("\n"))
    named = (
        line.removeprefix(head) for line in lines for head in _HEADERS if line.startswith(head)
    )
    return [folder / name for name in dict.fromkeys(named) if name]


def _find_server(
    runtime: Path, event: Mapping[str, Any], files: Sequence[Path]
) -> Descriptor | None:
    """Return the server of the files of an event, or of the folder in which the agent works.

    A patch in a command is proposed when the turn ends, and that event names only the folder.

    Raises:
        SeveralServers: If no server has all files that any server has.
        ServerLost: If a file is a copy that a server has made which has ended.
    """
    found = None
    for file in files:
        servers = _servers_of(runtime, file)
        if servers and found is None:
            found = choose_server(servers, str(file))
        elif servers and found not in servers:
            raise SeveralServers
    is_command = event.get("tool_name") == _SHELL
    if found is not None and not is_command:
        return found
    of_folder = find_servers(runtime, str(event.get("cwd") or "/"))
    if found is not None and found not in of_folder:
        raise SeveralServers
    if found is None and of_folder:
        return choose_server(of_folder, str(files[0]) if files else "")
    return found


def _servers_of(runtime: Path, file: Path) -> list[Descriptor]:
    """Return the servers that have a file, or have made a copy.

    Raises:
        ServerLost: If the file is a copy that a server has made which has ended.
    """
    if not file.is_relative_to(runtime / SHADOW):
        return find_servers(runtime, str(file))
    pid = (*file.relative_to(runtime / SHADOW).parts, "")[0]
    running = [one for one in read_descriptors(runtime) if str(one.pid) == pid]
    if not running:
        raise ServerLost("the server that made this copy has ended; use the file itself")
    return running
