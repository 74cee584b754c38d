"""The list of all tools, in the order in which the model sees them, and the running of calls."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

from pydantic import ValidationError

from stet.agent.tool_offer import ToolOffer
from stet.agent.turn import Ask, Mode, describe_bug
from stet.llm.api_format import MAX_NAME, match_tool, parse_object
from stet.llm.model import Completion, ToolCall, ToolDefinition
from stet.settings.values import AgentSettings
from stet.tools.add_tags import ADD_TAGS
from stet.tools.ask_user import ASK_USER
from stet.tools.copy_files import COPY_FILES
from stet.tools.create_file import CREATE_FILE
from stet.tools.delete_file import DELETE_FILE
from stet.tools.done import DONE
from stet.tools.edit_file import EDIT_FILE
from stet.tools.execute_command import EXECUTE_COMMAND
from stet.tools.explore_structure import EXPLORE_STRUCTURE
from stet.tools.find_dead_links import FIND_DEAD_LINKS
from stet.tools.get_attached_context import GET_ATTACHED_CONTEXT
from stet.tools.get_file_info import GET_FILE_INFO
from stet.tools.get_links import GET_LINKS
from stet.tools.get_properties import GET_PROPERTIES
from stet.tools.link_files import LINK_FILES
from stet.tools.list_files import LIST_FILES
from stet.tools.list_tags import LIST_TAGS
from stet.tools.move_file import MOVE_FILE
from stet.tools.open_file import OPEN_FILE
from stet.tools.query_files import QUERY_FILES
from stet.tools.read_file import READ_FILE
from stet.tools.read_webpage import READ_WEBPAGE
from stet.tools.search_workspace import SEARCH_WORKSPACE
from stet.tools.tool import Params, Tool, ToolContext, ToolGroup, ToolKind
from stet.tools.tool_errors import (
    BatchFailed,
    FailedEdit,
    RefusedByRule,
    ToolError,
    ToolUnavailable,
    UserDeclined,
)
from stet.tools.tool_state import ToolRun
from stet.tools.update_properties import UPDATE_PROPERTIES
from stet.tools.web_search import WEB_SEARCH
from stet.workspace.names import is_absolute, last_part
from stet.workspace.paths import Located
from stet.workspace.uris import canonical

log = logging.getLogger(__name__)

MAX_ERROR = 12_000
"""The most characters of the report of a failed call, which may quote the model's text."""
MAX_POSITION = 80
MAX_MESSAGE = 300
"""The most characters of the position and of the error in the report of a failed edit."""
MAX_ARGUMENTS = 100
"""The most arguments of one call that are validated: no tool has so many."""

ALL_TOOLS: tuple[Tool, ...] = (
    SEARCH_WORKSPACE,
    READ_FILE,
    LIST_FILES,
    GET_LINKS,
    EXPLORE_STRUCTURE,
    LIST_TAGS,
    GET_ATTACHED_CONTEXT,
    GET_PROPERTIES,
    GET_FILE_INFO,
    FIND_DEAD_LINKS,
    QUERY_FILES,
    WEB_SEARCH,
    READ_WEBPAGE,
    EDIT_FILE,
    CREATE_FILE,
    OPEN_FILE,
    MOVE_FILE,
    UPDATE_PROPERTIES,
    ADD_TAGS,
    LINK_FILES,
    COPY_FILES,
    DELETE_FILE,
    EXECUTE_COMMAND,
    DONE,
    ASK_USER,
)
TOOL_NAMES = MappingProxyType(
    {tool.name: frozenset(tool.params.model_fields) for tool in ALL_TOOLS}
)
"""The names of all tools, each with the names of its arguments."""


def tools_for(
    ask: Ask, settings: AgentSettings, *, has_web: bool = False, more: Sequence[Tool] = ()
) -> tuple[Tool, ...]:
    """Return the tools of a turn: the settings' choice, narrowed by the question and its mode.

    `has_web` says whether web access is configured; without it, the tools of the web are left out.
    `more` are the tools of MCP servers, which come last.
    """
    tools = {*settings.disabled_tools, *ask.disabled_tools}
    groups = {*settings.disabled_groups, *ask.disabled_groups}
    return tuple(
        tool
        for tool in (*ALL_TOOLS, *more)
        if tool.kind is ToolKind.CONTROL
        or (
            tool.name not in tools
            and (tool.listing is None or tool.listing(settings))
            and tool.group not in groups
            and (has_web or tool.group is not ToolGroup.WEB)
            and not (ask.mode is Mode.ASK and tool.kind is ToolKind.WRITE)
        )
    )


