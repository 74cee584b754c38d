"""What keeps a turn from running away: rounds, tokens, seconds."""

from dataclasses import dataclass

from stet.settings.values import AgentSettings

LEAST_ANSWER = 200
"""Tokens that an answer must be able to take: fewer are no use beginning a round for."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one turn.

    Attributes:
        rounds: With the model.
        tokens: Over all rounds, input and output.
        seconds: From the first round; a timer holds it.
    """

    rounds: int
    tokens: int
    seconds: float

    @classmethod
    def of(cls, settings: AgentSettings) -> "Limits":
        """The user's."""
        return cls(settings.max_iterations, settings.max_tokens, settings.max_seconds)

    def over(self, rounds: int, spent: int, prompt: int) -> str:
        """Why no further round may begin, as a sentence; "" if one may.

        Args:
            rounds: How many there have been.
            spent: Tokens of all of them.
            prompt: Tokens that the next request would take, about.
        """
        if rounds >= self.rounds:
            return self.out_of_rounds
        if spent >= self.tokens:
            return f"Stopped after {spent} tokens (agent.maxTokens is {self.tokens})."
        if spent + prompt + LEAST_ANSWER <= self.tokens:
            return ""
        if not rounds:
            return (
                f"Nothing was sent: the question would take about {prompt} tokens, and "
                f"agent.maxTokens is {self.tokens}. Show less, or raise it."
            )
        return (
            f"Stopped after {spent} tokens: the next round would take about {prompt} more "
            f"(agent.maxTokens is {self.tokens})."
        )

    def last(self, rounds: int, spent: int, prompt: int) -> str:
        """Why the round that begins now is the last, as the sentence for its end; "" if it is not."""
        if rounds + 1 >= self.rounds:
            return self.out_of_rounds
        if spent + 2 * (prompt + LEAST_ANSWER) <= self.tokens:
            return ""
        return (
            f"Stopped: what was left of agent.maxTokens ({self.tokens}) was not enough for another "
            "round."
        )

    def answer(self, spent: int, prompt: int) -> int:
        """Tokens that the next answer may take."""
        return max(LEAST_ANSWER, self.tokens - spent - prompt)

    @property
    def out_of_rounds(self) -> str:
        """The sentence for the first limit."""
        return f"Stopped after {self.rounds} rounds (agent.maxIterations)."

    @property
    def out_of_time(self) -> str:
        """The sentence for the third."""
        return f"Stopped after {self.seconds:.0f} seconds (agent.maxSeconds)."
