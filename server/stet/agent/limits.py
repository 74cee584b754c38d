"""What keeps a turn from running away."""

from dataclasses import dataclass

from stet.agent.errors import LimitReached
from stet.settings.values import AgentSettings


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one turn.

    Attributes:
        rounds: With the model.
        tokens: Over all rounds, input and output.
        seconds: From the first round.
    """

    rounds: int
    tokens: int
    seconds: float

    @classmethod
    def of(cls, settings: AgentSettings) -> "Limits":
        """The user's."""
        return cls(settings.max_iterations, settings.max_tokens, settings.max_seconds)

    def check(self, rounds: int, tokens: int) -> None:
        """Called before each round with what has been spent.

        Raises:
            LimitReached: If nothing is left.
        """
        if rounds >= self.rounds:
            raise LimitReached(
                f"Stopped after {self.rounds} rounds (agent.maxIterations). What was proposed stays; "
                "ask again to go on."
            )
        if tokens >= self.tokens:
            raise LimitReached(
                f"Stopped after {tokens} tokens (agent.maxTokens is {self.tokens}). What was "
                "proposed stays; ask again to go on."
            )

    @property
    def out_of_time(self) -> str:
        """The sentence for the third limit, which a timer holds."""
        return (
            f"Stopped after {self.seconds:.0f} seconds (agent.maxSeconds). What was proposed stays; "
            "ask again to go on."
        )
