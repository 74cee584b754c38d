"""What a tool is: a name, arguments, and a function that runs a call in the context of a turn."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from stet.settings.values import AgentSettings
from stet.tools.tool_context import ToolContext
from stet.tools.tool_errors import ToolError


class ToolGroup(StrEnum):
    """What can be switched as a whole."""

    WORKSPACE = "workspace"
    WEB = "web"
    ACTION = "action"
    ADVANCED = "advanced"


class ToolKind(Enum):
    """What a tool does to the world."""

    READ = "read"
    WRITE = "write"
    CONTROL = "control"
    """It steers the turn itself; it can't be disabled."""


class Params(BaseModel):
    """Arguments of a tool: what a model wrote, so nothing unknown and nothing of a wrong type."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class BatchHandler:
    """The execution of several related calls of one answer: all or none.

    Attributes:
        file: Returns the file that a call's arguments, as the model wrote them, are about; calls of
            one file are run together. None for a call that is run alone.
        run: Runs the calls. An unreadable call is replaced by its error. Returns for each call, in
            order, the text for the model, or the error.
    """

    file: Callable[[Mapping[str, object]], str | None]
    run: Callable[[Sequence[Any], ToolContext], Awaitable[Sequence[str | ToolError]]]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name: The name that the model uses.
        group: The group by which the tool is enabled or disabled.
        kind: The effect of the tool on the world.
        params: Its arguments; the docstring is the description for the model.
        run: Runs the tool and returns the text for the model. A proposal is its last step: a call
            that is stopped earlier has proposed nothing.
        batch_handler: Runs several calls as one, if the tool supports this.
        listing: The settings' addition to the description; if it is empty the tool is useless, and
            is not offered.
        has_sections: Whether its text is sections of the context, in which untrusted text is
            escaped already. Any other tool's text is escaped before the model sees it.
    """

    name: str
    group: ToolGroup
    kind: ToolKind
    params: type[Params]
    run: Callable[[Any, ToolContext], Awaitable[str]]
    batch_handler: BatchHandler | None = None
    listing: Callable[[AgentSettings], str] | None = None
    has_sections: bool = False

    @property
    def description(self) -> str:
        """The description for the model."""
        lines = (self.params.__doc__ or "").strip().splitlines()
        return "\n".join(line.strip() for line in lines)

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of the arguments, without the noise a model has no use for."""
        schema = self.params.model_json_schema()
        schema.pop("title", None)
        schema.pop("description", None)
        for prop in schema.get("properties", {}).values():
            _simplify_property(prop)
        return schema


def _simplify_property(prop: dict[str, Any]) -> None:
    """Leave out the title, and that a parameter which may be left out may also be null."""
    prop.pop("title", None)
    if "default" in prop and prop["default"] is None:
        del prop["default"]
        (kind,) = (each for each in prop.pop("anyOf") if each != {"type": "null"})
        prop.update(kind)
