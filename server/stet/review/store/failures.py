"""When the disk fails: how long the store waits before it tries again, and what the user is told."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
LOCKED_SECONDS = 60.0
"""How long a worker waits for a database that somebody else has locked."""
SAID_SECONDS = 2.0
"""After how long of that the user is told."""
_LOOK_SECONDS = 0.1


class Failures:
    """What has gone wrong so far; the user hears of it once."""

    def __init__(self, clock: Callable[[], float], say: Callable[[str], None]) -> None:
        """Nothing has.

        Args:
            clock: Gives seconds that only go forward.
            say: Puts one message in front of the user.
        """
        self._clock = clock
        self._say = say
        self._failed_at: float | None = None
        self._n_in_a_row = 0
        self._has_said = False
        self._has_said_locked = False

    @property
    def is_too_early(self) -> bool:
        """Whether the last failure is so fresh that trying again is of no use."""
        return self._failed_at is not None and self._clock() - self._failed_at < RETRY_SECONDS

    def over(self) -> None:
        """It went well, or is to be tried again at once."""
        self._failed_at = None
        self._n_in_a_row = 0

    def add(self, fault: Exception) -> None:
        """It did not go well."""
        from stet.review.store.schema import Busy  # brings SQLite, which is there by now

        self._failed_at = self._clock()
        self._n_in_a_row += 1
        if isinstance(fault, Busy) and self._n_in_a_row == 1:
            log.warning("another server is writing all the time: tried again later")
        else:
            self.tell(fault)

    def later(self) -> None:
        """Somebody else is at work: it is of no use to try again at once."""
        self._failed_at = self._clock()

    def waits(self, since: float, fault: Exception) -> bool:
        """Wait a moment for whoever has locked the database, in a worker; False once that is too long.

        Args:
            since: When the waiting began, by the clock.
            fault: What is said of the lock.
        """
        waited = self._clock() - since
        if waited >= SAID_SECONDS and not self._has_said_locked:
            self._has_said_locked = True
            log.warning("the state is locked: %s", fault)
            self._say(
                f"Stet: another program keeps the file with earlier proposals locked ({fault}). They"
                f" come back as soon as it lets go; that is waited for {LOCKED_SECONDS:.0f} seconds."
            )
        if waited >= LOCKED_SECONDS:
            return False
        threading.Event().wait(_LOOK_SECONDS)
        return True

    def tell(self, fault: Exception) -> None:
        """Say that proposals are kept in memory only."""
        log.error("the state is not written: %s", fault)
        if not self._has_said:
            self._has_said = True
            self._say(
                f"Stet can't keep its proposals on the disk ({fault}). They are all there until"
                " this server ends. Free some space or make its state folder writable, and restart."
            )

    def tell_damage(self, aside: Path) -> None:
        """Say that a damaged file has been renamed."""
        self._say(
            "Stet: the file with earlier proposals was damaged. It is kept as"
            f" {str(aside)!r}; a new one has been begun."
        )
