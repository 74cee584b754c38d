"""Files and folders that only their owner can read, reached through no link of a stranger's."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stet.system.no_follow import HAS_FOLDER_DESCRIPTORS

PRIVATE_FOLDERS = "stet"
"""The name of Stet's own folder in the platform's: from there on no part of a path may be a link. What
lies above it, such as a home on another disk, is the user's."""
_WITHOUT_LINKS = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    # A pipe in a file's place would be waited for.
    | getattr(os, "O_NONBLOCK", 0)
)
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for their owner alone.

    Raises:
        OSError: If one can't be made; with ELOOP, if one of Stet's own is a link.
    """
    for path in _stet_folders(folder):
        if path.is_symlink():
            raise _link(path)
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)  # `parents=True` would leave theirs to the umask


def open_private(path: str, flags: int) -> int:
    """Open a file that only its owner can read; for use with `open`.

    Raises:
        OSError: If it can't be opened; with ELOOP, if it or one of Stet's own folders is a link; also
            if it is no plain file or has another name elsewhere.
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
    # On a disk that knows no links of this kind there is one, or none.
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(descriptor)
        raise OSError(errno.EINVAL, "It is no plain file of Stet's own", path)
    return descriptor


@contextmanager
def _folder_of(path: Path) -> Iterator[int | None]:
    """Yield a descriptor of the folder of `path`, which stays that folder. Yield None where
    descriptors are not available.

    Raises:
        OSError: If it can't be opened; with ELOOP, if one of Stet's own is a link.
    """
    if not HAS_FOLDER_DESCRIPTORS:
        yield None
        return
    folders = _stet_folders(path.parent)
    held = os.open(folders[0].parent if folders else path.parent, os.O_RDONLY | _FOLDER)
    try:
        for folder in folders:
            if folder.is_symlink():  # opening it would only say that it is no folder
                raise _link(folder)
            below = os.open(folder.name, os.O_RDONLY | _FOLDER | _WITHOUT_LINKS, dir_fd=held)
            os.close(held)
            held = below
        yield held
    finally:
        os.close(held)


def _stet_folders(folder: Path) -> tuple[Path, ...]:
    """Return those of `folder` and the ones above it that are Stet's own, from the top."""
    parts = folder.parts
    if PRIVATE_FOLDERS not in parts:
        return ()
    top = len(parts) - parts[::-1].index(PRIVATE_FOLDERS)
    return tuple(Path(*parts[:end]) for end in range(top, len(parts) + 1))


def _link(path: Path) -> OSError:
    return OSError(errno.ELOOP, "A link lies in its place, and is not followed", str(path))
