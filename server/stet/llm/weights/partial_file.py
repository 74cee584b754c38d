"""The unfinished file of an installation: it grows, survives a cut, and is renamed when it is right.

These modules write to the disk directly: the system port can't write, since no file of a workspace
may be written, but these files belong to Stet.
"""

import errno
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

Progress = Callable[[str, float], None]
"""A callback for the current step and the finished share of the whole (0 to 1)."""

DISK_IS_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a disk that takes no more bytes: it is full, or a limit of the user or a file is met."""
RESERVED_BYTES = 50_000_000
"""The bytes that stay free on the disk."""
BLOCK = 1_048_576
"""Bytes that are written or read in one step."""


class InstallError(Exception):
    """The weights could not be installed; `str()` is a sentence for the user."""


class PartialFile:
    """An unfinished file beside its target. All methods block: call them in a worker thread.

    Args:
        target: The path of the finished file.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self.path = target.with_name(f".{target.name}.part")

    @property
    def size(self) -> int:
        """The number of bytes that are there."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def truncate(self, size: int) -> None:
        """Drop all bytes after the first `size`; create the file if it is missing."""
        with self.path.open("ab") as file:
            file.truncate(size)

    def append(self, data: bytes) -> None:
        """Append bytes."""
        with self.path.open("ab") as file:
            file.write(data)

    def remove(self) -> None:
        """Remove the file, if it is there."""
        self.path.unlink(missing_ok=True)

    def check_disk_space(self, n_bytes: int) -> None:
        """Check that there is room for so many bytes more, and some to spare.

        Raises:
            OSError: If there is not.
        """
        if shutil.disk_usage(self.path.parent).free < n_bytes + RESERVED_BYTES:
            needed = (n_bytes + RESERVED_BYTES) // 1_000_000
            raise OSError(errno.ENOSPC, f"{needed:,} MB are needed")

    def finish(self, sha256: str) -> str:
        """Rename the file to its target if it has this checksum; remove it otherwise.

        Args:
            sha256: The checksum in hexadecimal; "" to accept any.

        Returns:
            The checksum that the file has.
        """
        with self.path.open("rb+") as file:  # some systems sync only writable files
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
        if sha256 in {"", digest}:
            self.path.replace(self._target)
        else:
            self.remove()
        return digest


def disk_error(folder: Path, error: OSError) -> InstallError:
    """Return the error for the user of a disk that can't be written."""
    if error.errno in DISK_IS_FULL:
        return InstallError(f"The disk is full at {str(folder)!r}: {error.strerror}.")
    return InstallError(f"{str(folder)!r} can't be written: {error.strerror or error}.")
