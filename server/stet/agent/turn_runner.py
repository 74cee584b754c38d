"""Run one turn: its time, the user's steering, its questions to the user, and its end."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from stet.agent.agent_events import AgentEvent, QuestionAnswered, QuestionAsked, RetryScheduled
from stet.agent.limits import Limits
from stet.agent.session import Session
from stet.agent.turn import LimitReached, SendingDeclined, Turn, TurnFailed, TurnState
from stet.llm.model import ModelError
from stet.tools.editor_actions import AskQuestion, Question


class UnknownQuestion(Exception):
    """No question has ever had this id."""


class NoPendingQuestion(Exception):
    """No turn accepts the answer; the message says why, or which answers are allowed."""


@dataclass(frozen=True, slots=True)
class _PendingQuestion:
    """A question that waits for its answer."""

    turn: str
    question: Question
    answer: asyncio.Future[str]


class PendingQuestions:
    """All questions of one server, the oldest first; used on the event loop only.

    A turn has at most one pending question.
    """

    def __init__(self) -> None:
        self._pending: dict[str, _PendingQuestion] = {}
        self._asked: set[str] = set()

    def add(self, turn_id: str, question: Question) -> asyncio.Future[str]:
        """Add a question of a turn and return a future for the answer."""
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._asked.add(question.id)
        self._pending[question.id] = _PendingQuestion(turn_id, question, answer)
        return answer

    def withdraw(self, turn_id: str) -> None:
        """Remove the questions of a turn that no longer waits."""
        self._pending = {key: one for key, one in self._pending.items() if one.turn != turn_id}

    def waiting(self, question_id: str | None = None) -> tuple[str, Question]:
        """Return the turn and the question with that id, by default the oldest pending question.

        Raises:
            NoPendingQuestion: If the question is answered, its turn is over, or none is pending.
            UnknownQuestion: If no question has ever had this id.
        """
        one = self._find(question_id)
        return one.turn, one.question

    def reply(
        self, answer_text: str, question_id: str | None = None, *, is_choice: bool = False
    ) -> str:
        """Answer a question, by default the oldest pending question. Return the turn's id.

        Args:
            answer_text: The user's answer, in the form that `AskRequest.parse_answer` accepts.
            question_id: The id of the question.
            is_choice: Whether the answer can only be one of the choices.

        Raises:
            NoPendingQuestion: If the question is answered, its turn is over, no question is
                pending, or this text is not a valid answer.
            UnknownQuestion: If there never was a question with this id.
        """
        one = self._find(question_id)
        answer = one.question.parse_answer(answer_text, is_choice=is_choice)
        if answer is None:
            choices = ", ".join(repr(choice) for choice in one.question.choices)
            message = f"choose one of {choices}" if choices else "enter some text"
            raise NoPendingQuestion(
                f"{answer_text!r} is not an answer to {one.question.text!r}; {message}"
            )
        # Remove the question now and not when its turn continues: a second answer is too late.
        del self._pending[one.question.id]
        if not one.answer.done():
            one.answer.set_result(answer)
        return one.turn

    def _find(self, question_id: str | None) -> _PendingQuestion:
        if question_id is None:
            if not self._pending:
                raise NoPendingQuestion("no turn is waiting for an answer")
            return next(iter(self._pending.values()))
        if (one := self._pending.get(question_id)) is not None:
            return one
        if question_id in self._asked:
            raise NoPendingQuestion(
                f"the question {question_id!r} was already answered, or its turn has ended"
            )
        raise UnknownQuestion(f"no question {question_id!r}")


Emit = Callable[[AgentEvent], None]


@dataclass(frozen=True, slots=True)
class TurnChannel:
    """The connection of a running turn to the editor.

    Attributes:
        emit: Receives each event.
        ask_question: Puts a question of the turn to the user and waits for the answer.
        steering: Messages that the user sent during the turn and the model has not seen.
        seconds_left: Returns the seconds until the turn's time limit.
    """

    emit: Emit
    ask_question: AskQuestion
    steering: list[str]
    seconds_left: Callable[[], float]


TurnExecutor = Callable[[Turn, Session, Limits, TurnChannel], Awaitable[Turn]]
"""Runs a turn to its end; see `stet.agent.turn_pipeline`."""


class TurnRunner:
    """The state of a turn that exists only while it runs; used on the event loop only.

    Args:
        turn: Returns the current state of the turn.
        record: Takes an event, stores the event's turn, and passes the event on.
        questions: The pending questions of all turns.

    Attributes:
        steering: Messages that the user sent during the turn and the model has not seen.
        task: The task that executes the turn, once it is started.
        closing: The turn at its end, while it is being persisted.
    """

    def __init__(self, turn: Callable[[], Turn], record: Emit, questions: PendingQuestions) -> None:
        self.steering: list[str] = []
        self.task: asyncio.Task[None] | None = None
        self.closing: Turn | None = None
        self._turn = turn
        self._record = record
        self._questions = questions
        self._timer: asyncio.Timeout | None = None
        self._fault = ""

    def observe_event(self, event: AgentEvent) -> None:
        """Record why the model does not answer; clear the reason at any other event."""
        self._fault = event.reason if isinstance(event, RetryScheduled) else ""

    async def run(self, execute: TurnExecutor, session: Session, limits: Limits) -> Turn:
        """Execute the turn and return it at its end. Only a bug raises an exception."""
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
            LimitReached: If the turn exceeds its time limit.
            TurnFailed: If it does so because the model's server fails.
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
        """Return the seconds until the turn's time limit; infinity if there is none."""
        due = self._timer.when() if self._timer is not None else None
        return float("inf") if due is None else max(0.0, due - asyncio.get_running_loop().time())

    async def _ask_question(self, question: Question) -> str:
        """Put a question to the user and return the answer. The waiting time does not count."""
        loop, timer, turn = asyncio.get_running_loop(), self._timer, self._turn()
        assert timer is not None, "only a running turn asks"
        left = self._seconds_left()
        timer.reschedule(None)
        answer = self._questions.add(turn.id, question)
        self._record(QuestionAsked(replace(turn, state=TurnState.WAITING, question=question)))
        try:
            text = await answer
        finally:
            self._questions.withdraw(turn.id)
        timer.reschedule(loop.time() + left)
        resumed = replace(self._turn(), state=TurnState.RUNNING, question=None)
        self._record(QuestionAnswered(resumed, text))
        return text
