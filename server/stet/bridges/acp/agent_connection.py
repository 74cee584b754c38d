"""The requests to an agent, with checked answers.

This module imports the library of the protocol, which takes long: it is imported in a thread.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from acp.connection import Connection
from acp.exceptions import RequestError
from acp.meta import AGENT_METHODS
from acp.schema import (
    InitializeResponse,
    PromptResponse,
    SessionConfigOptionBoolean,
    SessionConfigOptionSelect,
    SetSessionConfigOptionResponse,
)
from pydantic import BaseModel, ValidationError

from stet import __version__
from stet.bridges.acp.agent_process import AgentFailure, AgentProcess
from stet.bridges.acp.message_transport import MessageTransport
from stet.bridges.acp.profiles import ConfiguredAgent
from stet.bridges.acp.session_options import LoadedSession, NewSession
from stet.text.escape import escape_line

M = TypeVar("M", bound=BaseModel)
Handle = Callable[[str, Any, bool], Awaitable[Any]]
"""Handles a request or notification of the agent: its method, its parameters, whether it is a
notification.
"""
VERSION = 1
"""The version of the protocol."""
START_SECONDS = 60.0
"""The time limit of a request before the prompt: some agents take long to start."""
AUTH_REQUIRED = -32000
_METHODS = {**AGENT_METHODS, "session_set_model": "session/set_model"}
"""The library does not name the method for models, which came before options."""
_MAX_SHOWN = 300
"""The most characters of an agent's error in a message."""