_LAST_ROUND_GROUPS = {ToolGroup.ACTION, ToolGroup.ADVANCED}
"""The groups that are offered in a turn's last round: no round is left to use a result."""

_NOT_IN_LAST_ROUND = "Not run: the turn was near its limit, and its last round has no lookups."


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The outcome of a call.

    Attributes:
        text: The result for the model.
        error: The error, or that the user declined; "" if there is none.
        declined: Whether the user declined.
        is_excused: Whether the call itself is correct, but a rule, the user or another edit of the
            same answer prevented it.
        hunks: Ids of the proposed hunks; calls executed as one share their hunks.
        has_sections: Whether the text has sections of Stet's; see `Tool.has_sections`.
    """

    text: str
    error: str = ""
    declined: bool = False
    is_excused: bool = False
    hunks: tuple[str, ...] = ()
    has_sections: bool = False

    @classmethod
    def failed(cls, error: ToolError | str) -> "ToolOutcome":
        """Return the outcome of a call that failed."""
        message = str(error)
        if len(message) > MAX_ERROR:
            message = f"{message[:MAX_ERROR]} (cut: {len(message) - MAX_ERROR} more characters)"
        if isinstance(error, UserDeclined):
            return cls(f"{message}\n", message, declined=True, is_excused=True)
        shown = error.user_message if isinstance(error, ToolUnavailable) else message
        is_excused = isinstance(error, ToolUnavailable | RefusedByRule | BatchFailed)
        return cls(f"Error: {message}\n", shown, is_excused=is_excused)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of one turn.

    Attributes:
        tools: The tools that are offered.
        ctx: The ports that the tools use.
        offer: The tools that requests describe, in short forms; None: all of them in full.
    """

    tools: tuple[Tool, ...]
    ctx: ToolContext
    offer: ToolOffer | None = None

    @property
    def offered(self) -> tuple[Tool, ...]:
        """The tools that requests describe, in order."""
        if self.offer is None:
            return self.tools
        by_name = {tool.name: tool for tool in self.tools}
        return tuple(by_name[name] for name in self.offer.names if name in by_name)

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """Return the definitions of the offered tools for the model."""
        return self._define(self.offered)

    def other_definitions(self) -> tuple[ToolDefinition, ...]:
        """Return the definitions of the tools that are not offered but may be called."""
        offered = self.offered
        return self._define(tool for tool in self.tools if tool not in offered)

    def _define(self, tools: Iterable[Tool]) -> tuple[ToolDefinition, ...]:
        settings, is_short = self.ctx.reader.workspace.settings.agent, self.offer is not None
        return tuple(
            definition(tool, tool.listing(settings) if tool.listing else "", is_short=is_short)
            for tool in tools
        )

    @property
    def last_round_tools(self) -> tuple[str, ...]:
        """The names of the tools that may be called in the last round: those that act or end."""
        return tuple(
            tool.name
            for tool in self.offered
            if tool.kind is ToolKind.CONTROL or tool.group in _LAST_ROUND_GROUPS
        )

    def resolve_tool_names(self, completion: Completion) -> Completion:
        """Return an answer whose calls have the exact names of the offered tools.

        An unknown name stays, but at most `MAX_NAME` characters of it.
        """
        names = [tool.name for tool in self.tools]
        calls = tuple(
            replace(call, name=match_tool(call.name, names) or call.name[:MAX_NAME])
            for call in completion.tool_calls
        )
        return (
            completion if calls == completion.tool_calls else replace(completion, tool_calls=calls)
        )

    async def run(self, call: ToolCall) -> ToolOutcome:
        """Run a call. The outcome always has a text for the model."""
        known = set(self._proposed_hunks())
        try:
            tool, params = self._parse_call(call)
            text = await tool.run(params, self.ctx)
        except ToolError as error:
            return self._failed(error, call)
        except Exception as bug:  # a tool's bug must not end the turn
            log.exception("the tool %s failed", call.name)
            return ToolOutcome.failed(_bug_message(call.name, bug))
        hunks = self._proposed_since(known)
        return ToolOutcome(text, hunks=hunks, has_sections=tool.has_sections)

    async def run_batch(self, calls: Sequence[ToolCall]) -> list[ToolOutcome]:
        """Run calls of one tool together (`Tool.batch_handler`). Return an outcome for each."""
        known = set(self._proposed_hunks())
        read: list[Params | ToolError] = []
        tool = None
        for call in calls:
            try:
                tool, params = self._parse_call(call)
                read.append(params)
            except ToolError as error:
                read.append(error)
        try:
            if tool is None or tool.batch_handler is None:
                return [await self.run(call) for call in calls]
            outcomes = await tool.batch_handler.run(read, self.ctx)
        except Exception as bug:  # a tool's bug must not end the turn
            name = calls[0].name
            log.exception("the tool %s failed", name)
            return [ToolOutcome.failed(_bug_message(name, bug)) for _ in calls]
        hunks = self._proposed_since(known)
        return [
            self._failed(outcome, call)
            if isinstance(outcome, ToolError)
            else ToolOutcome(outcome, hunks=hunks)
            for call, outcome in zip(calls, outcomes, strict=True)
        ]

    def _failed(self, error: ToolError, call: ToolCall) -> ToolOutcome:
        """Return the outcome of a failed call, with workspace names in place of absolute paths."""
        outcome, arguments = ToolOutcome.failed(error), parse_arguments(call)
        if arguments is None:
            return outcome
        text, error_text = (
            hide_absolute_paths(part, arguments, lambda path: self.ctx.reader.locate(path).name)
            for part in (outcome.text, outcome.error)
        )
        return replace(outcome, text=text, error=error_text)

    def batch_key(self, call: ToolCall) -> object:
        """Return the key that calls of one answer must share to be run together, or None."""
        tool = self._find_tool(call)
        arguments = parse_arguments(call)
        if tool is None or tool.batch_handler is None or arguments is None:
            return None
        file = tool.batch_handler.file(arguments)
        if file is None:
            return None
        try:
            return tool.name, canonical(self.ctx.reader.locate(file).uri)
        except ToolError:
            return None

    def create_run(self, call: ToolCall) -> ToolRun:
        """Return the run of a call at its start, with the file that the call names if known."""
        tool = self._find_tool(call)
        arguments = parse_arguments(call)
        file = arguments.get("file", "") if arguments else ""
        return ToolRun(
            call.id,
            call.name,
            file=file if isinstance(file, str) else "",
            course=tool.kind if tool else ToolKind.READ,
        )

    def failed_edit(self, call: ToolCall, outcome: ToolOutcome) -> FailedEdit | None:
        """Return the edit that a failed call was to propose; None if it is no edit or excused."""
        tool = self._find_tool(call)
        if not outcome.error or outcome.is_excused or tool is None:
            return None
        is_edit = tool.kind is ToolKind.WRITE and tool.group is ToolGroup.ACTION
        if not is_edit and tool is not DELETE_FILE:
            return None
        arguments = parse_arguments(call) or {}
        position = arguments.get("position") or arguments.get("old_text") or ""
        position = position.strip().partition("\n")[0] if isinstance(position, str) else ""
        message = outcome.error.partition("\n")[0]
        return FailedEdit(
            self.create_run(call).file, position[:MAX_POSITION], message[:MAX_MESSAGE]
        )

    def _find_tool(self, call: ToolCall) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == call.name), None)

    def _parse_call(self, call: ToolCall) -> tuple[Tool, Params]:
        all_names = tuple(tool.name for tool in self.tools)
        callable_names = self.last_round_tools if self.ctx.is_last_round else all_names
        tool = self._find_tool(call)
        if tool is None or tool.name not in callable_names:
            where = " in the last round" if tool else ""
            described = [one.name for one in self.offered if one.name in callable_names]
            names = ", ".join(described)
            message = f"There is no tool {call.name!r}{where}. The tools are: {names}."
            raise ToolUnavailable(
                message, _NOT_IN_LAST_ROUND if tool else f"There is no tool {call.name!r}."
            )
        arguments = parse_arguments(call)
        if arguments is None:
            raise ToolError(
                f"The arguments of {call.name!r} are not a JSON object: "
                f"{call.arguments[:200]!r}. Call it again with valid JSON."
            )
        mark = self.ctx.reader.workspace.redactor.first_known_mark(call.arguments)
        if mark and tool is not EDIT_FILE and tool.kind is not ToolKind.CONTROL:
            raise ToolError(
                f"{call.name!r}: {mark} stands for a secret, which no tool is given. Only `edit_file` "
                "takes it, to keep it where it stands."
            )
        if len(arguments) > MAX_ARGUMENTS:
            raise ToolError(
                f"{call.name!r} has {len(arguments)} arguments. Call it again with those it takes."
            )
        if not tool.has_plain_arguments:
            arguments = use_workspace_names(arguments, self.ctx.reader.locate)
        try:
            return tool, tool.params.model_validate(arguments)
        except ValidationError as error:
            raise ToolError(
                f"{call.name!r}: {_validation_message(error)}. Call it again."
            ) from error

    def _proposed_hunks(self) -> Iterator[str]:
        """Yield the ids of all hunks that this turn has proposed, oldest first."""
        for proposal in self.ctx.reader.ledger.proposals(self.ctx.reader.turn.id):
            yield from proposal.hunks

    def _proposed_since(self, known: set[str]) -> tuple[str, ...]:
        return tuple(hunk for hunk in self._proposed_hunks() if hunk not in known)


