"""What ends a turn before its time; each message is a sentence for the user.

TurnStopped
├── LimitReached    a cap; the turn is `limited`
├── Declined        the user said no; the turn is `cancelled`
└── TurnFailed      it can't go on; the turn is `failed`
"""


class TurnStopped(Exception):
    """The turn ends here; what it has proposed stays."""


class LimitReached(TurnStopped):
    """A limit of the user's ends the turn."""


class Declined(TurnStopped):
    """The user did not want it."""


class TurnFailed(TurnStopped):
    """The turn can't go on."""
