"""Paths of Unix sockets, which the system limits to about a hundred bytes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MAX_BYTES = 100
"""The most bytes of the path of a Unix socket; macOS allows 103, Linux 107."""
_DESCRIPTORS = Path("/proc/self/fd")


@contextmanager
def short_path(path: Path) -> Iterator[str]:
    """Yield a path of a socket that is short enough, valid within the block.

    On Linux a long path is replaced by one below a descriptor of its folder.

    Raises:
        OSError: If the path is too long, and there is no shorter one.
    """
    if len(os.fsencode(path)) <= MAX_BYTES:
        yield str(path)
        return
    if not _DESCRIPTORS.is_dir():
        raise OSError(f"the path of the socket is too long: {path}. Set XDG_RUNTIME_DIR")
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"{_DESCRIPTORS}/{folder}/{path.name}"
    finally:
        os.close(folder)
