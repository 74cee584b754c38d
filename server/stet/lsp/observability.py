"""Crash reports of a run, with facts about its environment, and the trace of a model.

The facts contain no private data.
"""

import asyncio
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from stet import __version__
from stet.lsp.capabilities import ClientCapabilities
from stet.observability.crash_reports import CrashReporter, FaultLog
from stet.observability.log_format import PrivateFormatter
from stet.observability.log_handlers import LazyLogFile, log_file_path
from stet.settings.values import Settings
from stet.text.escape import escape_line

log = logging.getLogger(__name__)

_PACKAGES = ("pygls", "lsprotocol", "openai", "pydantic", "xllamacpp", "wordllama", "tree-sitter")
TRACE = "model-trace"
"""The kind of the trace's log file, which is in the folder of the log."""
_MAX_TRACE_BYTES = 20_000_000
_MAX_RECORD = 5_000_000
"""The most characters of one record in the trace."""


class Observability:
    """The crash reports and the trace of one run.

    Attributes:
        reports: The log handler that writes crash reports.
    """

    def __init__(self, reports: CrashReporter | None = None) -> None:
        self.reports = reports or CrashReporter()
        self._notes = FaultLog(self.reports.directory)
        self._editor: ClientCapabilities | None = None
        self._settings = Settings()
        self._notify: Callable[[str], None] = lambda _: None
        self._trace: LazyLogFile | None = None
        self.reports.facts = self._facts

    def editor_connected(self, editor: ClientCapabilities, notify: Callable[[str], None]) -> None:
        """Record the editor, and the function that notifies its user; called on the event loop."""
        loop = asyncio.get_running_loop()

        def tell_soon(message: str) -> None:
            loop.call_soon_threadsafe(notify, message)

        self._editor = editor
        self._notify = notify
        self.reports.notify_by(tell_soon)

    def settings_changed(self, settings: Settings) -> None:
        """Start or end the trace after the settings have changed."""
        self._settings = settings
        if not settings.log.trace_model:
            self._end_trace()
        elif self._trace is None:
            path = log_file_path(TRACE)
            self._trace = LazyLogFile(path, _MAX_TRACE_BYTES)
            self._trace.setFormatter(PrivateFormatter("%(asctime)s %(message)s", _MAX_RECORD))
            self._notify(f"Stet: log.traceModel is on; requests and answers are logged in {path}.")

    def tracer(self) -> Callable[[str], None] | None:
        """Return the function that writes the trace of a model, or None if the trace is off.

        The function blocks on the disk; it is called in a worker thread.
        """
        trace = self._trace
        if trace is None:
            return None

        def write(text: str) -> None:
            trace.handle(logging.makeLogRecord({"msg": text, "name": __name__}))

        return write

    async def begin(self) -> None:
        """Record fatal errors from now on, and notify the user if one ended an earlier run."""
        try:
            n_found = await asyncio.to_thread(lambda: self._notes.begin(self._facts()))
        except OSError as fault:
            log.warning("no fatal error could be reported: %s", fault)
            return
        if n_found:
            self._notify(
                "Stet: an earlier run crashed. A crash report is in "
                f"{self.reports.directory.folder}; it contains none of your text. Please attach "
                "it to an issue in Stet's tracker."
            )

    def end(self) -> None:
        """Record that the run ended normally."""
        self._notes.end()
        self._end_trace()

    def _end_trace(self) -> None:
        trace, self._trace = self._trace, None
        if trace is not None:
            trace.close()

    def _facts(self) -> list[str]:
        return facts(self._editor, self._settings)


def facts(editor: ClientCapabilities | None, settings: Settings) -> list[str]:
    """Return one line for each fact about the program.

    `editor` is None before `initialize`. The function takes some milliseconds.
    """
    import platform  # late: it is needed after `initialize`

    changed = ", ".join(_describe_settings(settings, Settings()))
    return [
        f"Stet {__version__}",
        f"Python {platform.python_version()} ({platform.python_implementation()})",
        f"system: {platform.system()} {platform.release()} {platform.machine()}",
        f"file names: {sys.getfilesystemencoding()}",
        f"packages: {', '.join(_versions())}",
        f"editor: {_describe_editor(editor) if editor else 'none yet'}",
        f"settings that are not the defaults: {changed or 'none'}",
    ]


def _describe_editor(editor: ClientCapabilities) -> str:
    names = [one.name for one in fields(editor) if one.name not in {"name", "version"}]
    able = [name for name in names if getattr(editor, name)]
    name = f"{editor.name[:60] or 'without a name'} {editor.version[:40]}"
    return escape_line(f"{name.strip()}; can: {', '.join(able) or 'nothing special'}")


def _describe_settings(settings: Any, defaults: Any, prefix: str = "") -> Iterator[str]:
    """Yield the names of the settings that differ from the defaults.

    Yield booleans and numbers with their value.
    """
    for setting in fields(settings):
        value, default = getattr(settings, setting.name), getattr(defaults, setting.name)
        name = f"{prefix}{setting.name}"
        if is_dataclass(value):
            yield from _describe_settings(value, default, f"{name}.")
        elif value != default:
            yield f"{name}={value}" if isinstance(value, bool | int | float) else name


def _versions() -> list[str]:
    from importlib.metadata import PackageNotFoundError, version  # late: as above

    versions = []
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"no {name}")
    return versions
