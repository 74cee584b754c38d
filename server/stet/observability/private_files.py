"""Create files and folders that only their owner can read, without following a stranger's links."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stet.system.no_follow import HAS_FOLDER_DESCRIPTORS

PRIVATE_FOLDERS = "stet"
"""The name of Stet's folder in the platform's folders. From this folder on, no part of a path may
be a link. A link above it, such as a home on another disk, is the user's.
"""
_WITHOUT_LINKS = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    # Opening a pipe in a file's place would block.
    | getattr(os, "O_NONBLOCK", 0)
)
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


def make_private(folder: Path) -> None:
    """Create a folder and its missing parents, readable by their owner only.

    Raises:
        OSError: If a folder can't be created; with ELOOP, if one of Stet's folders is a link.
    """
    for path in _stet_folders(folder):
        if path.is_symlink():
            raise _link(path)
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)  # `parents=True` would apply the umask to parents


def open_private(path: str, flags: int) -> int:
    """Open a file that only its owner can read; for use with `open`.

    Raises:
        OSError: If the file can't be opened; with ELOOP, if the file or one of Stet's folders is a
            link; also if it is not a regular file or has another hard link.
    """
    place = Path(path)
    try:
        with _folder_of(place) as folder:
            name = place.name if folder is not None else path
            descriptor = os.open(name, flags | _WITHOUT_LINKS, 0o600, dir_fd=folder)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EMLINK}:
            raise _link(place) from error
        error.filename = path
        raise
    found = os.fstat(descriptor)
    # A disk without hard links reports one link, or none.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(descriptor)
        raise OSError(errno.EINVAL, "It is not a regular file of Stet", path)
    return descriptor


@contextmanager
def _folder_of(path: Path) -> Iterator[int | None]:
    """Yield a descriptor of the folder of `path`, which nobody can exchange meanwhile. Yield None
    if folder descriptors are not available.

    Raises:
        OSError: If the folder can't be opened; with ELOOP, if one of Stet's folders is a link.
    """
    if not HAS_FOLDER_DESCRIPTORS:
        yield None
        return
    folders = _stet_folders(path.parent)
    held = os.open(folders[0].parent if folders else path.parent, os.O_RDONLY | _FOLDER)
    try:
        for folder in folders:
            if folder.is_symlink():  # opening it would only fail with ENOTDIR
                raise _link(folder)
            below = os.open(folder.name, os.O_RDONLY | _FOLDER | _WITHOUT_LINKS, dir_fd=held)
            os.close(held)
            held = below
        yield held
    finally:
        os.close(held)


def _stet_folders(folder: Path) -> tuple[Path, ...]:
    """Return the folders of Stet among `folder` and its parents, from the top."""
    parts = folder.parts
    if PRIVATE_FOLDERS not in parts:
        return ()
    top = len(parts) - parts[::-1].index(PRIVATE_FOLDERS)
    return tuple(Path(*parts[:end]) for end in range(top, len(parts) + 1))


def _link(path: Path) -> OSError:
    return OSError(errno.ELOOP, "A symbolic link is in its place and is not followed", str(path))
