"""One sentence to stdout or stderr, before and without rich.

`stet serve`: logging, then the language server on stdio until the editor leaves.

Loaded before `initialize` is answered, so it imports nothing that is not needed at once: the log
file and its rotation come with the first record worth writing.
"""

import logging
import sys
from collections.abc import Sequence
from typing import TextIO

from stet.observability.crash_reports import CrashReporter, catch_all
from stet.observability.log_format import PrivateFormatter, is_loggable
from stet.observability.log_handlers import LazyLogFile, StderrHandler
from stet.text.escape import escape_line


def write_line(stream: TextIO, text: str) -> None:
    """Write text of any origin on one line, with only characters that the stream can show."""
    encoding = stream.encoding or "ascii"
    line = escape_line(text).encode(encoding, "backslashreplace").decode(encoding)
    stream.write(f"{line}\n")
    stream.flush()


LEVELS = ("debug", "info", "warning", "error")
USAGE = f"usage: stet serve [--stdio] [--log-level {'|'.join(LEVELS)}]"


class ServeUsageError(ValueError):
    """The arguments make no sense; the message says which."""


def run(arguments: Sequence[str]) -> int:
    """Serve until the editor leaves; the exit code."""
    try:
        level = parse_arguments(arguments)
    except ServeUsageError as error:
        write_line(sys.stderr, f"stet serve: {error}")
        write_line(sys.stderr, USAGE)
        return 2
    reports = CrashReporter()
    start_logging(level, reports)
    catch_all()
    from stet.lsp.server import serve  # after the log is there to take its complaints

    return serve(reports, log_level_given=bool(level))


def parse_arguments(arguments: Sequence[str]) -> str:
    """Return the requested log level, or "" if there is none.

    Arguments are parsed by hand, because every parser costs milliseconds.

    Raises:
        ServeUsageError: If there is any other argument.
    """
    level = ""
    rest = list(arguments)
    while rest:
        name, _, value = rest.pop(0).partition("=")
        if name == "--stdio" and not value:
            continue
        if name != "--log-level":
            raise ServeUsageError(f"no such option: {name!r}")
        level = value or (rest.pop(0) if rest else "")
        if level not in LEVELS:
            raise ServeUsageError(f"--log-level must be one of {', '.join(LEVELS)}, not {level!r}")
    return level


def start_logging(level: str, *others: logging.Handler) -> None:
    """Log to stderr, which editors show, and to a file that is made when the first record comes.

    The level is that of the logger `stet`. The framework's own logger stays at warnings: it writes
    whole messages, with the user's text in them, at lower levels.

    Args:
        level: As `--log-level` takes it; empty for the default.
        others: What hears the log too.
    """
    form = PrivateFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handlers = (StderrHandler(), LazyLogFile(), *others)
    for handler in handlers:
        handler.setFormatter(form)
        handler.addFilter(is_loggable)
    logging.basicConfig(level=logging.WARNING, handlers=handlers)
    logging.getLogger("stet").setLevel(level.upper() or logging.WARNING)