class AgentConnection:
    """The connection to one running agent; used on the event loop only.

    Attributes:
        process: The process of the agent.
        is_broken: Whether the agent can't be reached any more.
        can_load: Whether the agent can load a session of an earlier run.
    """

    def __init__(self, agent: ConfiguredAgent, process: AgentProcess, handle: Handle) -> None:
        """Connect to a process; nothing is sent yet."""
        reader, writer = process.process.stdout, process.process.stdin
        assert reader is not None, "all streams are piped"
        assert writer is not None, "all streams are piped"
        self.process = process
        self.can_load = self.is_broken = self._takes_folders = False
        self._agent = agent
        self._methods: list[str] = []
        self._transport = MessageTransport(reader, writer)
        self._connection = Connection(handle, self._transport)

    async def initialize(self) -> None:
        """Agree on the version, and authenticate if a variable says how.

        Raises:
            AgentFailure: If the agent fails, or speaks no version that Stet knows.
        """
        capabilities = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": False}
        params = {
            "protocolVersion": VERSION,
            "clientCapabilities": capabilities,
            "clientInfo": {"name": "stet", "title": "Stet", "version": __version__},
        }
        found = await self._ask("initialize", params, InitializeResponse)
        if found.protocol_version != VERSION:
            raise AgentFailure(
                f"The agent {self._agent.name} speaks version {found.protocol_version} of the "
                f"Agent Client Protocol; Stet speaks version {VERSION}."
            )
        capable = found.agent_capabilities
        self.can_load = bool(capable and capable.load_session)
        of_sessions = capable.session_capabilities if capable else None
        self._takes_folders = bool(of_sessions and of_sessions.additional_directories is not None)
        self._methods = [one.id for one in found.auth_methods or ()]

    async def authenticate(self, environ: dict[str, str]) -> None:
        """Authenticate by the first method whose variable is set, if the agent offers the method.

        Raises:
            AgentFailure: If the agent refuses.
        """
        for variable, method in self._agent.profile.authentication.items():
            if environ.get(variable) and method in self._methods:
                await self._request("authenticate", {"methodId": method}, START_SECONDS)
                return

    async def new_session(self, folder: Path, others: Sequence[Path]) -> NewSession:
        """Begin a session in a folder, with other folders if the agent takes them.

        Raises:
            AgentFailure: If the agent fails, or the user must log in first.
        """
        params = self._place(folder, others)
        return await self._ask("session_new", params, NewSession)

    async def load_session(
        self, folder: Path, others: Sequence[Path], session_id: str
    ) -> LoadedSession:
        """Load a session of an earlier run; the agent repeats its messages first.

        Raises:
            AgentFailure: If the agent fails, or does not know the session any more.
        """
        params = {"sessionId": session_id, **self._place(folder, others)}
        answer = await self._request("session_load", params, START_SECONDS)
        return self._checked(answer or {}, LoadedSession)

    async def set_mode(self, session_id: str, mode: str) -> None:
        """Set the mode of a session.

        Raises:
            AgentFailure: If the agent fails.
        """
        params = {"sessionId": session_id, "modeId": mode}
        await self._request("session_set_mode", params, START_SECONDS)

    async def set_model(self, session_id: str, model: str) -> None:
        """Set the model of a session, for agents that have no option for it.

        Raises:
            AgentFailure: If the agent fails.
        """
        params = {"sessionId": session_id, "modelId": model}
        await self._request("session_set_model", params, START_SECONDS)

    async def set_option(
        self, session_id: str, option: str, value: str
    ) -> list[SessionConfigOptionSelect | SessionConfigOptionBoolean]:
        """Set an option of a session; return all options as they are then.

        Raises:
            AgentFailure: If the agent fails.
        """
        params = {"sessionId": session_id, "configId": option, "value": value}
        form = SetSessionConfigOptionResponse
        return (await self._ask("session_set_config_option", params, form)).config_options

    async def prompt(self, session_id: str, texts: Sequence[str]) -> PromptResponse:
        """Send a prompt; return when the turn of the agent is over.

        Raises:
            AgentFailure: If the agent fails.
        """
        blocks = [{"type": "text", "text": text} for text in texts]
        params = {"sessionId": session_id, "prompt": blocks}
        return self._checked(await self._request("session_prompt", params, None), PromptResponse)

    async def cancel(self, session_id: str) -> None:
        """Ask the agent to end its turn."""
        method = AGENT_METHODS["session_cancel"]
        await self._connection.send_notification(method, {"sessionId": session_id})

    async def close(self) -> None:
        """End the agent."""
        await self.process.kill()
        await self._connection.close()

    def _place(self, folder: Path, others: Sequence[Path]) -> dict[str, Any]:
        """Return where a session works, as parameters."""
        place: dict[str, Any] = {"cwd": str(folder), "mcpServers": []}
        if self._takes_folders and others:
            place["additionalDirectories"] = [str(one) for one in others]
        return place

    async def _ask(self, name: str, params: dict[str, Any], form: type[M]) -> M:
        return self._checked(await self._request(name, params, START_SECONDS), form)

    async def _request(self, name: str, params: dict[str, Any], seconds: float | None) -> Any:
        """Send a request and return the raw result.

        Raises:
            AgentFailure: If the agent answers with an error, ends, or takes too long.
        """
        method, agent = _METHODS[name], self._agent.name
        try:
            async with asyncio.timeout(seconds):
                return await self._connection.send_request(method, params)
        except RequestError as error:
            if error.code == AUTH_REQUIRED:
                raise AgentFailure(self._login_needed()) from error
            text = escape_line(_described(error))[:_MAX_SHOWN].rstrip(".")
            raise AgentFailure(f"The agent {agent} reports an error: {text}.") from error
        except TimeoutError:
            raise AgentFailure(
                f"The agent {agent} did not answer {method!r} within {seconds:g} s"
                f"{self.process.stderr_end}."
            ) from None
        except (ConnectionError, OSError) as error:
            self.is_broken = True
            if fault := self._transport.fault:
                raise AgentFailure(f"The agent {agent} {fault}, and was stopped.") from error
            raise AgentFailure(await self.process.describe_end()) from error

    def _login_needed(self) -> str:
        agent = self._agent
        if agent.profile.login:
            how = f"Run `{agent.profile.login}` in a terminal and log in, then ask again."
        else:
            how = "Log in with its own program, then ask again."
        return f"The agent {agent.name} needs a login. {how}"

    def _checked(self, answer: Any, form: type[M]) -> M:
        """Return an answer as a value.

        Raises:
            AgentFailure: If it has another form.
        """
        try:
            return form.model_validate(answer)
        except (ValidationError, RecursionError) as error:
            what = form.__name__.removesuffix("Response")
            raise AgentFailure(
                f"The agent {self._agent.name} sent an answer ({what}) that is not of the protocol."
            ) from error


def _described(error: RequestError) -> str:
    """Return an error of an agent with its details, which some agents put beside the message."""
    data = error.data
    details = data.get("details") if isinstance(data, dict) else data
    return f"{error}: {details}" if isinstance(details, str) and details else str(error)
