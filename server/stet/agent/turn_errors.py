"""What ends a turn before its time; each message is a sentence for the user.

TurnStopped
├── LimitReached    a cap; the turn is `limited`
├── Declined        the user said no; the turn is `cancelled`
└── TurnFailed      it can't go on; the turn is `failed`
"""

from stet.llm.model import Completion, StopReason

INSTALL_AGAIN = "Install `stet-lsp` again where Stet is installed."


def describe_bug(bug: Exception) -> str:
    """Describe an internal fault for the user. A fault of the installation is one that the user can
    repair.
    """
    if isinstance(bug, ImportError):
        return f"A package that Stet needs can't be used ({bug}). {INSTALL_AGAIN}"
    return f"Stet failed inside ({type(bug).__name__}); its log has the details."


class TurnStopped(Exception):
    """The turn ends here; what it has proposed stays."""


class LimitReached(TurnStopped):
    """A limit of the user's ends the turn."""


class SendingDeclined(TurnStopped):
    """The user did not want it."""


class TurnFailed(TurnStopped):
    """The turn can't go on."""


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