@cache
def definition(tool: Tool, listing: str = "", *, is_short: bool = False) -> ToolDefinition:
    """Return the definition of a tool for the model, cached because its schema takes long.

    Args:
        tool: The tool.
        listing: The text that the settings add to the description.
        is_short: Whether the tool's short form is used, if it has one.
    """
    if is_short and tool.short is not None:
        return ToolDefinition(tool.name, tool.short.description, tool.short_schema)
    description = f"{tool.description}\n\n{listing}" if listing else tool.description
    return ToolDefinition(tool.name, description, tool.schema)


def parse_arguments(call: ToolCall) -> dict[str, object] | None:
    """Return the call's arguments, or None if they are not a JSON object.

    Blank text and null count as an empty object.
    """
    written = call.arguments.strip()
    return parse_object("{}" if written in ("", "null") else written)


def _bug_message(name: str, bug: Exception) -> str:
    if isinstance(bug, ImportError):
        return f"The tool {name!r} can't be used. {describe_bug(bug)} Go on without it."
    return f"The tool {name!r} failed; go on without it."


def _validation_message(error: ValidationError) -> str:
    errors = []
    for problem in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in problem["loc"])
        errors.append(f"{where}: {problem['msg']}" if where else problem["msg"])
    return "; ".join(errors)


