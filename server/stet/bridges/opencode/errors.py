"""What goes wrong with an OpenCode server.

OpenCodeError
├── Unreachable       nothing answers
│   └── NotOpenCode   something else than OpenCode does
├── Refused           it answers, and says no
└── Busy              not now: it is waited for
"""


class OpenCodeError(Exception):
    """A request came to nothing; the message says why and what to do."""


class Unreachable(OpenCodeError):
    """Nothing answers."""


class NotOpenCode(Unreachable):
    """What answers is not understood, or too long."""


class Refused(OpenCodeError):
    """The server says no.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Busy(OpenCodeError):
    """It is not the moment to tell the session."""
