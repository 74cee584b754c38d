"""The rules for repeating a round, and the wait before the next attempt.

The wait is the server's Retry-After if there is one, else "full jitter": a random time between zero
and an exponentially growing cap (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture
Blog, 2015). The openai package would wait up to two minutes without a message; here the user is
informed of every wait, and a long wait is refused at once with its length.
"""

import asyncio
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum

from stet.llm.model import ModelError, ModelUnavailable, Sink

MAX_SECONDS = 366 * 86_400.0
"""A longer wait than a year counts as a year: its end can't be given as a date."""
_MAX_VALUE = 100
_DAY = 86_400


class RetryMode(Enum):
    """The condition under which the same request may be sent again after a failure."""

    NEVER = "never"
    ONCE = "once"
    """An answer broke off: after a second break, another attempt would break too."""
    LATER = "later"
    """No answer arrived: the request is safe to repeat."""


@dataclass(eq=False)
class AttemptFailure(Exception):
    """A failed attempt.

    Attributes:
        error: The error for the user if there is no further attempt.
        retry_mode: Whether the request may be repeated.
        retry_after: Seconds the server asked to wait, or None.
        status: The HTTP status, or 0 if there was no status.
        detail: The server's text, used to recognize a parameter that the server does not know.
    """

    error: ModelError
    retry_mode: RetryMode = RetryMode.NEVER
    retry_after: float | None = None
    status: int = 0
    detail: str = ""

    def __str__(self) -> str:
        return str(self.error)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The limits on the attempts of a round.

    Attributes:
        tries: The most attempts of one request.
        base: The first backoff's cap, in seconds; it doubles with each attempt.
        cap: The longest backoff, in seconds.
        longest_wait: The longest Retry-After, in seconds; a longer one fails the round at once.
    """

    tries: int = 5
    base: float = 0.5
    cap: float = 8.0
    longest_wait: float = 60.0


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that a response asks to wait, or None if it asks for no sensible time.

    Args:
        headers: The headers of the response, with names in lower case.
        now: Seconds since the epoch; Retry-After may be an HTTP date (RFC 9110, 10.2.3).
    """
    value = ""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        value = headers.get(name, "").strip()[:_MAX_VALUE]
        number = _number(value)
        if number is not None:
            return _in_range(number / unit)
    try:
        when = parsedate_to_datetime(value)
        if when.tzinfo is None:  # "-0000": UTC by RFC 5322, which the parser leaves naive
            when = when.replace(tzinfo=UTC)
        return _in_range(when.timestamp() - now)
    except (ValueError, TypeError, OverflowError, OSError):  # not a valid date
        return None


def _in_range(seconds: float) -> float:
    """Return seconds that can be added to any date."""
    return min(max(0.0, seconds), MAX_SECONDS)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


class RetryLoop:
    """The attempts of one round.

    Args:
        policy: The limits on the attempts.
        now: Returns seconds since the epoch, to name a time of day.
        jitter: Returns a random number between its two arguments.
    """

    def __init__(
        self,
        policy: RetryPolicy,
        now: Callable[[], float],
        jitter: Callable[[float, float], float] | None = None,
    ) -> None:
        self._policy = policy
        self._now = now
        self._jitter = jitter or random.SystemRandom().uniform
        self._n_tries = 0
        self._broke_off = False

    async def wait_or_raise(self, failure: AttemptFailure, on_wait: Sink) -> None:
        """Wait until the round may be tried again.

        Raises:
            ModelError: If it may not: the failure's error, or an error that names the wait.
        """
        self._n_tries += 1
        once_only = failure.retry_mode is RetryMode.ONCE
        is_final = failure.retry_mode is RetryMode.NEVER or (once_only and self._broke_off)
        if is_final or self._n_tries >= self._policy.tries:
            raise failure.error
        self._broke_off = self._broke_off or once_only
        cap = min(self._policy.cap, self._policy.base * 2 ** (self._n_tries - 1))
        seconds = failure.retry_after
        if seconds is None:
            seconds = self._jitter(0.0, cap)
        if seconds > self._policy.longest_wait:
            at = datetime.fromtimestamp(self._now() + seconds, tz=UTC).astimezone()
            if seconds < _DAY:
                what_to_do = f"Wait {seconds:.0f} s and try again at {at:%H:%M:%S}"
            else:
                what_to_do = f"Try again on {at:%Y-%m-%d} at {at:%H:%M}"
            raise ModelUnavailable(f"{what_to_do}: {failure.error}")
        what = f"Waiting {seconds:.0f} s" if seconds >= 1 else "Retrying"
        count = f"Attempt {self._n_tries + 1} of {self._policy.tries}."
        on_wait(f"{what}: {failure.error} {count}")
        await asyncio.sleep(seconds)
