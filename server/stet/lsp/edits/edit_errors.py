"""What stands in the way of something the user decided: a sentence for them, who may do something."""

import logging
from collections.abc import Awaitable

log = logging.getLogger(__name__)


class EditError(Exception):
    """It could not be done; the message says why, and what to do where that is not plain."""


class EditUnconfirmed(EditError):
    """It may have been done or not: no text has come that would tell."""


class FileOpen(EditError):
    """A file that is to be deleted is open in the editor."""


class EditRefused(EditError):
    """The editor answered that it did not apply an edit."""


class EditMisapplied(EditError):
    """The editor applied an edit to a text that it was not made for; it has been taken back."""


class EditUnanswered(EditError):
    """The editor has not answered; the edit may still be applied."""


async def problem_of(work: Awaitable[None]) -> EditError | None:
    """Await some work and return the error that prevented it, or None if it was done. Refusals of
    the disk are returned as well.
    """
    try:
        await work
    except EditError as reason:
        return reason
    except OSError as error:
        log.warning("%s", error)
        where = f"{error.filename}: " if error.filename else ""
        return EditError(f"{where}{error.strerror or error}.")
    return None
