"""An answer that is none: the model refuses, or a filter of its provider does."""

from stet.agent.turn_errors import TurnFailed
from stet.llm.messages import Completion, StopReason


def check_refusal(completion: Completion) -> None:
    """Show a refusal as what it is, in the model's words or the provider's.

    Raises:
        TurnFailed: If it is one.
    """
    said = completion.text.strip()
    if completion.stop_reason is StopReason.REFUSED:
        raise TurnFailed(f"The model refuses: {said or 'it gives no reason'}")
    if completion.stop_reason is StopReason.FILTERED:
        raise TurnFailed(
            "The provider's content filter has withheld the answer"
            + (", in the middle; what was said until then stays." if said else ".")
            + " Ask in other words, or choose another model."
        )
