"""Where reports lie: a folder beside the log, of which the newest few are kept."""

import os
from datetime import UTC, datetime
from pathlib import Path

from stet.observability.log_file import log_file_path
from stet.observability.private_files import make_private, open_private

MAX_REPORTS = 10
_PREFIX = "crash-"
_PATTERN = f"{_PREFIX}*.txt"


class ReportDirectory:
    """The folder of one user's reports."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` is made with the first report; None: `crashes` beside the log."""
        self._folder = folder

    @property
    def folder(self) -> Path:
        """Where reports lie; it need not exist."""
        if self._folder is None:
            self._folder = log_file_path().parent / "crashes"
        return self._folder

    def save(self, text: str) -> Path:
        """Keep a report, and drop the oldest of too many. Blocking; any thread may call it.

        Raises:
            OSError: If it can't be written.
        """
        make_private(self.folder)
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
        path = self.folder / f"{_PREFIX}{stamp}-{os.getpid()}.txt"
        with open(path, "x", encoding="utf-8", opener=open_private) as file:
            file.write(text)
        for old in self.reports()[MAX_REPORTS:]:
            old.unlink(missing_ok=True)
        return path

    def reports(self) -> list[Path]:
        """Those that are there, the newest first; none where the folder can't be read."""
        try:
            return sorted(self.folder.glob(_PATTERN), reverse=True)
        except OSError:
            return []
