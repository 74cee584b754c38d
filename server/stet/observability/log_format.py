"""What the log may contain: it may be sent to other people with a report.

Never a secret, at any level. No words of documents, questions and answers above debug: what an error
says is left out, since it quotes what it met (`stet.text.safe_traceback`).
"""

import copy
import logging
import os
import re
from collections.abc import Mapping
from types import TracebackType

from stet.text.escape import escape
from stet.text.safe_traceback import format_safe_traceback

STET_LOGGER = "stet"
MAX_RECORD = 20_000
"""Characters of one record, which may quote the input of a library."""

_SECRET_NAMES = re.compile("KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_BEYOND = 1000
"""Characters after the cut that are looked at, so that no secret is cut in two."""
_LEAST_SECRET = 8
"""Characters of a value of the environment that is no word by chance."""
_NUMBERS = (bool, int, float)
_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class PrivateFormatter(logging.Formatter):
    """Records that hold no secret and can't act on the terminal in which they are read."""

    def __init__(self, form: str, most: int = MAX_RECORD) -> None:
        """`most` characters of a record are kept."""
        super().__init__(form)
        self._most = most

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text."""
        copied = copy.copy(record)
        copied.exc_text = None  # another formatter may have put it there, with all that it says
        try:
            text = super().format(copied)
        except (TypeError, ValueError):  # a wrong format string of some library
            text = f"{record.levelname} {record.name}: a record that can't be written"
        return escape(hide_secrets(text[: self._most + _BEYOND], os.environ)[: self._most])

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802 - logging's name
        """Return where it was raised and what it is; what it says too, if the user asked for debug."""
        is_debug = logging.getLogger(STET_LOGGER).isEnabledFor(logging.DEBUG)
        return format_safe_traceback(ei[1], with_messages=is_debug) if ei[1] is not None else ""


def is_loggable(record: logging.LogRecord) -> bool:
    """Return whether a record may be written: below warnings, libraries write what they send."""
    return record.levelno >= logging.WARNING or is_stet_record(record)


def is_stet_record(record: logging.LogRecord) -> bool:
    """Return whether a record comes from Stet itself."""
    return record.name == STET_LOGGER or record.name.startswith(f"{STET_LOGGER}.")


def anonymous_line(record: logging.LogRecord) -> str:
    """Return a record as one line without anything that came from elsewhere. Of its arguments only
    numbers are kept.
    """
    message = "..."
    if is_stet_record(record) and isinstance(record.msg, str):
        given = record.args if isinstance(record.args, tuple) else ()
        parts = tuple(one if isinstance(one, _NUMBERS) else "..." for one in given)
        try:
            message = record.msg % parts if parts else record.msg
        except (TypeError, ValueError):
            message = record.msg
    return f"{record.levelname} {record.name}: {message}"


def hide_secrets(text: str, environ: Mapping[str, str]) -> str:
    """Return a text with a mark in place of keys. Keys of known form and the values of `environ`
    are replaced.
    """
    from stet.privacy.secrets import find_secrets  # late: most servers log nothing
    from stet.text.edit import Replacement, TextEdit

    for name, value in environ.items():
        if len(value) >= _LEAST_SECRET and _SECRET_NAMES.search(name):
            text = text.replace(value, "[redacted: from the environment]")
    found = find_secrets(text, wrapped=True)
    marks = (Replacement(start, end, f"[redacted: {kind}]") for start, end, kind in found)
    return TextEdit(tuple(marks)).apply(text)
