"""What stands in the way of something the user decided: a sentence for them, who may do something."""

import logging
from collections.abc import Awaitable

log = logging.getLogger(__name__)


class NotDone(Exception):
    """It could not be done; the message says why, and what to do where that is not plain."""


class NotSeen(NotDone):
    """It may have been done or not: no text has come that would tell."""


class StillOpen(NotDone):
    """A file that is to be deleted is open in the editor."""


class EditRefused(NotDone):
    """The editor answered that it did not apply an edit."""


class EditMisplaced(NotDone):
    """The editor applied an edit to a text that it was not made for; it has been taken back."""


class EditUnanswered(NotDone):
    """The editor has not answered; the edit may still be applied."""


async def problem_of(work: Awaitable[None]) -> NotDone | None:
    """What was in the way of some work; None if it was done. The disk's refusals are told too."""
    try:
        await work
    except NotDone as reason:
        return reason
    except OSError as error:
        log.warning("%s", error)
        where = f"{error.filename}: " if error.filename else ""
        return NotDone(f"{where}{error.strerror or error}.")
    return None
