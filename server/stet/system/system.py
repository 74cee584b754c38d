"""The machine, as the rest of Stet sees it: a port with two implementations.

`OsSystem` is the real one; `MemorySystem` is a small world for tests. Paths are absolute and native.
All file methods may block: call them from a worker thread where the event loop runs.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol


class FileKind(Enum):
    """What lies at a path, links not followed."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"
    """A device, a pipe, a socket: never opened."""


@dataclass(frozen=True, slots=True)
class FileStat:
    """What is known of a path without opening it.

    Attributes:
        kind: What it is.
        size: In bytes.
        mtime: Seconds since the epoch, UTC.
    """

    kind: FileKind
    size: int
    mtime: float


class System(Protocol):
    """Disk, processes and clock."""

    def stat(self, path: Path) -> FileStat | None:
        """What lies at `path`, links not followed; None if nothing does or it can't be looked at."""
        ...

    def read_bytes(self, path: Path, limit: int) -> bytes:
        """At most `limit` bytes of a regular file.

        Raises:
            OSError: If it can't be read or is no regular file.
        """
        ...

    def list_folder(self, path: Path) -> Iterator[tuple[str, FileStat]]:
        """Names and stats in a folder, sorted by name; nothing where it can't be read."""
        ...

    def real_path(self, path: Path) -> Path:
        """`path` with every link resolved; the part that does not exist stays as it is."""
        ...

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that only go forward."""
        ...

    def environ(self) -> Mapping[str, str]:
        """The environment of this process."""
        ...

    def write_own(self, name: str, text: str) -> Path:
        """Write one of Stet's own documents, never a file of the user's; gives where it is.

        It lies in Stet's state folder (0700), readable by the user only (0600); an older one of the
        same name is replaced whole.

        Raises:
            OSError: If it can't be written.
        """
        ...

    async def start_process(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> asyncio.subprocess.Process:
        """Start a program without a shell, its three streams piped.

        Raises:
            OSError: If it can't be started.
        """
        ...