_FILES = ("file", "folder", "to", "files", "links_to", "linked_from")
"""The arguments of tools that name files."""
_NAMES = (*_FILES, "glob", "position")
"""The arguments that may contain paths."""
_MAX_NAMES = 50


def use_workspace_names(
    arguments: Mapping[str, object], locate: Callable[[str], Located]
) -> dict[str, object]:
    """Return the arguments of a call with workspace names instead of absolute paths.

    Only paths in the workspace are replaced, so no answer reveals more than the name.

    Args:
        arguments: The arguments of the call.
        locate: Returns the location for a name; raises `ToolError` if it is not in the workspace.
    """

    def name(value: object) -> object:
        if not isinstance(value, str) or not is_absolute(value):
            return value
        try:
            located = locate(value)
            is_same = not is_absolute(located.name) and locate(located.name).uri == located.uri
        except ToolError:
            return value  # the tool reports the error
        return located.name if is_same else value

    named = {key: arguments[key] for key in _FILES if key in arguments}
    renamed = {
        key: [name(one) for one in value] if isinstance(value, list) else name(value)
        for key, value in named.items()
    }
    return {**arguments, **renamed}


def hide_absolute_paths(
    error: str, arguments: Mapping[str, object], name_of: Callable[[str], str]
) -> str:
    """Return an error with workspace names instead of the absolute paths of the arguments.

    Args:
        error: The error for the model.
        arguments: The arguments of the call.
        name_of: Returns the workspace name for a path; raises `ToolError` if the path is not in the
            workspace: then only the last part of the path is shown.
    """
    # The longest path first: a path may be the beginning of another.
    for path in sorted(set(_absolute_paths(arguments)), key=len, reverse=True):
        try:
            name = name_of(path)
        except ToolError:
            name = last_part(path)
        name = last_part(name) if is_absolute(name) else name
        for written, text in (
            (repr(path), repr(name)),
            (json.dumps(path)[1:-1], name),
            (path, name),
        ):
            error = error.replace(written, text)
    return error


def _absolute_paths(arguments: Mapping[str, object]) -> Iterator[str]:
    """Yield the absolute paths in the arguments that name files, except bare separators."""
    for value in map(arguments.get, _NAMES):
        names = value[:_MAX_NAMES] if isinstance(value, list) else [value]
        for name in names:
            if isinstance(name, str) and is_absolute(name) and name.strip("/\\ "):
                yield name
