"""The agent: takes questions, runs a turn for each, and knows how every one of them stands."""

import asyncio
import dataclasses
import functools
import itertools
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from stet.agent.errors import LimitReached, TurnFailed
from stet.agent.events import AgentEvent, TurnEnded, TurnStarted
from stet.agent.limits import Limits
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


class Answer(Protocol):
    """Does a turn's work: see `stet.agent.answer`."""

    def __call__(self, turn: Turn, session: Session, limits: Limits, emit: Emit) -> Awaitable[Turn]:
        """Run the turn to its end."""
        ...


class UnknownTurn(Exception):
    """There is no turn of that id."""


class Agent:
    """All conversations of one server; touched on the event loop only.

    Args:
        workspace: Whose settings hold.
        ledger: Where proposals go.
        answer: Does a turn's work; waited for, because it takes long to import.
        spawn: Starts a task and keeps it.
        emit: Is told what happens; called on the event loop.
    """

    def __init__(
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        answer: Callable[[], Awaitable[Answer]],
        *,
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
        self._numbers = itertools.count(1)

    def ask(self, ask: Ask) -> Turn:
        """Take a question: it starts at once, or behind the turn that runs in its chat."""
        turn = Turn(id=f"t{next(self._numbers)}", ask=ask)
        self._turns[turn.id] = turn
        session = self._sessions.setdefault(ask.chat, Session(ask.chat))
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

    def _start_next(self, session: Session) -> None:
        while session.running is None and session.queue:
            turn = self._turns[session.queue.popleft()]
            if turn.state in OVER:
                continue
            session.running = turn.id
            self._keep(TurnStarted(dataclasses.replace(turn, state=TurnState.RUNNING)))
            task = self._spawn(self._run(turn.id, session), f"turn {turn.id}")
            self._tasks[turn.id] = task
            # Not at the end of `_run`: a task cancelled before its first step never gets there.
            task.add_done_callback(functools.partial(self._make_way, turn.id, session))

    async def _run(self, turn_id: str, session: Session) -> None:
        """A turn from its start to its end, whatever happens on the way."""
        ended = await self._outcome(turn_id, session)
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
            return await _within(limits, answer(self._turns[turn_id], session, limits, self._keep))
        except LimitReached as limit:
            return self._turns[turn_id].ended(TurnState.LIMITED, error=str(limit))
        except (TurnFailed, ModelError) as failure:
            return self._turns[turn_id].ended(TurnState.FAILED, error=str(failure))
        except Exception as bug:
            # The turn's task ends with the error, which is logged where tasks are kept; but the
            # user must not be left looking at a turn that never ends.
            message = f"Stet failed inside ({type(bug).__name__}); its log has the details."
            self._end(self._turns[turn_id].ended(TurnState.FAILED, error=message))
            raise

    def _keep(self, event: AgentEvent) -> None:
        """Keep the turn as the event shows it, and pass the event on; nothing after its end."""
        if self._turns[event.turn.id].state in OVER:
            return
        self._turns[event.turn.id] = event.turn
        self._emit(event)

    def _end(self, turn: Turn) -> None:
        cost = _cost(turn.usage, self._workspace.settings.model.price)
        self._keep(TurnEnded(dataclasses.replace(turn, cost=cost)))


async def _within(limits: Limits, work: Awaitable[Turn]) -> Turn:
    """The work's outcome.

    Raises:
        LimitReached: If it takes longer than the limits allow.
    """
    timer = asyncio.timeout(limits.seconds)
    try:
        async with timer:
            return await work
    except TimeoutError as error:
        if not timer.expired():
            raise
        raise LimitReached(limits.out_of_time) from error


def _cost(usage: Usage, price: Price) -> float | None:
    """What a turn cost, or None where a price that counts is not set."""
    if price.input is None or price.output is None:
        return None
    cached = price.input if price.cached_input is None else price.cached_input
    fresh = usage.prompt - usage.cached
    return (fresh * price.input + usage.cached * cached + usage.completion * price.output) / 1e6
