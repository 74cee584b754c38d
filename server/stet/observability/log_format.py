"""Keep private data out of the log, which may be sent to other people with a report.

The log holds no secret, at any level, and above debug no words of documents, questions and answers:
messages of errors are left out, since they may quote such words (`stet.text.safe_traceback`).
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
"""The most characters of one record, which may quote the input of a library."""

_SECRET_NAMES = re.compile("KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_BEYOND = 1000
"""Characters after the cut that are searched, so that no secret is cut in two."""
_LEAST_SECRET = 8
"""The least characters of an environment value that is a secret, not a common word."""
_NUMBERS = (bool, int, float)
_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class PrivateFormatter(logging.Formatter):
    """A formatter that hides secrets and escapes control characters for terminals."""

    def __init__(self, form: str, most: int = MAX_RECORD) -> None:
        """Create the formatter. It keeps `most` characters of a record."""
        super().__init__(form)
        self._most = most

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text."""
        copied = copy.copy(record)
        copied.exc_text = None  # another formatter may have put the whole message there
        try:
            text = super().format(copied)
        except (TypeError, ValueError):  # a wrong format string of some library
            text = f"{record.levelname} {record.name}: a record that can't be written"
        return escape(hide_secrets(text[: self._most + _BEYOND], os.environ)[: self._most])

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802 - logging's name
        """Return an exception's traceback and type, with its message only if debug is enabled."""
        is_debug = logging.getLogger(STET_LOGGER).isEnabledFor(logging.DEBUG)
        return format_safe_traceback(ei[1], with_messages=is_debug) if ei[1] is not None else ""


def is_loggable(record: logging.LogRecord) -> bool:
    """Return whether a record may be written. Below warnings, libraries log what they send."""
    return record.levelno >= logging.WARNING or is_stet_record(record)


def is_stet_record(record: logging.LogRecord) -> bool:
    """Return whether a record comes from Stet itself."""
    return record.name == STET_LOGGER or record.name.startswith(f"{STET_LOGGER}.")


def anonymous_line(record: logging.LogRecord) -> str:
    """Return a record as one line without foreign text. Of its arguments only numbers are kept."""
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
    """Return a text with marks in place of keys of known form and of secrets in `environ`."""
    from stet.privacy.secrets import find_secrets  # late: most servers log nothing
    from stet.text.edit import Replacement, TextEdit

    for name, value in environ.items():
        if len(value) >= _LEAST_SECRET and _SECRET_NAMES.search(name):
            text = text.replace(value, "[redacted: from the environment]")
    found = find_secrets(text, wrapped=True)
    marks = (Replacement(start, end, f"[redacted: {kind}]") for start, end, kind in found)
    return TextEdit(tuple(marks)).apply(text)
