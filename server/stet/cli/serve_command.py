"""`stet serve`: logging, then the language server on stdio until the editor ends it.

This module is imported before `initialize` is answered, so it imports only what the start needs:
the log file and its rotation are set up with the first record.
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
    """Write text of any origin on one line, escaping characters that the stream can't encode."""
    encoding = stream.encoding or "ascii"
    line = escape_line(text).encode(encoding, "backslashreplace").decode(encoding)
    stream.write(f"{line}\n")
    stream.flush()


LEVELS = ("debug", "info", "warning", "error")
USAGE = f"usage: stet serve [--stdio] [--log-level {'|'.join(LEVELS)}]"
IN_TERMINAL = (
    "This is a language server: an editor starts it and talks to it on stdin and stdout.",
    "To set up an editor: stet config neovim --write (or vscode, helix, emacs).",
    "To ask from the shell: stet ask PROMPT. To start the server here anyway: stet serve --stdio.",
)
"""The lines for a user who runs `stet serve` in a terminal."""


class ServeUsageError(ValueError):
    """The arguments are invalid; the message names the invalid one."""


def run(arguments: Sequence[str]) -> int:
    """Run the server until the editor ends it; return the exit code."""
    try:
        level = parse_arguments(arguments)
    except ServeUsageError as error:
        write_line(sys.stderr, f"stet serve: {error}")
        write_line(sys.stderr, USAGE)
        return 2
    if "--stdio" not in arguments and sys.stdin is not None and sys.stdin.isatty():
        for line in IN_TERMINAL:
            write_line(sys.stderr, line)
        return 2
    reports = CrashReporter()
    start_logging(level, reports)
    catch_all()
    from stet.lsp.server import serve  # late: the log must exist for errors of the import

    return serve(reports, log_level_given=bool(level))


def parse_arguments(arguments: Sequence[str]) -> str:
    """Return the requested log level, or "" if there is none.

    Arguments are parsed by hand, because every parser costs milliseconds.

    Raises:
        ServeUsageError: If an argument is unknown or its value is invalid.
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
    """Log to stderr, which editors show, and to a file that is created with the first record.

    `level` is the level of the logger `stet`. The framework's own logger stays at warnings: at
    lower levels it writes whole messages, which contain the user's text.

    Args:
        level: A value of `--log-level`; empty for the default.
        others: Further handlers of the same records.
    """
    form = PrivateFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handlers = (StderrHandler(), LazyLogFile(), *others)
    for handler in handlers:
        handler.setFormatter(form)
        handler.addFilter(is_loggable)
    logging.basicConfig(level=logging.WARNING, handlers=handlers)
    logging.getLogger("stet").setLevel(level.upper() or logging.WARNING)
