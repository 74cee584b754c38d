"""The hooks of Claude Code: their JSON, and what Stet answers.

`PreToolUse` may replace the input of a tool, or deny it with a reason that the model reads.
`PostToolUse` has the input with which the tool ran. Both, and `UserPromptSubmit`, may add a text to
what the model is sent. Measured with the real program in `tests/agents/test_claude_program.py`.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stet.bridges.hooks.hook_session import Denied, HookSession, Passed, Redirected, ToolDecision

NAME = "claude"
WRITING = {"Edit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
"""By name, the tools that write, and the argument that names their file."""
READING = {"Read": "file_path"}
EVENTS = (
    "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd",
)  # fmt: skip
"""The events for which the hook is installed."""
MATCHER = "|".join((*READING, *WRITING))
INTRODUCTION = (
    "The user reviews your edits in an editor, with Stet. Files of {folders} that you read or edit "
    "are redirected to copies with the unsaved text of the editor; each change becomes a proposal, "
    "and the file changes when the user accepts. Don't repeat an edit that was proposed, and don't "
    "write these files by shell. Shell commands and searches see the saved files."
)


async def handle(  # noqa: PLR0911 - one answer for each kind of event
    session: HookSession, event: Mapping[str, Any], introduction: str
) -> object:
    """Handle an event of a session; return the JSON that Claude reads.

    Args:
        session: The session of the event.
        event: The input of the hook.
        introduction: A text for the first prompt of the session, or "".
    """
    kind = event.get("hook_event_name")
    if kind == "UserPromptSubmit":
        news = await session.begin_turn()
        return _context(kind, "\n\n".join(filter(None, (introduction, news))))
    tool, given = event.get("tool_name"), event.get("tool_input")
    argument = {**READING, **WRITING}.get(tool) if isinstance(tool, str) else None
    if argument is None or not isinstance(given, Mapping):
        return {}
    named = given.get(argument)
    if not isinstance(named, str) or not named:
        return {}
    path = _path(str(event.get("cwd") or "/"), named)
    if kind == "PreToolUse":
        before = session.before_write if tool in WRITING else session.before_read
        return _before(await before(path), given, argument)
    if kind == "PostToolUse" and tool in WRITING:
        return _context(kind, await session.after_write(path))
    if kind == "PostToolUseFailure":
        return _context(kind, await session.advice(path))
    return {}


def _path(folder: str, named: str) -> Path:
    """Return the path that a tool names, without `..`."""
    return Path(os.path.normpath(Path(folder, named)))


def _before(decision: ToolDecision, given: Mapping[str, Any], argument: str) -> object:
    match decision:
        case Passed():
            return {}
        case Denied(reason):
            return _output("PreToolUse", permissionDecision="deny", permissionDecisionReason=reason)
        case Redirected(path, note):
            redirected = {**given, argument: str(path)}
            more = {"additionalContext": note} if note else {}
            return _output(
                "PreToolUse", permissionDecision="allow", updatedInput=redirected, **more
            )


def _context(event: str, text: str) -> object:
    return _output(event, additionalContext=text) if text else {}


def _output(event: str, **fields: object) -> object:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}
