"""Answers the events of hooks: which tool calls are redirected, and what the agent is sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stet.bridges.hooks.agent_hooks import AgentHooks, FileTool, ToolAction
from stet.bridges.hooks.hook_session import (
    Denied,
    HookSession,
    Passed,
    Redirected,
    ToolDecision,
    absolute_path,
)
from stet.bridges.hooks.patch_redirect import propose_patch, redirect_patch

INTRODUCTION = (
    "The user reviews your edits in an editor, with Stet. Files of {folders} that you read or edit "
    "are redirected to copies with the unsaved text of the editor; each change becomes a proposal, "
    "and the file changes when the user accepts. Don't repeat an edit that was proposed, and don't "
    "write these files by shell. Shell commands and searches see the saved files."
)
"""The first text for a session; `{folders}` are the folders of the workspace."""


@dataclass(frozen=True, slots=True)
class _FileToolCall:
    """A call of a tool that reads or changes files.

    Attributes:
        tool: The tool.
        given: Its input.
        value: The path or the patch in the input.
        folder: The folder in which the agent works.
    """

    tool: FileTool
    given: object
    value: str
    folder: object

    def with_value(self, value: str) -> object:
        """Return the input with another path or patch."""
        if isinstance(self.given, Mapping):
            return {**self.given, self.tool.argument: value}
        return value


async def handle_event(
    hooks: AgentHooks, session: HookSession, event: Mapping[str, Any], introduction: str
) -> object:
    """Handle an event of a session; return the JSON that the agent reads.

    Args:
        hooks: The hooks of the agent.
        session: The session of the event.
        event: The input of the hook.
        introduction: A text for the first prompt of the session, or "".
    """
    kind = str(event.get("hook_event_name"))
    if kind == hooks.prompt:
        news = await session.begin_turn()
        unsaved = await session.unsaved_changes() if hooks.reads_by_shell else ""
        return _context(hooks, kind, introduction, news, unsaved)
    if kind not in hooks.tool_events or (call := _tool_call(hooks, event)) is None:
        return {}
    if kind == hooks.before:
        return await _before(hooks, session, call)
    if kind == hooks.after:
        return _context(hooks, kind, await _after(session, call))
    if call.tool.action is ToolAction.PATCH:
        return {}
    return _context(hooks, kind, await session.advice(absolute_path(call.folder, call.value)))


def _tool_call(hooks: AgentHooks, event: Mapping[str, Any]) -> _FileToolCall | None:
    """Return the call of an event, or None if it neither reads nor changes files."""
    name, given = event.get(hooks.tool_key), event.get(hooks.input_key)
    tool = hooks.tools.get(name) if isinstance(name, str) else None
    if tool is None:
        return None
    value = given.get(tool.argument) if isinstance(given, Mapping) else given
    is_expected = isinstance(given, Mapping) == bool(tool.argument)
    if not is_expected or not isinstance(value, str) or not value:
        return None
    return _FileToolCall(tool, given, value, event.get("cwd"))


async def _before(hooks: AgentHooks, session: HookSession, call: _FileToolCall) -> object:
    if call.tool.action is ToolAction.PATCH:
        redirected = await redirect_patch(session, call.folder, call.value)
        return _decision(hooks, redirected.decision, call.with_value(redirected.text))
    path = absolute_path(call.folder, call.value)
    before = session.before_write if call.tool.action is ToolAction.WRITE else session.before_read
    decision = await before(path)
    copy = str(decision.path) if isinstance(decision, Redirected) else call.value
    return _decision(hooks, decision, call.with_value(copy))


async def _after(session: HookSession, call: _FileToolCall) -> str:
    """Propose what a tool has changed; return a sentence for the agent."""
    if call.tool.action is ToolAction.PATCH:
        return await propose_patch(session, call.folder, call.value)
    if call.tool.action is ToolAction.WRITE:
        return await session.after_write(absolute_path(call.folder, call.value))
    return ""


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


def _context(hooks: AgentHooks, event: str, *texts: str) -> object:
    """Return the answer that adds texts to what the model is sent."""
    text = "\n\n".join(filter(None, texts))
    return _answer(hooks, event, {"additionalContext": text}) if text else {}


def _answer(hooks: AgentHooks, event: str, fields: Mapping[str, object]) -> object:
    if hooks.is_flat:
        return dict(fields)
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}
