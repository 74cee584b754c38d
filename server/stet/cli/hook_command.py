"""`stet hook NAME`: called by an agent before and after its tools; asks the server of the folder.

The input of the hook is a JSON object on stdin, the answer is one on stdout. If no server has the
folder open, the answer is `{}`, and the agent goes on as without Stet. If a server has it open and
does not answer, an edit is denied: it would pass the review.

This module imports nothing that takes long.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
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
from stet.system.runtime_folder import runtime_path

ANSWER_SECONDS = 20.0
"""How long the server may take; agents give a hook a minute."""
BLOCKED = 2
"""The exit code by which an agent does not run the tool; the reason is on stderr."""
USAGE = "usage: stet hook NAME (an agent calls it; see `stet agents`)"
_READS = frozenset({"Read"})
"""Tools that change nothing, so that they may run without an answer."""


def run(arguments: Sequence[str]) -> int:
    """Answer one hook; return the exit code."""
    if len(arguments) != 1 or arguments[0].startswith("-") or sys.stdin.isatty():
        sys.stderr.write(f"{USAGE}\n")
        return 0 if {"-h", "--help"} & set(arguments) else 1
    try:
        answer = _answer(arguments[0], dict(json.loads(sys.stdin.buffer.read())))
    except Exception as error:  # noqa: BLE001 - whatever is wrong, no edit must pass the review
        sys.stderr.write(f"stet hook failed: {type(error).__name__}: {error}\n")
        return BLOCKED
    sys.stdout.write(json.dumps(answer))
    return 0


def _answer(agent: str, event: Mapping[str, Any]) -> object:
    """Return the answer to an event."""
    runtime = runtime_path(os.environ)
    file = _file_of(event)
    try:
        server = _find_server(runtime, event, file)
        if server is None:
            return {}
        with ControlClient(server, ANSWER_SECONDS) as client:
            return client.request("control.hook", {"agent": agent, "event": event})
    except (ServerLost, RequestRefused) as error:
        return _failure(
            event,
            f"{error}. Ask the user to restart Stet, or to run `stet agents uninstall {agent}`.",
        )


def _failure(event: Mapping[str, Any], reason: str) -> object:
    """Return the answer if the server of a folder does not answer: no edit passes the review."""
    kind, reads = event.get("hook_event_name"), event.get("tool_name") in _READS
    if reads or kind not in {"PreToolUse", "PostToolUse"}:
        return {}
    if kind == "PreToolUse":
        text = f"The edit was not made: the user reviews edits with Stet, which does not answer: {reason}"
        decision = {"permissionDecision": "deny", "permissionDecisionReason": text}
    else:
        decision = {"additionalContext": f"This edit was not proposed to the user: {reason}"}
    return {"hookSpecificOutput": {"hookEventName": kind, **decision}}


def _file_of(event: Mapping[str, Any]) -> Path | None:
    """Return the absolute path of the file that a tool names, if it names one."""
    given = event.get("tool_input")
    if not isinstance(given, Mapping):
        return None
    named = given.get("file_path") or given.get("notebook_path")
    return Path(str(event.get("cwd") or "/"), named) if isinstance(named, str) else None


def _find_server(runtime: Path, event: Mapping[str, Any], file: Path | None) -> Descriptor | None:
    """Return the server of the file of an event, or of the folder in which the agent works.

    Raises:
        ServerLost: If the file is a copy that a server has made which has ended.
    """
    if file is not None and file.is_relative_to(runtime / SHADOW):
        pid = (*file.relative_to(runtime / SHADOW).parts, "")[0]
        running = {str(one.pid): one for one in read_descriptors(runtime)}
        if pid not in running:
            raise ServerLost("the server that made this copy has ended; use the file itself")
        return running[pid]
    for place in (file, event.get("cwd")):
        if place and (servers := find_servers(runtime, str(place))):
            return choose_server(servers, str(file or ""))
    return None
