"""One turn at work: its time, its questions to the user, and how it comes to an end."""

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from typing import Protocol

from stet.agent.agent_events import AgentEvent, QuestionAnswered, QuestionAsked, RetryScheduled
from stet.agent.limits import Limits
from stet.agent.questions import PendingQuestions
from stet.agent.session import Session
from stet.agent.steering import Steering
from stet.agent.turn import Turn, TurnState
from stet.agent.turn_errors import LimitReached, SendingDeclined, TurnFailed
from stet.llm.model import ModelError
from stet.tools.question import AskQuestion, Question

Emit = Callable[[AgentEvent], None]


@dataclasses.dataclass(frozen=True, slots=True)
class TurnChannel:
    """How a turn at work reaches the editor.

    Attributes:
        emit: Tells what happens.
        ask_question: Puts a question of the turn to the user and waits for the answer.
        steering: What the user says meanwhile.
        seconds_left: Seconds until the turn's time is over.
    """

    emit: Emit
    ask_question: AskQuestion
    steering: Steering
    seconds_left: Callable[[], float]


class TurnExecutor(Protocol):
    """Does a turn's work: see `stet.agent.turn_pipeline`."""

    def __call__(
        self, turn: Turn, session: Session, limits: Limits, channel: TurnChannel
    ) -> Awaitable[Turn]:
        """Run the turn to its end."""
        ...


class TurnRunner:
    """What there is of a turn only while it runs; touched on the event loop only.

    Args:
        turn: Gives the turn as it is now.
        record: Keeps the turn as an event shows it, and passes the event on.
        questions: What turns wait for.

    Attributes:
        steering: What the user says meanwhile.
        task: What carries it out, once it is started.
        closing: The turn at its end, while what was said in it is being kept.
    """

    def __init__(self, turn: Callable[[], Turn], record: Emit, questions: PendingQuestions) -> None:
        self.steering = Steering()
        self.task: asyncio.Task[None] | None = None
        self.closing: Turn | None = None
        self._turn = turn
        self._record = record
        self._questions = questions
        self._timer: asyncio.Timeout | None = None
        self._fault = ""

    def observe_event(self, event: AgentEvent) -> None:
        """Note why the model is not answering, while it is not."""
        self._fault = event.reason if isinstance(event, RetryScheduled) else ""

    async def run(self, execute: TurnExecutor, session: Session, limits: Limits) -> Turn:
        """Carry the turn out; the turn at its end, unless there is a bug."""
        try:
            return await self._run_with_limits(execute, session, limits)
        except LimitReached as limit:
            return self._turn().ended(TurnState.LIMITED, error=str(limit))
        except SendingDeclined as no:
            return self._turn().ended(TurnState.CANCELLED, error=str(no))
        except (TurnFailed, ModelError) as failure:
            return self._turn().ended(TurnState.FAILED, error=str(failure))

    async def _run_with_limits(
        self, execute: TurnExecutor, session: Session, limits: Limits
    ) -> Turn:
        """Run the turn's work as long as the limits allow. Waiting for the user does not count.

        Raises:
            LimitReached: If it takes longer.
            TurnFailed: If it takes longer because the model's server fails.
        """
        channel = TurnChannel(self._record, self._ask_question, self.steering, self._seconds_left)
        timer = self._timer = asyncio.timeout(limits.seconds)
        try:
            async with timer:
                return await execute(self._turn(), session, limits, channel)
        except TimeoutError as error:
            if not timer.expired():
                raise
            if self._fault:
                raise TurnFailed(f"{self._fault} {limits.out_of_time}") from error
            raise LimitReached(limits.out_of_time) from error

    def _seconds_left(self) -> float:
        """Seconds until the turn's time is over."""
        due = self._timer.when() if self._timer is not None else None
        return float("inf") if due is None else max(0.0, due - asyncio.get_running_loop().time())

    async def _ask_question(self, question: Question) -> str:
        """Put a question to the user; the turn waits, its clock stands still."""
        loop, timer, turn = asyncio.get_running_loop(), self._timer, self._turn()
        assert timer is not None, "only a turn at work asks"
        due = timer.when()
        left = due - loop.time() if due is not None else None
        timer.reschedule(None)
        answer = self._questions.add(turn.id, question)
        self._record(
            QuestionAsked(dataclasses.replace(turn, state=TurnState.WAITING, question=question))
        )
        try:
            text = await answer
        finally:
            self._questions.withdraw(turn.id)
        timer.reschedule(loop.time() + left if left is not None else None)
        resumed = dataclasses.replace(self._turn(), state=TurnState.RUNNING, question=None)
        self._record(QuestionAnswered(resumed, text))
        return text
