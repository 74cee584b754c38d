"""The agent: takes questions, runs a turn for each, and knows the state of every turn."""

import asyncio
import functools
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, get_args, get_type_hints

from stet.agent.agent_events import AgentEvent, TurnEnded, TurnStarted
from stet.agent.limits import Limits, users_pricing
from stet.agent.session import SERVER_DIED, ChatArchive, SavedChats, Session
from stet.agent.turn import (
    FINAL_STATES,
    STET,
    Ask,
    ChoiceRefused,
    Mode,
    Turn,
    TurnState,
    describe_bug,
)
from stet.agent.turn_runner import Emit, PendingQuestions, TurnExecutor, TurnRunner
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkState
from stet.settings.values import AgentServerSettings
from stet.storage.write_batch import MAX_TURNS
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]


PROPOSALS_REMAIN = "Its proposals are still pending."
_ID = re.compile("t[0-9]{1,20}")
_WITHDRAWN_STATES = {HunkState.WITHDRAWN, HunkState.SUPERSEDED}


class UnknownTurn(Exception):
    """No turn has this id."""


class NotRunning(Exception):
    """No running turn can receive the message; the exception's text says why."""


class Agent:
    """All conversations of one server; used on the event loop only.

    Args:
        workspace: The workspace, whose settings apply.
        ledger: Receives the proposals.
        answer: Returns the function that executes a turn; awaited, because its import takes long.
        number: Returns a number that no turn of this workspace has had, also in earlier runs.
        spawn: Starts a task and keeps a reference to the task.
        emit: Receives each event; called on the event loop.
        archive: Persists turns and conversations.

    Attributes:
        questions: The questions that turns are waiting on.
    """

    def __init__(  # noqa: PLR0913 - each is a port
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        answer: Callable[[], Awaitable[TurnExecutor]],
        *,
        number: Callable[[], int],
        spawn: Spawn,
        emit: Emit,
        archive: ChatArchive,
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._load_executor = answer
        self._spawn = spawn
        self._emit = emit
        self._sessions: dict[str, Session] = {}
        self._turns: dict[str, Turn] = {}
        self._runners: dict[str, TurnRunner] = {}
        self.questions = PendingQuestions()
        self._chosen = ""
        self._chosen_in: dict[str, str] = {}
        self._number = number
        self._archive = archive

    def ask(self, ask: Ask) -> Turn:
        """Take a question. The turn starts at once, or after the turn that runs in its chat."""
        if ask.agent:
            self._chosen_in.pop(
                ask.chat, None
            )  # the chat goes on with the agent that is named last
        if ask.attachments is None:  # a queued turn keeps the attachments of its question
            ask = replace(ask, attachments=self._workspace.attachments)
        turn = Turn(id=f"t{self._number()}", ask=ask, at=self._now())
        self._turns[turn.id] = turn
        self._forget_old()
        self._archive.save_turn(turn)
        session = self.session(ask.chat)
        session.queue.append(turn.id)
        self._start_next(session)
        return self._turns[turn.id]

    def _forget_old(self) -> None:
        """Discard the oldest turns if there are more than `MAX_TURNS`, as a restart does."""
        n_more = max(0, len(self._turns) - MAX_TURNS)
        for turn in list(islice(self._turns.values(), n_more)):
            if turn.state in FINAL_STATES and turn.id not in self._runners:
                del self._turns[turn.id]

    async def restore(self) -> None:
        """Load the conversations of earlier runs and merge them with those of this run."""
        past = await asyncio.to_thread(self._archive.load)
        for session in self._restore_sessions(past):
            await self._save_chat(session)

    def _restore_sessions(self, saved: SavedChats) -> Sequence[Session]:
        """Merge earlier conversations. Return those that this run has continued, for a new save."""
        # The numbers of changes continue from the highest one that is left.
        latest = max((hunk.changed for hunk in self._ledger.hunks()), default=0)
        self._turns = {
            turn.id: self._with_interruption_note(turn) for turn in saved.turns
        } | self._turns
        for turn in reversed(saved.turns):
            self.session(turn.ask.chat).user_messages[:0] = turn.user_texts
        joined = []
        for saved_session in saved.sessions:
            session = self.session(saved_session.chat)
            if session.history:
                joined.append(session)
            session.history[:0] = saved_session.history
            session.agent_sessions = {**saved_session.agent_sessions, **session.agent_sessions}
            session.approved_hosts.n_sent_characters += (
                saved_session.approved_hosts.n_sent_characters
            )
            upto = saved_session.knowledge.upto
            if session.knowledge.upto is None and upto is not None:
                session.knowledge = replace(saved_session.knowledge, upto=min(upto, latest))
        return joined

    def _with_interruption_note(self, turn: Turn) -> Turn:
        """Return an earlier turn. If its server died, tell the user which proposals remain."""
        if turn.error != SERVER_DIED or not self._has_proposed(turn.id):
            return turn
        error = f"{SERVER_DIED} {PROPOSALS_REMAIN}"
        return replace(turn, error=error, summary=error)

    def chats(self) -> tuple[str, ...]:
        """Return the conversations that have turns, the most recently asked last."""
        latest = {turn.ask.chat: n for n, turn in enumerate(self._turns.values())}
        return tuple(sorted(latest, key=latest.__getitem__))

    def named_agent(self, chat: str) -> str:
        """Return the agent that a question of the chat has named last; "" if none has."""
        named = (turn.ask.agent for turn in reversed(self._turns.values()) if turn.ask.chat == chat)
        return next(filter(None, named), "")

    def choose_agent(self, name: str, chat: str) -> None:
        """Let an agent answer new questions, and the messages of a chat.

        Raises:
            ChoiceRefused: If there is no such agent.
        """
        profiles = get_args(get_type_hints(AgentServerSettings)["profile"])[1:]
        servers = (one.name for one in self._workspace.settings.agents.servers)
        known = dict.fromkeys((STET, *servers, *profiles))
        if name not in known:
            listed = ", ".join(known)
            raise ChoiceRefused(f"There is no agent {name[:60]!r}. Known agents: {listed}.")
        self._chosen = self._chosen_in[chat] = name

    def agent_of_question(self, mode: Mode) -> str:
        """Return the agent of a question that names none; "" for that of the settings.

        Only Stet's own agent rewrites.
        """
        return "" if mode is Mode.REWRITE else self._chosen

    def agent_of_message(self, chat: str) -> str:
        """Return the agent of a message in a chat: the one chosen there or named last by a question;
        "" for that of the settings.
        """
        return self._chosen_in.get(chat) or self.named_agent(chat) or self._chosen

    def turn(self, turn_id: str) -> Turn:
        """Return the turn in its current state.

        Raises:
            UnknownTurn: If no turn has this id.
        """
        if (turn := self._turns.get(turn_id)) is None:
            message = f"no turn {turn_id!r}"
            if _ID.fullmatch(turn_id):
                message += f"; only the last {MAX_TURNS} turns of earlier runs are stored"
            raise UnknownTurn(message)
        return turn

    def turns(self) -> tuple[Turn, ...]:
        """Return all turns, oldest first."""
        return tuple(self._turns.values())

    def cancel(self, turn_id: str | None = None) -> tuple[str, ...]:
        """Stop a turn, or all turns, and return the ids of the stopped turns.

        The proposals of a stopped turn stay. A turn whose work is done is not stopped: it is in the
        history, and its end is reported.

        Raises:
            UnknownTurn: If no turn has this id.
        """
        turns = [self.turn(turn_id)] if turn_id else list(self._turns.values())
        for turn in turns:
            runner = self._runners.get(turn.id)
            if runner is not None and runner.closing is not None:
                self._finish_turn(runner.closing)
        stopped = [turn.id for turn in turns if self._turns[turn.id].state not in FINAL_STATES]
        for stopped_id in stopped:
            # The end is recorded before the task is cancelled: later actions of the task do not
            # count.
            self._finish_turn(
                self._turns[stopped_id].ended(TurnState.CANCELLED, error="Cancelled.")
            )
            runner = self._runners.get(stopped_id)
            if runner is not None and runner.task is not None:
                self._record_cancelled(self._turns[stopped_id])
                runner.task.cancel()
        return tuple(stopped)

    def _record_cancelled(self, turn: Turn) -> None:
        """Add a turn that was cancelled while it ran to the history of its chat."""
        session = self.session(turn.ask.chat)
        session.record_turn(turn, self._ledger.hunks(turn=turn.id))
        _ = self._spawn(self._save_chat(session), f"keeping the chat of {turn.id}")

    def session(self, chat: str) -> Session:
        """Return the session of the conversation `chat`. Create the session if none exists."""
        return self._sessions.setdefault(chat, Session(chat))

    def steer(self, text: str, turn_id: str | None = None) -> str:
        """Send the user's text to a running turn, by default the latest. Return the turn's id.

        The model sees the text at its next step. A turn that was about to end takes one more step.
        Another agent gets the text as its next prompt: the id is that of a turn that waits.

        Raises:
            UnknownTurn: If no turn has this id.
            NotRunning: If the turn does not run, or has no steps.
        """
        running = [
            turn
            for turn in self._turns.values()
            if turn.id in self._runners and turn.state not in FINAL_STATES
        ]
        target = self.turn(turn_id) if turn_id else next(reversed(running), None)
        if target is None:
            raise NotRunning("no turn is running: start one with `stet.ask`")
        if target not in running:
            raise NotRunning(f"the turn {target.id!r} is not running: it is {target.state}")
        if target.ask.mode is Mode.REWRITE:
            raise NotRunning(
                f"the turn {target.id!r} is a one-shot rewrite and can't be steered: cancel it "
                "and ask again"
            )
        if target.agent:
            return self.ask(replace(target.ask, prompt=text, agent=target.agent)).id
        self._runners[target.id].steering.append(text)
        return target.id

    def _start_next(self, session: Session) -> None:
        while session.running is None and session.queue:
            turn = self._turns.get(session.queue.popleft())
            if turn is None or turn.state in FINAL_STATES:  # cancelled while it waited
                continue
            session.running, session.turn_start = turn.id, None
            now = functools.partial(self.turn, turn.id)
            runner = self._runners[turn.id] = TurnRunner(now, self._record_event, self.questions)
            self._record_event(TurnStarted(replace(turn, state=TurnState.RUNNING)))
            runner.task = self._spawn(self._run(runner, session, turn.id), f"turn {turn.id}")
            # Not at the end of `_run`: a task cancelled before its first step never gets there.
            runner.task.add_done_callback(functools.partial(self._on_task_done, turn.id, session))

    async def _run(self, runner: TurnRunner, session: Session, turn_id: str) -> None:
        """Run a turn from start to end, even if errors occur during the turn."""
        try:
            execute = await self._load_executor()
            # The settings are known only after the executor has been loaded.
            limits = Limits.of(self._workspace.settings.agent)
            ended = await runner.run(execute, session, limits)
        except Exception as bug:
            # The owner of the task logs the error. The turn must end as well, or the user would
            # wait for it without end.
            self._finish_turn(self._turns[turn_id].ended(TurnState.FAILED, error=describe_bug(bug)))
            raise
        if self._turns[turn_id].state in FINAL_STATES:
            return  # cancelled during its last step: the result does not count
        ended = replace(ended, ended_at=self._now())
        ended = ended.with_remaining_note(has_proposed=self._has_proposed(turn_id))
        if ended.state is not TurnState.CANCELLED:  # the user declined, so nothing was sent
            session.record_turn(ended, self._ledger.hunks(turn=turn_id))
        # Saved before the end is reported: every receiver finds the turn saved.
        runner.closing = ended
        try:
            await self._save_chat(session)
        finally:
            runner.closing = None
            self._finish_turn(ended)

    def _has_proposed(self, turn_id: str) -> bool:
        """Return whether a turn has a hunk that is neither withdrawn nor superseded."""
        hunks = self._ledger.hunks(turn=turn_id)
        return any(hunk.state not in _WITHDRAWN_STATES for hunk in hunks)

    async def _save_chat(self, session: Session) -> None:
        async with session.save_lock:
            n_sent_characters = session.approved_hosts.n_sent_characters
            known = (session.chat, tuple(session.history), session.knowledge, n_sent_characters)
            agents = dict(session.agent_sessions)
            await asyncio.to_thread(self._archive.save_chat, *known, agents)

    def _on_task_done(self, turn_id: str, session: Session, _task: asyncio.Task[None]) -> None:
        """Start the next turn of the chat."""
        session.running = None
        del self._runners[turn_id]
        self._start_next(session)

    def _record_event(self, event: AgentEvent) -> None:
        """Store the turn of the event and pass the event on; ignore events after the turn's end."""
        if self._turns[event.turn.id].state in FINAL_STATES:
            return
        if (runner := self._runners.get(event.turn.id)) is not None:
            runner.observe_event(event)
        if self._turns[event.turn.id] != event.turn:
            self._turns[event.turn.id] = event.turn
            self._archive.save_turn(event.turn)
        self._emit(event)

    def _finish_turn(self, turn: Turn) -> None:
        self.questions.withdraw(turn.id)
        runner = self._runners.get(turn.id)
        if runner is not None and turn.state is not TurnState.CANCELLED:
            turn = turn.with_unread_steering(runner.steering)
        if not turn.pricing.source and not turn.agent:  # it ended before its model was known
            pricing = users_pricing(self._workspace.settings.model.price)
            turn = replace(turn, pricing=pricing)
        cost = turn.cost if turn.agent else turn.pricing.cost(turn.usage)
        ended_at = turn.ended_at or self._now()
        self._record_event(TurnEnded(replace(turn, cost=cost, ended_at=ended_at)))

    def _now(self) -> float:
        """Return the current time, in seconds since the epoch."""
        return self._workspace.snapshot().system.now()
