"""What may be done to a user's file after their yes, on the real disk: made, moved, put into the trash.

Nothing here overwrites, follows a link, or takes a file away before its copy is complete. Each step
is one the system itself makes exclusive (`O_EXCL`, `link`), so nothing can come in between.
"""

import calendar
import errno
import logging
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

log = logging.getLogger(__name__)

_STAMP_FORMAT = "%Y%m%dT%H%M%SZ"
_STAMP = re.compile(r"([0-9]{8}T[0-9]{6}Z)(-[0-9]{4})?")
_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CANT_LINK = frozenset({errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
"""Another device, or a file system that knows no hard links: there is only the copy."""


def create(path: Path, data: bytes) -> None:
    """Make a file that is not there yet, and the folders above it.

    Raises:
        OSError: If something is there, a folder above it is a link, or it can't be written; then
            nothing is left behind.
    """
    _make_folders(path.parent)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _BINARY, 0o666)
    with _gone_on_failure(path), os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def move(path: Path, new: Path) -> None:
    """Give a file another name, where nothing is; folders are made.

    Raises:
        OSError: If there is no regular file, something has the new name, a folder above that is a
            link, or it can't be done; then the file is where it was.
    """
    _check_regular(path)
    _make_folders(new.parent)
    if _is_same_entry(path, new):
        path.rename(new)
    else:
        take(path, new)


def take(path: Path, new: Path) -> None:
    """Move a file to where nothing is, on another device too.

    Raises:
        OSError: As `move`.
    """
    _check_regular(path)
    if sys.platform == "win32":
        path.rename(new)  # there it never overwrites
        return
    try:
        os.link(path, new, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _CANT_LINK:
            raise
        copy(path, new)
    with _gone_on_failure(new):
        path.unlink()


def bring_back(path: Path, new: Path) -> None:
    """Copy a file to where nothing is; folders are made.

    Raises:
        OSError: As `move`.
    """
    _make_folders(new.parent)
    copy(path, new)


def copy(path: Path, new: Path) -> None:
    """Copy a regular file with its mode and times to where nothing is; complete, or not at all.

    Raises:
        OSError: If there is no regular file, something has the new name, or it can't be written.
    """
    _check_regular(path)
    with path.open("rb") as source:
        mode = stat.S_IMODE(os.fstat(source.fileno()).st_mode)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _BINARY
        descriptor = os.open(new, flags, mode | stat.S_IWUSR)
        with _gone_on_failure(new), os.fdopen(descriptor, "wb") as target:
            shutil.copyfileobj(source, target)
            target.flush()
            os.fsync(target.fileno())
            shutil.copystat(path, new)


def trash_place(folder: Path, path: Path, now: float) -> Path:
    """A new place in the trash for a file: the time, and below it the whole path that it had.

    Args:
        folder: The trash.
        path: The file, absolute.
        now: Seconds since the epoch, UTC.

    Raises:
        OSError: If its folders can't be made.
    """
    stamp = time.strftime(_STAMP_FORMAT, time.gmtime(now))
    for n in range(1, 10_000):
        place = folder / (f"{stamp}-{n:04}" if n > 1 else stamp) / path_below(path)
        if not os.path.lexists(place):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return place
    raise FileExistsError(errno.EEXIST, "Too many of that name in the trash", str(path))


def path_below(path: Path) -> Path:
    """An absolute path as one that can stand below a folder; a drive becomes a folder of its letter."""
    drive = path.drive.strip(":\\/").replace("\\", "/")
    return Path(drive) / path.relative_to(path.anchor)


def empty_trash(folder: Path, before: float, kept: Collection[Path]) -> int:
    """Remove for good what has lain in the trash for long; gives how many places were emptied.

    Only folders that `trash_place` makes are touched, and no link is followed.

    Args:
        folder: The trash.
        before: When it must have come there, in seconds since the epoch.
        kept: The paths that files had which may still be wanted back: with what came there together
            with them, those stay.
    """
    n_removed = 0
    for place in _places_in(folder, before):
        if any(os.path.lexists(place / path_below(path)) for path in kept):
            continue
        try:
            shutil.rmtree(place)
            n_removed += 1
        except OSError as error:
            log.warning("%s stays in the trash: %s", place, error)
    return n_removed


def _places_in(folder: Path, before: float) -> list[Path]:
    """The folders of the trash in which nothing has been put since."""
    try:
        if folder.is_symlink():
            return []
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if _is_older(entry, before))
    except OSError:
        return []  # nothing was ever removed


def _is_older(entry: os.DirEntry[str], before: float) -> bool:
    stamp = _STAMP.fullmatch(entry.name)
    if stamp is None or not entry.is_dir(follow_symlinks=False):
        return False
    try:
        put = calendar.timegm(time.strptime(stamp[1], _STAMP_FORMAT))
    except ValueError:
        return False
    return max(put, entry.stat(follow_symlinks=False).st_mtime) < before


@contextmanager
def _gone_on_failure(path: Path) -> Iterator[None]:
    """Take away the file that was just made if what follows fails."""
    done = False
    try:
        yield
        done = True
    finally:
        if not done:
            with suppress(OSError):
                path.unlink()


def _make_folders(folder: Path) -> None:
    """Make `folder` and those above it.

    Raises:
        OSError: If it can't be made, or leads elsewhere through a link.
    """
    _check_no_link(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _check_no_link(folder)


def _check_no_link(folder: Path) -> None:
    if Path(os.path.realpath(folder)) != folder:
        raise OSError(errno.ELOOP, "A folder above it is a link", str(folder))


def _check_regular(path: Path) -> None:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(errno.EINVAL, "Is no regular file", str(path))


def _is_same_entry(path: Path, new: Path) -> bool:
    """Whether both are one name of one folder, spelled in two ways."""
    if path.parent != new.parent or path.name == new.name or not os.path.lexists(new):
        return False
    names = {entry.name for entry in path.parent.iterdir()}
    return path.samefile(new) and not {path.name, new.name} <= names
