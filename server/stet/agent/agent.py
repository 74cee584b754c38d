"""The agent: takes questions, runs a turn for each, and knows how every one of them stands."""

import asyncio
import dataclasses
import functools
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from stet.agent.errors import Declined, LimitReached, TurnFailed
from stet.agent.events import AgentEvent, Asked, Resumed, TurnEnded, TurnStarted
from stet.agent.limits import Limits
from stet.agent.question import Question
from stet.agent.session import Session
from stet.agent.turn import OVER, Ask, Turn, TurnState
from stet.llm.errors import ModelError
from stet.llm.messages import Usage
from stet.review.ledger import ReviewLedger
from stet.settings.values import Price
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]
Emit = Callable[[AgentEvent], None]
Inquire = Callable[[Turn, Question], Awaitable[str]]
"""Puts a question to the user and waits for one of its choices, for hours if need be."""


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """How a turn at work reaches the editor.

    Attributes:
        emit: Tells what happens.
        inquire: Puts a question to the user and waits for the answer.
    """

    emit: Emit
    inquire: Inquire


class Answer(Protocol):
    """Does a turn's work: see `stet.agent.answer`."""

    def __call__(self, turn: Turn, session: Session, limits: Limits, line: Line) -> Awaitable[Turn]:
        """Run the turn to its end."""
        ...


class UnknownTurn(Exception):
    """There is no turn of that id."""


class NoQuestion(Exception):
    """No turn waits for such an answer; the message says which answers there are, if any."""


class Agent:
    """All conversations of one server; touched on the event loop only.

    Args:
        workspace: Whose settings hold.
        ledger: Where proposals go.
        answer: Does a turn's work; waited for, because it takes long to import.
        number: Gives a number that no turn has had in this workspace, in earlier runs either.
        spawn: Starts a task and keeps it.
        emit: Is told what happens; called on the event loop.
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
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._answer = answer
        self._spawn = spawn
        self._emit = emit
        self._sessions: dict[str, Session] = {}
        self._turns: dict[str, Turn] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._waiting: dict[str, asyncio.Future[str]] = {}
        self._timers: dict[str, asyncio.Timeout] = {}
        self._number = number

    def ask(self, ask: Ask) -> Turn:
        """Take a question: it starts at once, or behind the turn that runs in its chat."""
        turn = Turn(id=f"t{self._number()}", ask=ask)
        self._turns[turn.id] = turn
        session = self.session(ask.chat)
        session.queue.append(turn.id)
        self._start_next(session)
        return self._turns[turn.id]

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

        Raises:
            UnknownTurn: If there is none of that id.
        """
        wanted = [self.turn(turn_id)] if turn_id else list(self._turns.values())
        stopped = [turn.id for turn in wanted if turn.state not in OVER]
        for stopped_id in stopped:
            # Its end is on record before its task is told: nothing the task still does counts.
            self._end(self._turns[stopped_id].ended(TurnState.CANCELLED, error="Cancelled."))
            if task := self._tasks.get(stopped_id):
                task.cancel()
        return tuple(stopped)

    def session(self, chat: str) -> Session:
        """The conversation of that id; a new one if there is none yet."""
        return self._sessions.setdefault(chat, Session(chat))

    def reply(self, text: str, question_id: str | None = None) -> str:
        """Answer a turn's question, by default the oldest; gives the turn's id.

        Raises:
            NoQuestion: If none waits, or the text is none of its choices.
        """
        for turn in self._turns.values():
            question = turn.question
            if question is None or question_id not in (None, question.id):
                continue
            if text not in question.choices:
                choices = ", ".join(repr(choice) for choice in question.choices)
                raise NoQuestion(f"{text!r} is no answer to {question.text!r}; choose of {choices}")
            self._waiting[turn.id].set_result(text)
            return turn.id
        raise NoQuestion("no turn waits for an answer")

    def _start_next(self, session: Session) -> None:
        while session.running is None and session.queue:
            turn = self._turns[session.queue.popleft()]
            if turn.state in OVER:
                continue
            session.running, session.opening = turn.id, None
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
            line = Line(self._keep, self._inquire)
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
        """
        timer = self._timers[turn_id] = asyncio.timeout(limits.seconds)
        try:
            async with timer:
                return await answer(self._turns[turn_id], session, limits, line)
        except TimeoutError as error:
            if not timer.expired():
                raise
            raise LimitReached(limits.out_of_time) from error
        finally:
            del self._timers[turn_id]

    async def _inquire(self, turn: Turn, question: Question) -> str:
        """Put a question to the user; the turn waits, its clock stands still."""
        loop, timer = asyncio.get_running_loop(), self._timers[turn.id]
        due = timer.when()
        left = due - loop.time() if due is not None else None
        timer.reschedule(None)
        answer: asyncio.Future[str] = loop.create_future()
        self._waiting[turn.id] = answer
        waiting = dataclasses.replace(turn, state=TurnState.WAITING, question=question)
        self._keep(Asked(waiting))
        try:
            text = await answer
        finally:
            del self._waiting[turn.id]
        timer.reschedule(loop.time() + left if left is not None else None)
        self._keep(Resumed(dataclasses.replace(turn, state=TurnState.RUNNING)))
        return text

    def _keep(self, event: AgentEvent) -> None:
        """Keep the turn as the event shows it, and pass the event on; nothing after its end."""
        if self._turns[event.turn.id].state in OVER:
            return
        self._turns[event.turn.id] = event.turn
        self._emit(event)

    def _end(self, turn: Turn) -> None:
        cost = _cost(turn.usage, self._workspace.settings.model.price)
        self._keep(TurnEnded(dataclasses.replace(turn, cost=cost)))


def _cost(usage: Usage, price: Price) -> float | None:
    """What a turn cost, or None where a price that counts is not set."""
    if price.input is None or price.output is None:
        return None
    cached = price.input if price.cached_input is None else price.cached_input
    fresh = usage.prompt - usage.cached
    return (fresh * price.input + usage.cached * cached + usage.completion * price.output) / 1e6
