"""One chat with one agent: its process, its session and its turns."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acp.exceptions import RequestError
from acp.schema import (
    PromptResponse,
    ReadTextFileRequest,
    RequestPermissionRequest,
    WriteTextFileRequest,
)
from acp.schema import Usage as AgentUsage
from pydantic import ValidationError

from stet.agent.session import Session
from stet.agent.turn import Mode, Turn, TurnFailed, TurnState
from stet.agent.turn_runner import TurnChannel
from stet.bridges.acp.agent_connection import AgentConnection
from stet.bridges.acp.agent_files import AgentFiles
from stet.bridges.acp.agent_process import (
    AgentFailure,
    AgentProcess,
    Spawn,
    program_environment,
)
from stet.bridges.acp.agent_prompt import INTRODUCTION, build_prompt
from stet.bridges.acp.external_turn import ExternalTurn
from stet.bridges.acp.profiles import ConfiguredAgent
from stet.bridges.acp.session_options import LoadedSession, NewSession, SessionOptions
from stet.bridges.isolation.isolated_agent import IsolatedAgent, IsolationFailed, prepare_isolation
from stet.bridges.session_view import SessionView
from stet.llm.model import Usage
from stet.text.render import counted
from stet.workspace.names import PathRefused
from stet.workspace.uris import path_of, uri_of
from stet.workspace.workspace import Workspace

CANCEL_SECONDS = 5.0
"""The seconds that an agent has to end a cancelled turn before it is killed."""
_ENDS = {
    "max_tokens": (TurnState.LIMITED, "The agent stopped: the answer was too long for its model."),
    "max_turn_requests": (TurnState.LIMITED, "The agent stopped: it has reached its own limit."),
    "refusal": (TurnState.FAILED, "The agent refused to answer."),
    "cancelled": (TurnState.CANCELLED, "The agent stopped before it was done."),
}
"""By stop reason, the state and the error of the turn."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What is sent to the agent, for the request log.

    Attributes:
        turn: The id of the turn.
        parts: The names of its parts.
        n_characters: The number of characters.
        kinds: The number of secrets of each kind that were replaced by marks.
        is_open: Whether secrets are not replaced.
    """

    turn: str
    parts: tuple[str, ...]
    n_characters: int
    kinds: tuple[tuple[str, int], ...] = ()
    is_open: bool = False


class AcpSession:
    """The session; used on the event loop only, for one turn at a time.

    Attributes:
        agent: The configuration of the agent when the session began.
        view: What the session sees.
        session_id: The agent's id of the session; "" before it begins.
        is_working: Whether a turn runs.
        has_hooks: Whether the agent has called Stet's hooks.
        options: What the agent offers for the session.
    """

    def __init__(  # noqa: PLR0913 - all its ports
        self,
        agent: ConfiguredAgent,
        view: SessionView,
        workspace: Workspace,
        spawn: Spawn,
        record: Callable[[Sent], None],
        *,
        chosen: Mapping[str, str],
    ) -> None:
        """Create a session without a process.

        Args:
            agent: The agent.
            view: What the session sees.
            workspace: The files.
            spawn: Starts a task.
            record: Records what is sent.
            chosen: By option, the value that the user has chosen for this chat; it changes.
        """
        self.agent = agent
        self.options = SessionOptions(agent)
        self.is_working = self.has_hooks = False
        self.view = view
        self._workspace = workspace
        self._spawn = spawn
        self._record = record
        self._chosen = chosen
        self._connection: AgentConnection | None = None
        self._isolated: IsolatedAgent | None = None
        self._isolation = ""
        """The setting `agents.isolation` when the program was started."""
        self.session_id = ""
        self._turn: ExternalTurn | None = None
        self._settling: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._is_prompted = False
        self._unsent_feedback = ""
        self._cost: float | None = None
        self._files = AgentFiles(
            view,
            workspace,
            missing_is_empty=agent.profile.missing_is_empty,
            record=self._record_read,
        )

    @property
    def is_running(self) -> bool:
        """Whether the agent's program runs."""
        connection = self._connection
        return connection is not None and connection.process.is_running and not connection.is_broken

    @property
    def is_isolated(self) -> bool:
        """Whether the agent's program runs in overlays of the workspace."""
        return self._isolated is not None

    @property
    def _is_reviewed(self) -> bool:
        """Whether what the agent's own tools write becomes hunks without its hooks."""
        return self.agent.profile.capture == "client-fs" or self.is_isolated

    @property
    def _is_outdated(self) -> bool:
        """Whether the program was started with other settings or folders than those of now."""
        isolated, wanted = self._isolated, self._workspace.settings.agents.isolation
        return wanted != self._isolation or (isolated is not None and isolated.is_outdated)

    @property
    def _introduction(self) -> str:
        """The first text for the agent; "" if its edits are not caught by this connection."""
        if self._isolated is not None:
            return self._isolated.introduction
        return INTRODUCTION if self._is_reviewed else ""

    async def run(self, turn: Turn, session: Session, channel: TurnChannel) -> Turn:
        """Run a turn to its end.

        Raises:
            TurnFailed: If the agent fails.
        """
        if self._settling is not None:
            await asyncio.wait({self._settling})
        external = self._turn = ExternalTurn(
            turn, channel, self._spawn, name_of=self._name_of, now=self._now
        )
        self.is_working = True
        try:
            response = await self._answer(external, session)
            notes = await self._end_isolated_turn()
            ended = external.finish(**self._figures(response, external, notes))
        except AgentFailure as failure:
            notes = (*external.turn.notes, *await self._end_isolated_turn())
            if not self.is_running:
                await self.close()
            external.finish(**self._files_used(), notes=notes)
            raise TurnFailed(str(failure)) from failure
        finally:
            external.stop()
            self._turn = None
            self.is_working = self._is_prompted = False
        state, error = _ENDS.get(response.stop_reason, (TurnState.COMPLETED, ""))
        if not error:
            return ended.ended(state, summary=external.summary() or "Done.")
        return ended.ended(state, error=error)

    async def set_chosen(self, option: str) -> None:
        """Set an option to what the user has chosen, if the agent's program runs.

        Raises:
            AgentFailure: If the agent fails.
        """
        if (connection := self._connection) is not None and self.is_running:
            chosen = {option: self._chosen[option]}
            await self.options.apply(connection, self.session_id, chosen)
            self._show_changes()

    async def close(self) -> None:
        """End the agent's program, and propose what it has changed until then."""
        connection, self._connection = self._connection, None
        isolated, self._isolated = self._isolated, None
        if connection is not None:
            await connection.close()
        if isolated is not None:
            await isolated.close()

    async def _answer(self, external: ExternalTurn, session: Session) -> PromptResponse:
        """Send the question, and return when the agent is done.

        Raises:
            AgentFailure: If the agent fails.
        """
        turn = external.turn
        self._files.begin_turn(turn.ask.mode)
        connection, can_write = self._connection, turn.ask.mode is Mode.AGENT
        is_first = connection is None or not self.is_running or self._is_outdated
        if is_first:
            await self.close()
        if self._isolated is not None:
            feedback = await self._isolated.begin_turn(turn.id, can_write=can_write)
        else:
            feedback = await self.view.begin_turn(turn.id)
        self._unsent_feedback = "\n".join(filter(None, (self._unsent_feedback, feedback)))
        if connection is None or is_first:
            folder = self._folder(turn.ask.place.uri)
            connection = await self._open(session, folder, can_write=can_write)
        isolated, external.is_reviewed = self._isolated, self._is_reviewed
        prompt = await build_prompt(
            turn.ask, self._unsent_feedback, self.view, self._workspace,
            reads_disk=self.agent.profile.reads_disk and isolated is None,
            introduction=self._introduction if is_first else "",
        )  # fmt: skip
        n_characters = sum(map(len, prompt.texts))
        self._record(Sent(turn.id, prompt.parts, n_characters, prompt.kinds, prompt.is_open))
        self._is_prompted = True  # before it, an agent that loads a session repeats old messages
        self._show_changes()
        if isolated is not None:
            isolated.watch(self._spawn)
        answering = self._prompt(connection, prompt.texts)
        task = self._spawn(answering, f"prompt of {turn.id}")
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            external.stop()
            self._settling = self._spawn(self._settle(connection, task), f"end of {turn.id}")
            raise
        response = task.result()
        if isinstance(response, AgentFailure):
            raise response
        self._unsent_feedback = ""
        return response

    async def _prompt(
        self, connection: AgentConnection, texts: Sequence[str]
    ) -> PromptResponse | AgentFailure:
        """Return the answer to a prompt, or the failure: a task that fails is logged as a bug."""
        try:
            return await connection.prompt(self.session_id, texts)
        except AgentFailure as failure:
            return failure

    async def _settle(
        self, connection: AgentConnection, task: asyncio.Task[PromptResponse | AgentFailure]
    ) -> None:
        """End a turn that the user has cancelled; kill an agent that does not end it."""
        try:
            async with asyncio.timeout(CANCEL_SECONDS):
                await connection.cancel(self.session_id)
                await asyncio.wait({task})
            await self._end_isolated_turn()
        except (TimeoutError, OSError):
            task.cancel()
            await self.close()

    async def _open(self, session: Session, folder: Path, *, can_write: bool) -> AgentConnection:
        """Start the program in a folder, and begin a session or load that of an earlier run.

        Raises:
            AgentFailure: If this fails; the program is ended.
        """
        self._isolation = self._workspace.settings.agents.isolation
        environment = program_environment(self.agent, self._workspace.snapshot().system.environ())
        try:
            isolated = self._isolated = await prepare_isolation(
                self.view, self._workspace, environment, can_write=can_write
            )
        except IsolationFailed as failure:
            raise AgentFailure(
                f"The agent {self.agent.name} can't be isolated: {failure}. With "
                'agents.isolation "none" it writes the disk.'
            ) from failure
        try:
            return await self._start(session, folder, isolated)
        except BaseException:
            await self.close()
            raise

    async def _start(
        self, session: Session, folder: Path, isolated: IsolatedAgent | None
    ) -> AgentConnection:
        """Start the program, and begin a session or load that of an earlier run.

        Raises:
            AgentFailure: If this fails; the program is ended.
        """
        system = self._workspace.snapshot().system
        isolate = isolated.command if isolated is not None else None
        process = await AgentProcess.start(self.agent, folder, system, self._spawn, isolate)
        if isolated is not None:
            isolated.started(process.process.pid)
        connection = AgentConnection(self.agent, process, self._handle)
        try:
            await connection.initialize()
            await connection.authenticate(program_environment(self.agent, system.environ()))
            response = await self._begin_session(connection, folder, session)
            await self.options.begin(response, connection, self.session_id)
        except BaseException:
            await connection.close()
            raise
        session.agent_sessions[self.agent.name] = self.session_id
        self._connection = connection
        await self.options.apply(connection, self.session_id, self._chosen)
        return connection

    async def _begin_session(
        self, connection: AgentConnection, folder: Path, session: Session
    ) -> NewSession | LoadedSession:
        others = [one.path for one in self._workspace.roots if one.path != folder]
        self.session_id = session.agent_sessions.get(self.agent.name, "")
        self._cost = None  # of a loaded session, what it has cost before is unknown
        if self.session_id and connection.can_load:
            try:
                return await connection.load_session(folder, others, self.session_id)
            except AgentFailure:
                if not connection.process.is_running:
                    raise
        response = await connection.new_session(folder, others)
        self.session_id, self._cost = response.session_id, 0.0
        return response

    def _show_changes(self) -> None:
        """Show changed options in the turn that runs; else they are shown in the next one."""
        if self._turn is not None and self._is_prompted and not self._turn.is_over:
            for line in self.options.changes():
                self._turn.add_line(line)

    def _update(self, params: Any) -> None:
        """Pass on an update; before a prompt, only one of the options counts."""
        if isinstance(params, dict) and params.get("sessionId") == self.session_id:
            self.options.update(params)
            self._show_changes()
        if self._turn is not None and self._is_prompted:
            self._turn.update(params)

    async def _handle(self, method: str, params: Any, is_notification: bool) -> Any:  # noqa: FBT001
        """Handle a request or notification of the agent.

        Raises:
            RequestError: If it is refused.
        """
        if method == "session/update":
            self._update(params)
        if is_notification or method == "session/update":
            return None
        external = self._turn
        try:
            match method:
                case "session/request_permission":
                    asked = RequestPermissionRequest.model_validate(params)
                    return await self._running(external, asked.session_id).ask_permission(asked)
                case "fs/read_text_file":
                    wanted = ReadTextFileRequest.model_validate(params)
                    _ = self._running(external, wanted.session_id)
                    if self._isolated is not None:
                        await self._isolated.collect()
                    return await self._files.read(wanted)
                case "fs/write_text_file":
                    written = WriteTextFileRequest.model_validate(params)
                    async with self._writing:
                        _ = self._running(external, written.session_id)
                        return await self._write(written)
        except (ValidationError, RecursionError) as error:
            raise RequestError(-32602, "Invalid params") from error
        raise RequestError.method_not_found(method)

    async def _write(self, written: WriteTextFileRequest) -> None:
        """Propose what the agent writes by a request, and show it to the agent's programs.

        Raises:
            RequestError: If it is refused.
        """
        if (isolated := self._isolated) is None:
            return await self._files.write(written)
        await isolated.collect()
        try:
            return await self._files.write(written)
        finally:
            await isolated.show(uri_of(Path(written.path)))

    async def _end_isolated_turn(self) -> tuple[str, ...]:
        """Propose what an isolated agent has changed; return notes about what was not proposed."""
        return await self._isolated.end_turn() if self._isolated is not None else ()

    def _running(self, external: ExternalTurn | None, session_id: str) -> ExternalTurn:
        """Return the turn of a request, which must still run.

        Raises:
            RequestError: If it does not, or the request names another session.
        """
        if session_id != self.session_id:
            raise RequestError(-32602, "This is not the session of this agent.")
        is_running = external is not None and external is self._turn and not external.is_over
        if external is None or not is_running or not self._is_prompted:
            raise RequestError(-32603, "The turn is over.")
        return external

    def _figures(
        self, response: PromptResponse, external: ExternalTurn, notes: tuple[str, ...]
    ) -> dict[str, Any]:
        """Return the fields of the turn at its end: the files, the tokens, the cost and notes."""
        fields = {**self._files_used(), "notes": (*external.turn.notes, *notes)}
        if external.n_writes and not self._is_reviewed and not self.has_hooks:
            fields["notes"] = (*external.turn.notes, self._unreviewed(external.n_writes))
        if response.usage is not None:
            fields["rounds"] = (_tokens(response.usage),)
        if external.cost is not None:
            if self._cost is not None:
                fields["cost"] = max(0.0, external.cost - self._cost)
            self._cost = external.cost
        return fields

    def _unreviewed(self, n_writes: int) -> str:
        """Return the note about edits that were written to the disk."""
        profile = self.agent.server.profile
        note = f"{self.agent.name} writes files itself: {counted(n_writes, 'edit')} not reviewed."
        if profile == "generic":
            return note
        return f"{note} `stet agents install {profile} --write` makes hunks of them."

    def _files_used(self) -> dict[str, Any]:
        return {"files_read": tuple(self._files.read_names), "failed": tuple(self._files.failed)}

    def _record_read(self, name: str, n_characters: int) -> None:
        if self._turn is not None:
            self._record(Sent(self._turn.turn.id, (name,), n_characters, is_open=True))

    def _folder(self, uri: str | None) -> Path:
        """Return the folder in which the agent works: that of the question's file, or the first.

        Raises:
            AgentFailure: If no folder is open.
        """
        if not self._workspace.roots:
            raise AgentFailure("Open a folder first: another agent works in a folder.")
        path = path_of(uri or self._workspace.snapshot().activity.active or "")
        roots = [root.path for root in self._workspace.roots]
        return next((root for root in roots if path and path.is_relative_to(root)), roots[0])

    def _name_of(self, path: str) -> str:
        """Return the name of a file of the workspace, or ""."""
        try:
            located = self._workspace.snapshot().locate(path)
        except PathRefused:
            return ""
        return located.name if self.view.is_ours(located.uri) else ""

    def _now(self) -> float:
        return self._workspace.snapshot().system.now()


def _tokens(usage: AgentUsage) -> Usage:
    """Return the tokens of a turn: some agents count cached tokens as input, others don't."""
    rest = usage.total_tokens - usage.output_tokens - (usage.thought_tokens or 0)
    prompt = max(usage.input_tokens, rest)
    cached = min(usage.cached_read_tokens or 0, prompt)
    return Usage(prompt, usage.output_tokens, cached)
