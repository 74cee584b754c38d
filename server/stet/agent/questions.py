"""The questions that wait for the user: who asked what, and the one answer each of them gets."""

import asyncio
from dataclasses import dataclass

from stet.tools.question import Question


class UnknownQuestion(Exception):
    """There was never a question of that id."""


class NoPendingQuestion(Exception):
    """No turn waits for such an answer; the message says why, or which answers there are."""


@dataclass(frozen=True, slots=True)
class _PendingQuestion:
    """A question that waits."""

    turn: str
    question: Question
    answer: asyncio.Future[str]


class PendingQuestions:
    """All questions of one server, the oldest first; touched on the event loop only.

    A turn has at most one that waits.
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
            NoPendingQuestion: If it is answered, its turn is over, or none waits.
            UnknownQuestion: If there never was one.
        """
        one = self._find(question_id)
        return one.turn, one.question

    def reply(
        self, answer_text: str, question_id: str | None = None, *, is_choice: bool = False
    ) -> str:
        """Answer a question, by default the oldest that waits; gives the turn's id.

        Args:
            answer_text: The user's answer, as `AskRequest.parse_answer` takes it.
            question_id: Which one is answered.
            is_choice: Whether it can only be one of the choices.

        Raises:
            NoPendingQuestion: If it is answered, its turn is over, none waits, or this is no answer to it.
            UnknownQuestion: If there never was one of that id.
        """
        one = self._find(question_id)
        answer = one.question.parse_answer(answer_text, is_choice=is_choice)
        if answer is None:
            choices = ", ".join(repr(choice) for choice in one.question.choices)
            message = f"choose of {choices}" if choices else "say something"
            raise NoPendingQuestion(
                f"{answer_text!r} is no answer to {one.question.text!r}; {message}"
            )
        # At once, and not when its turn goes on: a second answer comes too late.
        del self._pending[one.question.id]
        if not one.answer.done():
            one.answer.set_result(answer)
        return one.turn

    def _find(self, question_id: str | None) -> _PendingQuestion:
        if question_id is None:
            if not self._pending:
                raise NoPendingQuestion("no turn waits for an answer")
            return next(iter(self._pending.values()))
        if (one := self._pending.get(question_id)) is not None:
            return one
        if question_id in self._asked:
            raise NoPendingQuestion(
                f"the question {question_id!r} waits no more: it is answered, or its turn is over"
            )
        raise UnknownQuestion(f"there is no question {question_id!r}")
