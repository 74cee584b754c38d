"""Answers the events of hooks: which tool calls are redirected, and what the agent is sent."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from stet.bridges.hooks.agent_hooks import AgentHooks, FileTool, ToolAction
from stet.bridges.hooks.hook_session import (
    Denied,
    HookSession,
    Passed,
    Redirected,
    ToolDecision,
    absolute_path,
)
from stet.bridges.hooks.patch_redirect import (
    propose_patch,
    redirect_command,
    redirect_patch,
)

INTRODUCTION = (
    "The user reviews your edits in an editor, with Stet. Files of {folders} that you read or edit "
    "are redirected to copies with the unsaved text of the editor; each change becomes a proposal, "
    "and the file changes when the user accepts. Don't repeat an edit that was proposed, and don't "
    "write these files by shell. Shell commands and searches see the saved files."
)
"""The first text for a session; `{folders}` are the folders of the workspace."""
MAX_FILES = 100
"""The most files of a prompt that are looked at."""
_NOT_READ = Denied("The edit was not made: Stet can't read which file it is for.")
_NO_PATH = re.compile(r"[\0\ud800-\udfff]")
"""What no path of a text file has: NUL, and half a character."""
_MENTION = re.compile(r'@"?([^\s"]+)')
_OF_A_PATH = frozenset({ToolAction.READ, ToolAction.WRITE})
"""What tools do that name one file."""


@dataclass(frozen=True, slots=True)
class _FileToolCall:
    """A call of a tool that reads or changes files.

    Attributes:
        tool: The tool.
        input: Its input.
        value: The path, the patch or the command in the input.
        folder: The folder in which the agent works.
    """

    tool: FileTool
    input: object
    value: str
    folder: object

    def with_value(self, value: str) -> object:
        """Return the input with another value."""
        if isinstance(self.input, Mapping):
            return {**self.input, self.tool.argument: value}
        return value


async def handle_event(
    hooks: AgentHooks,
    session: HookSession,
    event: Mapping[str, Any],
    introduction: str,
    *,
    is_subagent: bool,
) -> object:
    """Handle an event of a session; return the JSON that the agent reads.

    Args:
        hooks: The hooks of the agent.
        session: The session of the event.
        event: The input of the hook.
        introduction: A text for the first prompt of the session, or "".
        is_subagent: Whether a subagent of the session has sent the event: its prompt is the
            agent's, and begins no turn.
    """
    kind = str(event.get("hook_event_name"))
    if kind == hooks.turn_end and not is_subagent:
        await session.end_turn()
        return {}
    if kind == hooks.prompt and is_subagent:
        return context_answer(hooks, kind, introduction)
    if kind == hooks.prompt:
        feedback = await session.begin_turn()
        sent = None if hooks.reads_by_shell else _sent_files(event)
        return context_answer(
            hooks, kind, introduction, feedback, await session.unsaved_changes(sent)
        )
    name = event.get(hooks.tool_key)
    tool = hooks.tools.get(name) if isinstance(name, str) else None
    if tool is None or kind not in hooks.tool_events:
        return {}
    call = _tool_call(tool, event.get(hooks.input_key), event.get("cwd"))
    if kind == hooks.before:
        return await _before(hooks, session, tool, call)
    return context_answer(hooks, kind, await _after(session, call, is_done=kind == hooks.after))


def _sent_files(event: Mapping[str, Any]) -> list[Path]:
    """Return the files of a prompt, of which the agent sends the saved text to its model."""
    prompt, files, folder = event.get("prompt"), event.get("files"), event.get("cwd")
    if not _is_text(folder or ""):
        return []
    named = [one.rstrip(".,:;!?)") for one in _MENTION.findall(prompt)] if _is_text(prompt) else []
    named += files if isinstance(files, list) else []
    return [absolute_path(folder, one) for one in named[:MAX_FILES] if _is_text(one)]


def _is_text(value: object) -> TypeGuard[str]:
    """Return whether a value is a text that can be part of a path."""
    return isinstance(value, str) and _NO_PATH.search(value) is None


def _tool_call(tool: FileTool, tool_input: object, folder: object) -> _FileToolCall | None:
    """Return the call of a tool, or None if it names no file."""
    value = tool_input.get(tool.argument) if isinstance(tool_input, Mapping) else tool_input
    is_expected = isinstance(tool_input, Mapping) == bool(tool.argument)
    is_expected &= folder is None or _is_text(folder)
    if not is_expected or not _is_text(value) or not value:
        return None
    return _FileToolCall(tool, tool_input, value, folder)


async def _before(
    hooks: AgentHooks, session: HookSession, tool: FileTool, call: _FileToolCall | None
) -> object:
    if call is None:
        return {} if tool.action is ToolAction.READ else _decision(hooks, _NOT_READ, None)
    if tool.action not in _OF_A_PATH:
        redirect = redirect_patch if tool.action is ToolAction.PATCH else redirect_command
        redirected = await redirect(session, call.folder, call.value)
        return _decision(hooks, redirected.decision, call.with_value(redirected.text))
    path = absolute_path(call.folder, call.value)
    before = session.before_write if tool.action is ToolAction.WRITE else session.before_read
    decision = await before(path)
    copy = str(decision.path) if isinstance(decision, Redirected) else call.value
    return _decision(hooks, decision, call.with_value(copy))


async def _after(session: HookSession, call: _FileToolCall | None, *, is_done: bool) -> str:
    """Propose what a tool has changed, or advise after its failure; return what the agent reads."""
    if call is None or call.tool.action is ToolAction.SHELL:
        return ""
    if call.tool.action is ToolAction.PATCH:
        return await propose_patch(session, call.folder, call.value) if is_done else ""
    path = absolute_path(call.folder, call.value)
    if not is_done:
        return await session.advice(path)
    return await session.after_write(path) if call.tool.action is ToolAction.WRITE else ""


def _decision(hooks: AgentHooks, decision: ToolDecision, updated: object) -> object:
    """Return the answer before a tool; `updated` is its input if it is redirected."""
    fields: dict[str, object] = {}
    match decision:
        case Passed():
            return {}
        case Denied(reason):
            fields = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        case Redirected(_, note):
            fields = {
                "permissionDecision": "allow",
                "modifiedArgs" if hooks.is_flat else "updatedInput": updated,
                **({"additionalContext": note} if note else {}),
            }
    return _answer(hooks, hooks.before, fields)


def context_answer(hooks: AgentHooks, event: str, *texts: str) -> object:
    """Return the answer that adds texts to what the model is sent."""
    text = "\n\n".join(filter(None, texts))
    return _answer(hooks, event, {"additionalContext": text}) if text else {}


def _answer(hooks: AgentHooks, event: str, fields: Mapping[str, object]) -> object:
    if hooks.is_flat:
        return dict(fields)
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}
