"""The one list of tools, in the order the model sees them, and how a call is run."""

import dataclasses
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from stet.agent.turn import Ask, Mode, ToolRun, ToolState
from stet.llm.messages import ToolCall, ToolDefinition
from stet.settings.values import AgentSettings
from stet.tools.add_tags import ADD_TAGS
from stet.tools.base import Params, Tool, ToolKind
from stet.tools.create_file import CREATE_FILE
from stet.tools.delete_file import DELETE_FILE
from stet.tools.desk import Desk
from stet.tools.done import DONE
from stet.tools.edit_file import EDIT_FILE
from stet.tools.errors import ToolError
from stet.tools.list_files import LIST_FILES
from stet.tools.move_file import MOVE_FILE
from stet.tools.read_file import READ_FILE
from stet.tools.search_workspace import SEARCH_WORKSPACE
from stet.tools.update_properties import UPDATE_PROPERTIES
from stet.workspace.uris import canonical

log = logging.getLogger(__name__)

ALL_TOOLS: tuple[Tool, ...] = (
    SEARCH_WORKSPACE,
    READ_FILE,
    LIST_FILES,
    EDIT_FILE,
    CREATE_FILE,
    MOVE_FILE,
    UPDATE_PROPERTIES,
    ADD_TAGS,
    DELETE_FILE,
    DONE,
)


def tools_for(ask: Ask, settings: AgentSettings) -> tuple[Tool, ...]:
    """The tools of a turn: the settings' choice, narrowed by the question and its mode."""
    tools = {*settings.disabled_tools, *ask.disabled_tools}
    groups = {*settings.disabled_groups, *ask.disabled_groups}
    return tuple(
        tool
        for tool in ALL_TOOLS
        if tool.kind is ToolKind.CONTROL
        or (
            tool.name not in tools
            and tool.group not in groups
            and not (ask.mode is Mode.ASK and tool.kind is ToolKind.WRITE)
        )
    )


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of one turn at its desk."""

    tools: tuple[Tool, ...]
    desk: Desk

    def definitions(self, *, last_round: bool) -> tuple[ToolDefinition, ...]:
        """What the model is told; in its last round only what can end the turn."""
        return tuple(
            ToolDefinition(tool.name, tool.description, tool.schema)
            for tool in self.tools
            if not last_round or tool.kind is not ToolKind.READ
        )

    async def run(self, call: ToolCall) -> tuple[ToolRun, str]:
        """Run a call; whatever it is, the model gets a text to go on with."""
        try:
            tool, params = self._read(call)
            text = await tool.run(params, self.desk)
        except ToolError as error:
            return self._failed(call, str(error))
        except Exception:  # a tool's bug must not end the turn
            log.exception("the tool %s failed", call.name)
            return self._failed(call, f"The tool {call.name!r} failed; go on without it.")
        return dataclasses.replace(self.begun(call), state=ToolState.COMPLETED), text

    async def run_together(self, calls: Sequence[ToolCall]) -> list[tuple[ToolRun, str]]:
        """Run calls of one tool that belong together (`Tool.together`), each with its text."""
        read: list[Params | ToolError] = []
        tool = None
        for call in calls:
            try:
                tool, params = self._read(call)
                read.append(params)
            except ToolError as error:
                read.append(error)
        try:
            if tool is None or tool.together is None:
                return [await self.run(call) for call in calls]
            outcomes = await tool.together.run(read, self.desk)
        except Exception:  # a tool's bug must not end the turn
            name = calls[0].name
            log.exception("the tool %s failed", name)
            message = f"The tool {name!r} failed; go on without it."
            return [self._failed(call, message) for call in calls]
        return [
            self._failed(call, str(outcome))
            if isinstance(outcome, ToolError)
            else (dataclasses.replace(self.begun(call), state=ToolState.COMPLETED), outcome)
            for call, outcome in zip(calls, outcomes, strict=True)
        ]

    def together_with(self, call: ToolCall) -> object:
        """What calls of one answer must have in common with this one to belong together, if any."""
        tool = next((tool for tool in self.tools if tool.name == call.name), None)
        arguments = parsed(call)
        if tool is None or tool.together is None or arguments is None:
            return None
        file = tool.together.file(arguments)
        if file is None:
            return None
        try:
            return tool.name, canonical(self.desk.locate(file).uri)
        except ToolError:
            return None

    def refuse_cut(self, call: ToolCall) -> tuple[ToolRun, str]:
        """The answer to a call in which the model's answer broke off at its longest."""
        return self._failed(
            call, "Your answer was cut off within this call, so it was not run. Send less at once."
        )

    def begun(self, call: ToolCall) -> ToolRun:
        """The call as it begins, with the file it names if one can be made out."""
        arguments = parsed(call)
        file = arguments.get("file", "") if arguments else ""
        return ToolRun(call.id, call.name, ToolState.INIT, file if isinstance(file, str) else "")

    def _failed(self, call: ToolCall, message: str) -> tuple[ToolRun, str]:
        run = dataclasses.replace(self.begun(call), state=ToolState.ERROR, error=message)
        return run, f"Error: {message}\n"

    def _read(self, call: ToolCall) -> tuple[Tool, Params]:
        tool = next((tool for tool in self.tools if tool.name == call.name), None)
        if tool is None:
            names = ", ".join(tool.name for tool in self.tools)
            raise ToolError(f"There is no tool {call.name!r}. The tools are: {names}.")
        arguments = parsed(call)
        if arguments is None:
            raise ToolError(
                f"The arguments of {call.name!r} are not a JSON object: "
                f"{call.arguments[:200]!r}. Call it again with valid JSON."
            )
        try:
            return tool, tool.params.model_validate(arguments)
        except ValidationError as error:
            raise ToolError(f"{call.name!r}: {_problems(error)}. Call it again.") from error


def parsed(call: ToolCall) -> dict[str, object] | None:
    """The call's arguments, or None if they are no JSON object; nothing and null are an empty one."""
    try:
        found = json.loads(call.arguments.strip() or "{}", parse_constant=_no_json)
    except (ValueError, RecursionError):
        return None
    found = {} if found is None else found
    return found if isinstance(found, dict) else None


def _no_json(constant: str) -> object:
    """Refuse `NaN` and `Infinity`, which Python reads and a provider does not."""
    raise ValueError(f"{constant} is no JSON")


def _problems(error: ValidationError) -> str:
    found = []
    for problem in error.errors(include_url=False, include_context=False):
        where = ".".join(str(part) for part in problem["loc"])
        found.append(f"{where}: {problem['msg']}" if where else problem["msg"])
    return "; ".join(found)
