"""What an agent lets the user choose in a session: its mode, its model and its other options."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from acp.schema import (
    ConfigOptionUpdate,
    CurrentModeUpdate,
    LoadSessionResponse,
    NewSessionResponse,
    SessionConfigOptionBoolean,
    SessionConfigOptionSelect,
    SessionConfigSelectGroup,
    SessionNotification,
)
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from stet.bridges.acp.agent_process import AgentFailure
from stet.bridges.acp.profiles import ConfiguredAgent
from stet.text.escape import escape_line

MODE, MODEL = "mode", "model"
MAX_OFFERED = 20
"""The most options of a session that are offered."""
MAX_VALUES = 500
"""The most values of an option that are offered."""
MAX_NAME = 100
"""The most characters of a name; a longer value is not offered."""
_UPDATES = ("current_mode_update", "config_option_update")
_ConfigOption = SessionConfigOptionSelect | SessionConfigOptionBoolean


class _ModelName(BaseModel):
    model_id: str = Field(alias="modelId")
    name: str


class SessionModels(BaseModel):
    """The models of a session, in the form of agents that have no option for them."""

    model_config = ConfigDict(protected_namespaces=())
    current_model_id: str = Field(alias="currentModelId")
    available_models: list[_ModelName] = Field(alias="availableModels")


class _WithModels(BaseModel):
    models: SessionModels | None = None

    @field_validator("models", mode="wrap")
    @classmethod
    def _drop_invalid(cls, value: Any, handler: Any) -> SessionModels | None:
        try:
            found: SessionModels | None = handler(value)
        except ValidationError:
            return None
        return found


class NewSession(NewSessionResponse, _WithModels):
    """The answer to `session/new`."""


class LoadedSession(LoadSessionResponse, _WithModels):
    """The answer to `session/load`."""


@dataclass(frozen=True, slots=True)
class SessionOption:
    """An option of a session.

    Attributes:
        id: `mode`, `model`, or the agent's id of another option.
        name: Its name for the user.
        current: The value that it has; "" if unknown.
        values: The values that it may have, each with its name.
        method: How it is set.
        config_id: The agent's id of the option, if it is set as one.
    """

    id: str
    name: str
    current: str
    values: tuple[tuple[str, str], ...]
    method: Literal["mode", "model", "option"]
    config_id: str = ""

    def has(self, value: str) -> bool:
        """Return whether the option may have a value."""
        return any(value == one for one, _ in self.values)

    def name_of(self, value: str) -> str:
        """Return the name of a value."""
        return next((name for one, name in self.values if one == value), value)

    def to_json(self) -> dict[str, object]:
        """Return the option as a JSON object."""
        values = [{"value": value, "name": name} for value, name in self.values]
        return {"id": self.id, "name": self.name, "current": self.current, "values": values}


class OptionSetter(Protocol):
    """The requests that set an option; each raises `AgentFailure` if the agent fails."""

    async def set_mode(self, session_id: str, mode: str) -> None:
        """Set the mode of a session."""
        ...

    async def set_model(self, session_id: str, model: str) -> None:
        """Set the model of a session."""
        ...

    async def set_option(self, session_id: str, option: str, value: str) -> list[_ConfigOption]:
        """Set an option of a session; return all options as they are then."""
        ...


class SessionOptions:
    """The options of one session; used on the event loop only.

    Attributes:
        offered: What the agent offers; it stays when the agent's program ends.
    """

    def __init__(self, agent: ConfiguredAgent) -> None:
        """Create the options of a session that has not begun."""
        self.offered: tuple[SessionOption, ...] = ()
        self._agent = agent
        self._shown: dict[str, str] = {}

    async def begin(
        self, response: NewSession | LoadedSession, setter: OptionSetter, session_id: str
    ) -> None:
        """Take what a new or loaded session offers, and set the mode and the model of the settings.

        Raises:
            AgentFailure: If the agent fails, or lacks what the settings name.
        """
        self.offered = _offered(response)
        agent = self._agent
        if agent.mode:
            await self._set_configured(setter, session_id, MODE, agent.mode, agent.server.mode)
        model = agent.server.model
        if model and not agent.profile.model_arguments:
            await self._set_configured(setter, session_id, MODEL, model, model)
        self._shown = self._current()

    async def apply(self, setter: OptionSetter, session_id: str, chosen: Mapping[str, str]) -> None:
        """Set what the user has chosen, as far as the session offers it.

        Raises:
            AgentFailure: If the agent fails.
        """
        for name, value in list(chosen.items()):
            option = self.find(name)
            if option is not None and option.has(value) and option.current != value:
                await self._set(setter, session_id, option, value)

    def update(self, params: Any) -> None:
        """Take a change that the agent reports; one that is not of the protocol is left out."""
        update = params.get("update") if isinstance(params, dict) else None
        if not isinstance(update, dict) or update.get("sessionUpdate") not in _UPDATES:
            return
        try:
            match SessionNotification.model_validate(params).update:
                case CurrentModeUpdate(current_mode_id=mode):
                    self._set_current(MODE, mode)
                case ConfigOptionUpdate(config_options=options):
                    self._take(options)
                case _:
                    pass
        except (ValidationError, RecursionError):
            return

    def changes(self) -> tuple[str, ...]:
        """Return a line for each option that has changed since the last call."""
        before, self._shown = self._shown, self._current()
        return tuple(
            f"{option.name}: {option.name_of(option.current)}"
            for option in self.offered
            if option.id in before and before[option.id] != option.current
        )

    def find(self, name: str) -> SessionOption | None:
        """Return the option with an id; None if there is none."""
        return next((one for one in self.offered if one.id == name), None)

    async def _set_configured(
        self, setter: OptionSetter, session_id: str, name: str, value: str, required: str
    ) -> None:
        """Set an option to the value of the settings.

        Raises:
            AgentFailure: If the agent fails, or lacks a value that is required.
        """
        option = self.find(name)
        if option is not None and option.has(value):
            if option.current != value:
                await self._set(setter, session_id, option, value)
        elif required:
            known = ", ".join(one for one, _ in option.values)[:300] if option else ""
            raise AgentFailure(
                f"The agent {self._agent.name} has no {name} {value!r}. Known: {known or 'none'}."
            )

    async def _set(
        self, setter: OptionSetter, session_id: str, option: SessionOption, value: str
    ) -> None:
        match option.method:
            case "mode":
                await setter.set_mode(session_id, value)
            case "model":
                await setter.set_model(session_id, value)
            case "option":
                found = await setter.set_option(session_id, option.config_id, value)
                self._take(found or ())
                if found:  # the agent says what is set now
                    return
        self._set_current(option.id, value)

    def _take(self, options: Iterable[_ConfigOption]) -> None:
        """Replace the options that are set as such."""
        found = list(_config_options(options))
        others = [one for one in self.offered if not found or one.method != "option"]
        self.offered = _unique([*others, *found])
        for one in found:
            self._set_current(one.id, one.current)

    def _set_current(self, name: str, value: str) -> None:
        self.offered = tuple(
            replace(one, current=value) if one.id == name and one.has(value) else one
            for one in self.offered
        )

    def _current(self) -> dict[str, str]:
        return {one.id: one.current for one in self.offered}


def _offered(response: NewSession | LoadedSession) -> tuple[SessionOption, ...]:
    """Return what a session offers. The mode and the model are first."""
    found: list[SessionOption] = []
    if modes := response.modes:
        values = _values((one.id, one.name) for one in modes.available_modes)
        found.append(SessionOption(MODE, "mode", modes.current_mode_id, values, "mode"))
    found += _config_options(response.config_options or ())
    if models := response.models:
        values = _values((one.model_id, one.name) for one in models.available_models)
        found.append(SessionOption(MODEL, "model", models.current_model_id, values, "model"))
    return _unique(found)


def _config_options(options: Iterable[_ConfigOption]) -> Iterable[SessionOption]:
    for option in options:
        if not isinstance(option, SessionConfigOptionSelect) or not 0 < len(option.id) <= MAX_NAME:
            continue
        known = [one for one in (MODE, MODEL) if one in (option.category, option.id)]
        values = _values(
            (each.value, each.name)
            for one in option.options
            for each in (one.options if isinstance(one, SessionConfigSelectGroup) else [one])
        )
        name = known[0] if known else _shown_name(option.name, option.id)
        yield SessionOption(
            known[0] if known else option.id,
            name,
            option.current_value,
            values,
            "option",
            option.id,
        )


def _unique(options: Iterable[SessionOption]) -> tuple[SessionOption, ...]:
    """Return the options without those of an id that an earlier one has, the mode and model first."""
    found: dict[str, SessionOption] = {}
    for one in options:
        found.setdefault(one.id, one)
    order = {MODE: 0, MODEL: 1}
    return tuple(sorted(found.values(), key=lambda one: order.get(one.id, 2))[:MAX_OFFERED])


def _values(values: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return values with names that are safe to show."""
    found: dict[str, str] = {}
    for value, name in values:
        if len(found) < MAX_VALUES and 0 < len(value) <= MAX_NAME:
            found.setdefault(value, _shown_name(name, value))
    return tuple(found.items())


def _shown_name(name: str, otherwise: str) -> str:
    text = escape_line(name).strip() or escape_line(otherwise)
    return text if len(text) <= MAX_NAME else f"{text[: MAX_NAME - 1]}…"
