"""The agent: takes questions, runs a turn for each, and knows how every one of them stands."""

import asyncio
import dataclasses
import functools
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from stet.agent.archive import Archive, Past
from stet.agent.errors import Declined, LimitReached, TurnFailed
from stet.agent.events import AgentEvent, Asked, Resumed, TurnEnded, TurnStarted, Waiting
from stet.agent.limits import Limits
from stet.agent.questions import Questions
from stet.agent.session import Session
from stet.agent.steering import Steering
from stet.agent.turn import OVER, Ask, Mode, Turn, TurnState
from stet.llm.errors import ModelError
from stet.llm.messages import Usage
from stet.review.ledger import ReviewLedger
from stet.settings.values import Price
from stet.tools.question import Inquire, Question
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]
Emit = Callable[[AgentEvent], None]


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """How a turn at work reaches the editor.

    Attributes:
        emit: Tells what happens.
        inquire: Puts a question of the turn to the user and waits for the answer.
        steering: What the user says meanwhile.
        left: Seconds until the turn's time is over.
    """

    emit: Emit
    inquire: Inquire
    steering: Steering
    left: Callable[[], float]


class Answer(Protocol):
    """Does a turn's work: see `stet.agent.answer`."""

    def __call__(self, turn: Turn, session: Session, limits: Limits, line: Line) -> Awaitable[Turn]:
        """Run the turn to its end."""
        ...


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
        answer: Callable[[], Awaitable[Answer]],
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
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.questions = Questions()
        self._timers: dict[str, asyncio.Timeout] = {}
        self._steering: dict[str, Steering] = {}
        self._faults: dict[str, str] = {}
        self._closing: dict[str, Turn] = {}
        """Turns at their end, while what was said in them is being kept."""
        self._number = number
        self._archive = archive or Archive()

    def ask(self, ask: Ask) -> Turn:
        """Take a question: it starts at once, or behind the turn that runs in its chat."""
        now = self._workspace.snapshot().system.now()
        turn = Turn(id=f"t{self._number()}", ask=ask, at=now)
        self._turns[turn.id] = turn
        self._archive.keep_turn(turn)
        session = self.session(ask.chat)
        session.queue.append(turn.id)
        self._start_next(session)
        return self._turns[turn.id]

    async def restore(self) -> None:
        """Bring back the conversations of earlier runs; those that have begun since go on."""
        past = await asyncio.to_thread(self._archive.load)
        self._take_back(past)

    def _take_back(self, past: Past) -> None:
        # Changes are counted anew from the highest one that is left.
        latest = max((hunk.changed for hunk in self._ledger.hunks()), default=0)
        self._turns = {turn.id: turn for turn in past.turns} | self._turns
        for turn in reversed(past.turns):
            if turn.ask.comment is None and turn.ask.is_users:  # a stranger's words name no host
                self.session(turn.ask.chat).words.insert(0, turn.ask.prompt)
        for kept in past.sessions:
            session = self.session(kept.chat)
            session.history[:0] = kept.history
            upto = kept.heard.upto
            if session.heard.upto is None and upto is not None:
                session.heard = dataclasses.replace(kept.heard, upto=min(upto, latest))

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
            raise UnknownTurn(f"there is no turn {turn_id!r}")
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
            if turn.id in self._closing:
                self._end(self._closing[turn.id])
        stopped = [turn.id for turn in wanted if self._turns[turn.id].state not in OVER]
        for stopped_id in stopped:
            # Its end is on record before its task is told: nothing the task still does counts.
            self._end(self._turns[stopped_id].ended(TurnState.CANCELLED, error="Cancelled."))
            if task := self._tasks.get(stopped_id):
                task.cancel()
        return tuple(stopped)

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
        running = [turn for turn in self._turns.values() if turn.id in self._steering]
        wanted = self.turn(turn_id) if turn_id else next(reversed(running), None)
        if wanted is None:
            raise NotRunning("no turn runs: ask with `stet.ask`")
        if wanted not in running:
            raise NotRunning(f"the turn {wanted.id!r} does not run, it is {wanted.state}")
        if wanted.ask.mode is Mode.REWRITE:
            raise NotRunning(
                f"the turn {wanted.id!r} rewrites in one shot: cancel it and ask in other words"
            )
        self._steering[wanted.id].say(text)
        return wanted.id

    def _start_next(self, session: Session) -> None:
        while session.running is None and session.queue:
            turn = self._turns[session.queue.popleft()]
            if turn.state in OVER:
                continue
            session.running, session.opening = turn.id, None
            self._steering[turn.id] = Steering()
            self._keep(TurnStarted(dataclasses.replace(turn, state=TurnState.RUNNING)))
            task = self._spawn(self._run(turn.id, session), f"turn {turn.id}")
            self._tasks[turn.id] = task
            # Not at the end of `_run`: a task cancelled before its first step never gets there.
            task.add_done_callback(functools.partial(self._make_way, turn.id, session))

    async def _run(self, turn_id: str, session: Session) -> None:
        """A turn from its start to its end, whatever happens on the way."""
        ended = await self._outcome(turn_id, session)
        if self._turns[turn_id].state in OVER:
            return  # cancelled at its last step: nothing of it counts
        session.remember(ended, self._ledger.hunks(turn=turn_id))
        # Before the end is told: whoever knows of it finds it kept.
        known = (session.chat, tuple(session.history), session.heard)
        self._closing[turn_id] = ended
        try:
            await asyncio.to_thread(self._archive.keep_chat, *known)
        finally:
            del self._closing[turn_id]
            self._end(ended)

    def _make_way(self, turn_id: str, session: Session, _task: asyncio.Task[None]) -> None:
        """Let the next turn of the chat begin."""
        session.running = None
        del self._tasks[turn_id]
        self._start_next(session)

    async def _outcome(self, turn_id: str, session: Session) -> Turn:
        """The turn at its end."""
        try:
            answer = await self._answer()
            # Settings are known once there is somebody to answer.
            limits = Limits.of(self._workspace.settings.agent)
            line = Line(
                self._keep,
                functools.partial(self._inquire, turn_id),
                self._steering[turn_id],
                functools.partial(self._left, turn_id),
            )
            return await self._within(limits, turn_id, answer, session, line)
        except LimitReached as limit:
            return self._turns[turn_id].ended(TurnState.LIMITED, error=str(limit))
        except Declined as no:
            return self._turns[turn_id].ended(TurnState.CANCELLED, error=str(no))
        except (TurnFailed, ModelError) as failure:
            return self._turns[turn_id].ended(TurnState.FAILED, error=str(failure))
        except Exception as bug:
            # The turn's task ends with the error, which is logged where tasks are kept; but the
            # user must not be left looking at a turn that never ends.
            message = f"Stet failed inside ({type(bug).__name__}); its log has the details."
            self._end(self._turns[turn_id].ended(TurnState.FAILED, error=message))
            raise

    async def _within(
        self, limits: Limits, turn_id: str, answer: Answer, session: Session, line: Line
    ) -> Turn:
        """The turn's work, as long as the limits allow; waiting for the user does not count.

        Raises:
            LimitReached: If it takes longer.
            TurnFailed: If it takes longer because the model's server fails.
        """
        timer = self._timers[turn_id] = asyncio.timeout(limits.seconds)
        try:
            async with timer:
                return await answer(self._turns[turn_id], session, limits, line)
        except TimeoutError as error:
            if not timer.expired():
                raise
            if fault := self._faults.get(turn_id):
                raise TurnFailed(f"{fault} {limits.out_of_time}") from error
            raise LimitReached(limits.out_of_time) from error
        finally:
            del self._timers[turn_id]

    def _left(self, turn_id: str) -> float:
        """Seconds until the turn's time is over."""
        due = self._timers[turn_id].when()
        return float("inf") if due is None else max(0.0, due - asyncio.get_running_loop().time())

    async def _inquire(self, turn_id: str, question: Question) -> str:
        """Put a question to the user; the turn waits, its clock stands still."""
        loop, timer = asyncio.get_running_loop(), self._timers[turn_id]
        due = timer.when()
        left = due - loop.time() if due is not None else None
        timer.reschedule(None)
        answer = self.questions.put(turn_id, question)
        waiting = dataclasses.replace(
            self._turns[turn_id], state=TurnState.WAITING, question=question
        )
        self._keep(Asked(waiting))
        try:
            text = await answer
        finally:
            self.questions.withdraw(turn_id)
        timer.reschedule(loop.time() + left if left is not None else None)
        going_on = dataclasses.replace(self._turns[turn_id], state=TurnState.RUNNING, question=None)
        self._keep(Resumed(going_on, text))
        return text

    def _keep(self, event: AgentEvent) -> None:
        """Keep the turn as the event shows it, and pass the event on; nothing after its end."""
        if self._turns[event.turn.id].state in OVER:
            return
        if isinstance(event, Waiting):
            self._faults[event.turn.id] = event.reason
        else:
            self._faults.pop(event.turn.id, None)
        if self._turns[event.turn.id] != event.turn:
            self._turns[event.turn.id] = event.turn
            self._archive.keep_turn(event.turn)
        self._emit(event)

    def _end(self, turn: Turn) -> None:
        self.questions.withdraw(turn.id)
        steering = self._steering.pop(turn.id, None)
        if steering is not None and turn.state is not TurnState.CANCELLED:
            turn = turn.without_hearing(steering.take())
        cost = _cost(turn.usage, self._workspace.settings.model.price)
        self._keep(TurnEnded(dataclasses.replace(turn, cost=cost)))


def _cost(usage: Usage, price: Price) -> float | None:
    """What a turn cost, or None where a price that counts is not set."""
    if price.input is None or price.output is None:
        return None
    cached = price.input if price.cached_input is None else price.cached_input
    fresh = usage.prompt - usage.cached
    return (fresh * price.input + usage.cached * cached + usage.completion * price.output) / 1e6
