"""The machine, as the rest of Stet sees it: a port with two implementations.

`OsSystem` is the real one; tests have a small world in memory. Paths are absolute and native.
All file methods may block: call them from a worker thread where the event loop runs.
"""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple, Protocol

from stet.system.program import Program, ProgramResult


class FileKind(Enum):
    """What lies at a path, links not followed."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"
    """A device, a pipe, a socket: never opened."""


class FileStat(NamedTuple):
    """What is known of a path without opening it. A tuple, as a walk makes thousands of them.

    Attributes:
        kind: What it is.
        size: In bytes.
        mtime: Seconds since the epoch, UTC.
        n_names: How many names the file has on its disk; more than one by hard links.
    """

    kind: FileKind
    size: int
    mtime: float
    n_names: int = 1


class System(Protocol):
    """Disk, processes and clock."""

    def stat(self, path: Path) -> FileStat | None:
        """Return what is at `path`, without following links. None if nothing is there, or the place
        can't be examined.
        """
        ...

    def read_bytes(self, path: Path, limit: int) -> bytes:
        """At most `limit` bytes of a regular file.

        Raises:
            OSError: If it can't be read or is no regular file.
        """
        ...

    def read_real(self, path: Path, limit: int) -> bytes:
        """As `read_bytes`, of a path that `real_path` gave: a link that came in since is not followed.

        Raises:
            OSError: As `read_bytes`, or if a part of the path is a link.
        """
        ...

    def list_folder(self, path: Path) -> Iterator[tuple[str, FileStat]]:
        """Names and stats in a folder, sorted by name; nothing where it can't be read."""
        ...

    def list_real(self, path: Path) -> Iterator[tuple[str, FileStat]]:
        """As `list_folder`, of a path that `real_path` gave: a link that came in since is not followed."""
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
        """Return the environment of this process."""
        ...

    def state_folder(self) -> Path:
        """Return the folder for Stet's own state, for this user only (0700); created if missing.

        Raises:
            OSError: If it can't be made.
        """
        ...

    def cache_folder(self) -> Path:
        """Return the folder for what Stet can make again, for this user only; created if missing.

        Raises:
            OSError: If it can't be made.
        """
        ...

    def write_generated(self, name: str, text: str) -> Path:
        """Write one of Stet's own documents, never a file of the user's; return its path.

        The document is in Stet's state folder (0700), readable by the user only (0600); an older
        document of the same name is replaced as a whole.

        Raises:
            OSError: If it can't be written.
        """
        ...

    def create_file(self, path: Path, text: str) -> None:
        """Create a user's file that does not exist yet, UTF-8, and the folders above it.

        This method and the next five are the only operations on a user's files. They need an
        approval, and are used only if the editor can't do them. None overwrites or follows a link:
        give the real path.

        Raises:
            OSError: If the path exists, a folder above it is a link, or it can't be written;
                nothing is left over then.
        """
        ...

    def move_file(self, path: Path, new: Path) -> None:
        """Give a user's file another name, where nothing is; folders are made.

        Raises:
            OSError: If there is no regular file, something has the new name, or it can't be done;
                the file is where it was then.
        """
        ...

    def copy_to_trash(self, path: Path) -> Path:
        """Copy a user's file into the trash in the state folder (0700); return its path there.

        The copy is below a folder named by the time, with its whole former path.

        Raises:
            OSError: If it is no regular file or can't be copied.
        """
        ...

    def trash(self, path: Path) -> Path:
        """Move a user's file into the trash; return the path. Remove it only after a complete copy.

        Raises:
            OSError: As `copy_to_trash`, or if it can't be removed.
        """
        ...

    def trashed(self, path: Path) -> Iterator[Path]:
        """Yield what the trash holds of the file that was at `path`, the newest first."""
        ...

    def restore(self, trashed: Path, path: Path) -> None:
        """Bring a file back from the trash to where nothing is; the trash keeps its copy.

        Raises:
            OSError: As `create_file`, or if the trash holds it no more.
        """
        ...

    def empty_trash(self, before: float, to_keep: Collection[Path]) -> int:
        """Delete older contents of the trash for good; return how many places were emptied.

        Args:
            before: Seconds since the epoch.
            to_keep: The former paths of files that may still be restored: these files stay.

        Raises:
            OSError: If there can be no state folder.
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

    async def run(self, program: Program) -> ProgramResult:
        """Run a program to its end, or to the end of its time; see `stet.system.program`.

        Raises:
            OSError: If it can't be started.
        """
        ...
