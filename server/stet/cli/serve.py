"""`stet serve`: logging, then the language server on stdio until the editor leaves.

Loaded before `initialize` is answered, so it imports nothing that is not needed at once: the log
file and its rotation come with the first record worth writing.
"""

import logging
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from stet.cli.write import write_line
from stet.lsp.logs import StderrHandler
from stet.text.escape import escape

LEVELS = ("debug", "info", "warning", "error")
USAGE = f"usage: stet serve [--stdio] [--log-level {'|'.join(LEVELS)}]"
log = logging.getLogger(__name__)

_MAX_LOG_BYTES = 1_000_000
_KEPT_LOGS = 3


class UsageError(ValueError):
    """The arguments make no sense; the message says which."""


def run(arguments: Sequence[str]) -> int:
    """Serve until the editor leaves; the exit code."""
    try:
        level = parse_arguments(arguments)
    except UsageError as error:
        write_line(sys.stderr, f"stet serve: {error}")
        write_line(sys.stderr, USAGE)
        return 2
    start_logging(level)
    from stet.lsp.server import serve  # after the log is there to take its complaints

    return serve(log_level_given=bool(level))


def parse_arguments(arguments: Sequence[str]) -> str:
    """The log level asked for, "" if none is; by hand, because every parser costs milliseconds.

    Raises:
        UsageError: If there is anything else.
    """
    level = ""
    rest = list(arguments)
    while rest:
        name, _, value = rest.pop(0).partition("=")
        if name == "--stdio" and not value:
            continue
        if name != "--log-level":
            raise UsageError(f"no such option: {name!r}")
        level = value or (rest.pop(0) if rest else "")
        if level not in LEVELS:
            raise UsageError(f"--log-level must be one of {', '.join(LEVELS)}, not {level!r}")
    return level


def start_logging(level: str) -> None:
    """Log to stderr, which editors show, and to a file that is made when the first record comes.

    The level is that of the logger `stet`. The framework's own logger stays at warnings: it writes
    whole messages, with the user's text in them, at lower levels.
    """
    form = EscapedFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handlers = (StderrHandler(), LazyLogFile())
    for handler in handlers:
        handler.setFormatter(form)
    logging.basicConfig(level=logging.WARNING, handlers=handlers)
    logging.getLogger("stet").setLevel(level.upper() or logging.WARNING)


class EscapedFormatter(logging.Formatter):
    """Records whose text cannot act on the terminal in which they are read."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text, control characters escaped."""
        return escape(super().format(record))


class LazyLogFile(logging.Handler):
    """`stet.log` in the platform's log folder, for its owner's eyes only, rotated at 1 MB.

    Where it can't be written, or not be rotated, that is said once on stderr and the file is given up.
    """

    def __init__(self, path: Path | None = None) -> None:
        super().__init__()
        self._path = path
        self._target: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, opening the file first if this is the first one."""
        try:
            self._target = self._target or self._open()
            self._target.handle(record)
        except OSError as error:
            target, self._target = self._target, logging.NullHandler()
            # Through the log: it does not wait for an editor that never reads stderr.
            log.warning("No log file is written: %s", error)
            if target is not None:
                target.close()

    def close(self) -> None:
        """Close the file if it was opened."""
        if self._target is not None:
            self._target.close()
        super().close()

    def _open(self) -> logging.Handler:
        """The file, in a folder of ours alone.

        Raises:
            OSError: If either can't be made.
        """
        from logging.handlers import RotatingFileHandler  # late: it imports sockets and queues

        class OwnersFile(RotatingFileHandler):
            """Rotated files that only their owner can read."""

            def _open(self) -> TextIOWrapper:
                return open(self.baseFilename, "a", encoding="utf-8", opener=_owners_only)

            def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's
                """Leave it to `LazyLogFile`; logging itself prints it, to a stderr nobody may read."""
                error = sys.exc_info()[1]
                if isinstance(error, OSError):
                    raise error

        path = self._path or log_file_path()
        _make_private(path.parent)
        target = OwnersFile(path, maxBytes=_MAX_LOG_BYTES, backupCount=_KEPT_LOGS)
        target.setFormatter(self.formatter)
        return target


def log_file_path() -> Path:
    """Where the log is; it need not exist."""
    import platformdirs  # late: most runs log nothing

    return platformdirs.user_log_path("stet") / "stet.log"


def _make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for their owner alone.

    Raises:
        OSError: If one can't be made.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)  # `parents=True` would leave theirs to the umask


def _owners_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
