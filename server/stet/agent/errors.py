"""What ends a turn before its time; each message is a sentence for the user.

TurnStopped
├── LimitReached    a cap; the turn is `limited`
└── TurnFailed      it can't go on; the turn is `failed`
"""


class TurnStopped(Exception):
    """The turn ends here; what it has proposed stays."""


class LimitReached(TurnStopped):
    """A limit of the user's ends the turn."""


class TurnFailed(TurnStopped):
    """The turn can't go on."""
