"""What goes wrong with an OpenCode server.

OpenCodeError
├── Unreachable       nothing answers
│   └── NotOpenCode   something else than OpenCode does
├── Refused           it answers, and says no
├── Stopped           it says no to whatever could be tried: nothing is tried again
└── Busy              not now: it is waited for
"""

_TEMPORARY = frozenset({401, 408, 425, 429})
"""Statuses of the 400s after which the same request may succeed."""


class OpenCodeError(Exception):
    """A request came to nothing; the message says why and what to do."""


class OpenCodeUnreachable(OpenCodeError):
    """Nothing answers."""


class NotOpenCode(OpenCodeUnreachable):
    """What answers is not understood, or too long."""


class OpenCodeRefused(OpenCodeError):
    """The server says no.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    @property
    def is_final(self) -> bool:
        """Whether the same request would be refused again: not for want of a login or of patience."""
        return 400 <= self.status < 500 and self.status not in _TEMPORARY


class SessionStopped(OpenCodeError):
    """The session's part can be neither kept nor replaced, so the session is told nothing more."""


class SessionBusy(OpenCodeError):
    """It is not the moment to tell the session."""
