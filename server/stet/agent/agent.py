"""The agent: takes questions, runs a turn for each, and knows how every one of them stands."""

import asyncio
import dataclasses
import functools
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from itertools import islice
from typing import Any

from stet.agent.agent_events import AgentEvent, TurnEnded, TurnStarted
from stet.agent.archive import DIED, Archive, Past
from stet.agent.errors import told_of
from stet.agent.limits import Limits
from stet.agent.pricing import users_pricing
from stet.agent.questions import Questions
from stet.agent.session import Session
from stet.agent.turn import OVER, Ask, Mode, Turn, TurnState
from stet.agent.turn_runner import Emit, TurnExecutor, TurnRunner
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkState
from stet.review.store.chat_rows import MAX_TURNS
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]


STILL_THERE = "What it had proposed is still there to review."
_ID = re.compile("t[0-9]{1,20}")
_TAKEN_BACK = {HunkState.WITHDRAWN, HunkState.SUPERSEDED}


class UnknownTurn(Exception):
    """There is no turn of that id."""


class NotRunning(Exception):
    """There is no turn that could hear it; the message says why."""


class Agent:
    """All conversations of one server; touched on the event loop only.

    Args:
        workspace: Whose settings hold.
        ledger: Where proposals go.
        answer: Does a turn's work; waited for, because it takes long to import.
        number: Gives a number that no turn has had in this workspace, in earlier runs either.
        spawn: Starts a task and keeps it.
        emit: Is told what happens; called on the event loop.
        archive: Keeps turns and what was said; by default nothing outlives the process.

    Attributes:
        questions: What turns wait for.
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
        archive: Archive | None = None,
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._answer = answer
        self._spawn = spawn
        self._emit = emit
        self._sessions: dict[str, Session] = {}
        self._turns: dict[str, Turn] = {}
        self._at_work: dict[str, TurnRunner] = {}
        self.questions = Questions()
        self._number = number
        self._archive = archive or Archive()

    def ask(self, ask: Ask) -> Turn:
        """Take a question: it starts at once, or behind the turn that runs in its chat."""
        if ask.attachments is None:  # a queued turn keeps what was attached when it was asked
            ask = dataclasses.replace(ask, attachments=self._workspace.attachments)
        turn = Turn(id=f"t{self._number()}", ask=ask, at=self._now())
        self._turns[turn.id] = turn
        self._forget_old()
        self._archive.keep_turn(turn)
        session = self.session(ask.chat)
        session.queue.append(turn.id)
        self._start_next(session)
        return self._turns[turn.id]

    def _forget_old(self) -> None:
        """Of very many turns the oldest are known no longer, as after a restart."""
        n_more = max(0, len(self._turns) - MAX_TURNS)
        for turn in list(islice(self._turns.values(), n_more)):
            if turn.state in OVER and turn.id not in self._at_work:
                del self._turns[turn.id]

    async def restore(self) -> None:
        """Bring back the conversations of earlier runs; those that have begun since go on."""
        past = await asyncio.to_thread(self._archive.load)
        for session in self._take_back(past):
            await self._keep_chat(session)

    def _take_back(self, past: Past) -> Sequence[Session]:
        """Merge earlier conversations. Return those that have begun since, which are to be kept anew."""
        # Changes are counted anew from the highest one that is left.
        latest = max((hunk.changed for hunk in self._ledger.hunks()), default=0)
        self._turns = {turn.id: self._cut_short(turn) for turn in past.turns} | self._turns
        for turn in reversed(past.turns):
            self.session(turn.ask.chat).user_messages[:0] = turn.users_words
        joined = []
        for kept in past.sessions:
            session = self.session(kept.chat)
            if session.history:
                joined.append(session)
            session.history[:0] = kept.history
            session.approved_hosts.n_sent_characters += kept.approved_hosts.n_sent_characters
            upto = kept.knowledge.upto
            if session.knowledge.upto is None and upto is not None:
                session.knowledge = dataclasses.replace(kept.knowledge, upto=min(upto, latest))
        return joined

    def _cut_short(self, turn: Turn) -> Turn:
        """A turn of earlier; of one whose server died, the user is told what is left of it."""
        if turn.error != DIED or not self._has_proposed(turn.id):
            return turn
        error = f"{DIED} {STILL_THERE}"
        return dataclasses.replace(turn, error=error, summary=error)

    def chats(self) -> tuple[str, ...]:
        """The conversations that have turns, the one that was last asked in at the end."""
        latest = {turn.ask.chat: n for n, turn in enumerate(self._turns.values())}
        return tuple(sorted(latest, key=latest.__getitem__))

    def turn(self, turn_id: str) -> Turn:
        """The turn as it is now.

        Raises:
            UnknownTurn: If there is none of that id.
        """
        if (turn := self._turns.get(turn_id)) is None:
            told = f"there is no turn {turn_id!r}"
            if _ID.fullmatch(turn_id):
                told += (
                    f"; if it is of an earlier run, it is no longer kept: the last {MAX_TURNS} are"
                )
            raise UnknownTurn(told)
        return turn

    def turns(self) -> tuple[Turn, ...]:
        """All turns, oldest first."""
        return tuple(self._turns.values())

    def cancel(self, turn_id: str | None = None) -> tuple[str, ...]:
        """Stop a turn, or all of them; what they have proposed stays. Tells which were stopped.

        One whose work is done is not stopped: it stands in the history, and its end is told.

        Raises:
            UnknownTurn: If there is none of that id.
        """
        wanted = [self.turn(turn_id)] if turn_id else list(self._turns.values())
        for turn in wanted:
            work = self._at_work.get(turn.id)
            if work is not None and work.closing is not None:
                self._end(work.closing)
        stopped = [turn.id for turn in wanted if self._turns[turn.id].state not in OVER]
        for stopped_id in stopped:
            # Its end is on record before its task is told: nothing the task still does counts.
            self._end(self._turns[stopped_id].ended(TurnState.CANCELLED, error="Cancelled."))
            work = self._at_work.get(stopped_id)
            if work is not None and work.task is not None:
                self._remember_stopped(self._turns[stopped_id])
                work.task.cancel()
        return tuple(stopped)

    def _remember_stopped(self, turn: Turn) -> None:
        """Let the next turn of the chat know of one that was cancelled while it ran."""
        session = self.session(turn.ask.chat)
        session.record_turn(turn, self._ledger.hunks(turn=turn.id))
        _ = self._spawn(self._keep_chat(session), f"keeping the chat of {turn.id}")

    def session(self, chat: str) -> Session:
        """The conversation of that id; a new one if there is none yet."""
        return self._sessions.setdefault(chat, Session(chat))

    def steer(self, text: str, turn_id: str | None = None) -> str:
        """Say something to a turn that runs, by default the latest; gives the turn's id.

        The model sees it at its next step; a turn that was about to end takes one step more.

        Raises:
            UnknownTurn: If there is none of that id.
            NotRunning: If it does not run, or has no steps.
        """
        running = [
            turn
            for turn in self._turns.values()
            if turn.id in self._at_work and turn.state not in OVER
        ]
        wanted = self.turn(turn_id) if turn_id else next(reversed(running), None)
        if wanted is None:
            raise NotRunning("no turn runs: ask with `stet.ask`")
        if wanted not in running:
            raise NotRunning(f"the turn {wanted.id!r} does not run, it is {wanted.state}")
        if wanted.ask.mode is Mode.REWRITE:
            raise NotRunning(
                f"the turn {wanted.id!r} rewrites in one shot: cancel it and ask in other words"
            )
        self._at_work[wanted.id].steering.say(text)
        return wanted.id

    def _start_next(self, session: Session) -> None:
        while session.running is None and session.queue:
            turn = self._turns.get(session.queue.popleft())
            if turn is None or turn.state in OVER:  # cancelled while it waited
                continue
            session.running, session.turn_start = turn.id, None
            now = functools.partial(self.turn, turn.id)
            work = self._at_work[turn.id] = TurnRunner(now, self._keep, self.questions)
            self._keep(TurnStarted(dataclasses.replace(turn, state=TurnState.RUNNING)))
            work.task = self._spawn(self._run(work, session, turn.id), f"turn {turn.id}")
            # Not at the end of `_run`: a task cancelled before its first step never gets there.
            work.task.add_done_callback(functools.partial(self._make_way, turn.id, session))

    async def _run(self, work: TurnRunner, session: Session, turn_id: str) -> None:
        """A turn from its start to its end, whatever happens on the way."""
        try:
            answer = await self._answer()
            # Settings are known once there is somebody to answer.
            limits = Limits.of(self._workspace.settings.agent)
            ended = await work.run(answer, session, limits)
        except Exception as bug:
            # The turn's task ends with the error, which is logged where tasks are kept; but the
            # user must not be left looking at a turn that never ends.
            self._end(self._turns[turn_id].ended(TurnState.FAILED, error=told_of(bug)))
            raise
        if self._turns[turn_id].state in OVER:
            return  # cancelled at its last step: nothing of it counts
        ended = dataclasses.replace(ended, ended_at=self._now())
        ended = ended.with_what_stays(has_proposed=self._has_proposed(turn_id))
        if ended.state is not TurnState.CANCELLED:  # nothing was sent that the user did not want
            session.record_turn(ended, self._ledger.hunks(turn=turn_id))
        # Before the end is told: whoever knows of it finds it kept.
        work.closing = ended
        try:
            await self._keep_chat(session)
        finally:
            work.closing = None
            self._end(ended)

    def _has_proposed(self, turn_id: str) -> bool:
        """Whether anything that a turn has proposed is still of use."""
        hunks = self._ledger.hunks(turn=turn_id)
        return any(hunk.state not in _TAKEN_BACK for hunk in hunks)

    async def _keep_chat(self, session: Session) -> None:
        async with session.save_lock:
            n_carried = session.approved_hosts.n_sent_characters
            known = (session.chat, tuple(session.history), session.knowledge, n_carried)
            await asyncio.to_thread(self._archive.keep_chat, *known)

    def _make_way(self, turn_id: str, session: Session, _task: asyncio.Task[None]) -> None:
        """Let the next turn of the chat begin."""
        session.running = None
        del self._at_work[turn_id]
        self._start_next(session)

    def _keep(self, event: AgentEvent) -> None:
        """Keep the turn as the event shows it, and pass the event on; nothing after its end."""
        if self._turns[event.turn.id].state in OVER:
            return
        if (work := self._at_work.get(event.turn.id)) is not None:
            work.observe_event(event)
        if self._turns[event.turn.id] != event.turn:
            self._turns[event.turn.id] = event.turn
            self._archive.keep_turn(event.turn)
        self._emit(event)

    def _end(self, turn: Turn) -> None:
        self.questions.withdraw(turn.id)
        work = self._at_work.get(turn.id)
        if work is not None and turn.state is not TurnState.CANCELLED:
            turn = turn.without_hearing(work.steering.take())
        if not turn.pricing.source:  # it ended before it was known who answers
            pricing = users_pricing(self._workspace.settings.model.price)
            turn = dataclasses.replace(turn, pricing=pricing)
        cost = turn.pricing.cost(turn.usage)
        ended_at = turn.ended_at or self._now()
        self._keep(TurnEnded(dataclasses.replace(turn, cost=cost, ended_at=ended_at)))

    def _now(self) -> float:
        """The time, in seconds since the epoch."""
        return self._workspace.snapshot().system.now()
