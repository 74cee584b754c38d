"""Failures of the disk: the time until the store tries again, and the messages to the user.

The rows of earlier runs may not be loaded, because the disk refused it at the start. Until they
have been loaded nothing may be written: the present state of a chat would replace its earlier
state.
"""

import logging
import sys
import threading
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)

RETRY_SECONDS = 5.0
"""The time after which a write that another server has blocked is tried again."""
FULL_SECONDS = 1.0
"""The time after which a write that the disk has refused is tried again."""
NOTIFY_AGAIN_SECONDS = 60.0
"""The minimum time between two messages to the user if the disk fails again."""
LOCKED_SECONDS = 60.0
"""How long a worker waits for a database that another process has locked."""
WARN_SECONDS = 2.0
"""The wait for a lock after which the user is notified."""
_LOOK_SECONDS = 0.1


class StoreError(Exception):
    """The database can't be used; the message says why."""


class DatabaseDamaged(StoreError):
    """The file is not a database, or is incomplete."""


class DatabaseBusy(StoreError):
    """Another server was writing all the time."""


class DatabaseTooNew(StoreError):
    """A later version of Stet has created the file."""


class WriteFailures:
    """The failures so far; the user is notified once for each time that the disk fails.

    Attributes:
        reason: The present reason why writing fails; empty if it does not fail.
    """

    def __init__(self, clock: Callable[[], float], say: Callable[[str], None]) -> None:
        """Start without failures.

        Args:
            clock: A function that returns monotonic seconds.
            say: A function that shows the user one message.
        """
        self._clock = clock
        self._say = say
        self.reason = ""
        self._failed_at: float | None = None
        self._pause = RETRY_SECONDS
        self._n_in_a_row = 0
        self._notified_at: float | None = None
        self._has_warned = False
        self._has_warned_locked = False

    @property
    def is_too_early(self) -> bool:
        """Whether it is too early after the last failure to try again."""
        return self._failed_at is not None and self._clock() - self._failed_at < self._pause

    def retry(self) -> None:
        """Allow the next attempt at once."""
        self._failed_at = None
        self._n_in_a_row = 0

    def succeeded(self) -> None:
        """Record that writing succeeded."""
        self.retry()
        self.reason = ""
        self._has_warned = False

    def add(self, fault: Exception, *, is_unread: bool = False) -> None:
        """Record a failure. With `is_unread`, the state of earlier runs could not be read
        either.
        """
        is_passing = isinstance(fault, DatabaseBusy)
        self._failed_at = self._clock()
        self._pause = RETRY_SECONDS if is_passing else FULL_SECONDS
        self._n_in_a_row += 1
        self.reason = str(fault)
        if not is_passing:
            # Modules imported later would be written as bytecode, truncated on a full disk.
            sys.dont_write_bytecode = True
        if is_passing and self._n_in_a_row == 1:
            log.warning("another server keeps writing: retrying later")
        else:
            self.notify(fault, is_unread=is_unread)

    def postpone(self) -> None:
        """Postpone the next attempt: another process has the lock."""
        self._failed_at = self._clock()
        self._pause = RETRY_SECONDS

    def waits(self, since: float, fault: Exception) -> bool:
        """Wait a moment for a locked database, in a worker; return False if the wait is too long.

        Args:
            since: The start of the wait, by the clock.
            fault: The error that the lock caused.
        """
        waited = self._clock() - since
        if waited >= WARN_SECONDS and not self._has_warned_locked:
            self._has_warned_locked = True
            log.warning("the state is locked: %s", fault)
            self._say(
                f"Stet: another program has locked the database of earlier proposals ({fault}). "
                f"They are restored as soon as it is unlocked; Stet waits {LOCKED_SECONDS:.0f} "
                "seconds."
            )
        if waited >= LOCKED_SECONDS:
            return False
        threading.Event().wait(_LOOK_SECONDS)
        return True

    def notify(self, fault: Exception, *, passes: bool = True, is_unread: bool = False) -> None:
        """Notify the user that proposals are kept in memory only.

        Args:
            fault: The error.
            passes: Whether the proposals may be written later.
            is_unread: Whether those of earlier runs could not be read either.
        """
        is_known, self.reason = self.reason == str(fault), str(fault)
        now = self._clock()
        is_late = self._notified_at is None or now - self._notified_at >= NOTIFY_AGAIN_SECONDS
        if self._has_warned or not is_late:
            # The write is tried every second: do not repeat one message in the log.
            level = logging.DEBUG if is_known else logging.WARNING
            log.log(level, "the state is not written: %s", fault)
            return
        self._has_warned, self._notified_at = True, now
        # Notify before logging: the log may be on the same disk.
        hope = (
            "they are lost if the server is killed. Free some disk space or make the state "
            "folder writable; they are then saved automatically."
        )
        hope += " Earlier proposals are restored then." if is_unread else ""
        end = hope if passes else "they are lost when the server exits."
        self._say(
            f"Stet can't save its proposals and decisions to disk ({fault}). They are in memory "
            f"only: {end}"
        )
        log.warning("the state is not written: %s", fault)

    def notify_damage(self, aside: Path) -> None:
        """Notify the user that a damaged file has been renamed."""
        is_lost = not aside.exists() or not aside.stat().st_size
        what = "is empty or missing; its contents are lost" if is_lost else "was damaged"
        self._say(
            f"Stet: the database of earlier proposals {what}. It was moved to {str(aside)!r}, "
            "and a new one was created."
        )


class MissedLoads:
    """Parts of the state that could not be loaded. Use it with the store's lock.

    Attributes:
        is_any: Whether a part was missed and its owners have not merged it yet.
    """

    def __init__(self) -> None:
        """Start without missed parts."""
        self.is_any = False
        self._parts: set[str] = set()
        self._loaded: set[str] = set()

    def add(self, part: str) -> None:
        """Record that `part` could not be loaded."""
        self._parts.add(part)
        self._loaded.discard(part)
        self.is_any = True

    def discard(self, part: str) -> None:
        """Record that `part` has been loaded."""
        self._parts.discard(part)
        self._loaded.add(part)

    def is_known(self, part: str) -> bool:
        """Return whether `part` has been loaded while another one was missed."""
        return self.is_any and part in self._loaded

    def caught_up(self) -> bool:
        """Record that the loaded parts have been merged. Return whether nothing is missed now."""
        self.is_any = bool(self._parts)
        return not self.is_any

    def clear(self) -> None:
        """Record that nothing can be loaded any more."""
        self._parts.clear()
        self.is_any = False
