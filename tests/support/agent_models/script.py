"""What a scripted model answers, and what it was sent: the same in every form on the wire."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the model."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the model: text, tool calls, or both."""

    text: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to the model.

    Attributes:
        system: The system prompt.
        texts: The texts that are neither the model's nor a tool's, oldest first: the user's, and
            the agent's reminders among them.
        results: The texts of the tools' results, oldest first.
        tools: The names of the offered tools.
    """

    system: str
    texts: tuple[str, ...]
    results: tuple[str, ...]
    tools: tuple[str, ...]


class ScriptOver(Exception):
    """The agent asked once more than the script has answers."""


class Script:
    """The answers of a model, in order, and the record of its requests.

    Attributes:
        requests: The requests that got an answer of the script, oldest first.
        excess: The requests after the last answer.
        side_requests: The requests for something else than a turn, such as a title or a count of
            tokens: method and path.
    """

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.requests: list[ModelRequest] = []
        self.excess: list[ModelRequest] = []
        self.side_requests: list[str] = []
        self._answers = list(answers)

    def next(self, request: ModelRequest) -> Answer:
        """Record a request; return its answer.

        Raises:
            ScriptOver: If there is none left.
        """
        if not self._answers:
            self.excess.append(request)
            raise ScriptOver(f"the script is over after {len(self.requests)} answers")
        self.requests.append(request)
        return self._answers.pop(0)

    def check_played(self) -> None:
        """Assert that each answer was asked for, and nothing more."""
        assert not self._answers, f"not asked for: {self._answers}"
        assert not self.excess, f"asked after the end: {[one.results[-1:] for one in self.excess]}"


def call(name: str, /, **arguments: Any) -> Answer:
    """Make an answer that calls one tool."""
    return Answer(calls=(Call(name, arguments),))


def say(text: str) -> Answer:
    """Make an answer of text, which ends the turn."""
    return Answer(text)
