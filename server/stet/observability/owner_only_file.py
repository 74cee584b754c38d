"""The log file of one process."""

import logging
import sys
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from stet.observability.private_files import open_private


class OwnerOnlyFile(RotatingFileHandler):
    """A handler for rotated files that only their owner can read."""

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", opener=open_private)

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, into a new file if the open one was removed."""
        if self.stream is not None and not Path(self.baseFilename).exists():
            self.stream.close()
            self.stream = self._open()
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's
        """Leave the error to `LazyLogFile`; logging itself prints it to an unread stderr."""
        error = sys.exc_info()[1]
        if isinstance(error, OSError):
            raise error
