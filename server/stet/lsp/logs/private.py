"""Files and folders that only their owner can read."""

import os
from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for their owner alone.

    Raises:
        OSError: If one can't be made.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)  # `parents=True` would leave theirs to the umask


def owners_only(path: str, flags: int) -> int:
    """Opens a file that only its owner can read; for `open`."""
    return os.open(path, flags, 0o600)
