"""Approved operations on a user's file on the real disk: create, move, copy, trash.

No operation overwrites a file, follows a link, or removes a file before its copy is complete. Each
step is exclusive in the system (`O_EXCL`, `link`), so no other program can intervene.
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
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from stet.system.no_follow import PinnedPath, check_regular, pin_path

log = logging.getLogger(__name__)

_STAMP_FORMAT = "%Y%m%dT%H%M%SZ"
_STAMP = re.compile(r"([0-9]{8}T[0-9]{6}Z)(-[0-9]{4})?")
_CANT_LINK = frozenset({errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
"""Errors of another device, or a file system without hard links: the file is copied."""


def create(path: Path, data: bytes) -> None:
    """Create a file that does not exist yet, and the folders above it.

    Raises:
        OSError: If the path exists, a folder above it is a link, or the file can't be written; no
            part of it is left over.
    """
    with pin_path(path, make=True) as place:
        descriptor = place.open_new(0o666)
        with place.remove_on_failure(), os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def move(path: Path, new: Path) -> None:
    """Move a file to a path that does not exist, also on another device; create the folders.

    Raises:
        OSError: If there is no regular file, `new` exists, a folder above one of them is a link, or
            the file can't be moved; the file is then at its old path.
    """
    with pin_path(path) as source:
        source.check_regular()
        with pin_path(new, make=True) as target:
            if _is_same_entry(source, target):
                source.rename(target)
            else:
                _move_across_devices(source, target)


def copy(path: Path, new: Path, *, make: bool = False) -> None:
    """Copy a regular file with its mode and times to a path that does not exist.

    With `make` the folders above are created. After an error no part of the copy is left over.

    Raises:
        OSError: As `move`.
    """
    with pin_path(path) as source, pin_path(new, make=make) as target:
        _copy(source, target)


def _move_across_devices(source: PinnedPath, target: PinnedPath) -> None:
    source.check_regular()
    if sys.platform == "win32":
        source.rename(target)  # on Windows this never overwrites
        return
    try:
        source.link(target)
    except OSError as error:
        if error.errno not in _CANT_LINK:
            raise
        taken = _copy(source, target)
    else:
        taken = target.stat()
    with target.remove_on_failure():
        check_regular(taken, source.path)
        # The removed file must be the copied file, even if another program has replaced it.
        if not os.path.samestat(taken, source.stat()):
            raise OSError(errno.EBUSY, "Another file replaced it", str(source.path))
        source.remove()


def _copy(source: PinnedPath, target: PinnedPath) -> os.stat_result:
    """Copy a file; return the status of the copied file."""
    source.check_regular()
    with os.fdopen(source.open(), "rb") as read:
        about = os.fstat(read.fileno())
        check_regular(about, source.path)
        descriptor = target.open_new(stat.S_IMODE(about.st_mode) | stat.S_IWUSR)
        with target.remove_on_failure(), os.fdopen(descriptor, "wb") as written:
            shutil.copyfileobj(read, written)
            written.flush()
            os.fsync(written.fileno())
            if target.folder is None:
                shutil.copystat(source.path, target.path)
            else:
                _copy_metadata(read.fileno(), written.fileno(), about)
    return about


def _copy_metadata(source: int, target: int, about: os.stat_result) -> None:
    """Copy attributes, times and mode between descriptors, like `shutil.copystat`."""
    if sys.platform == "linux":
        # Some file systems have no extended attributes, and some attributes can't be set.
        with suppress(OSError):
            for name in os.listxattr(source):
                with suppress(OSError):
                    os.setxattr(target, name, os.getxattr(source, name))
    os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))
    os.fchmod(target, stat.S_IMODE(about.st_mode))


def trash_place(folder: Path, path: Path, now: float) -> Path:
    """Return a new path in the trash for a file: the time, and below it the former path.

    Args:
        folder: The folder of the trash.
        path: The absolute path of the file.
        now: Seconds since the epoch, UTC.

    Raises:
        OSError: If a folder of the new path can't be created.
    """
    stamp = time.strftime(_STAMP_FORMAT, time.gmtime(now))
    for n in range(1, 10_000):
        place = folder / (f"{stamp}-{n:04}" if n > 1 else stamp) / path_below(path)
        if not os.path.lexists(place):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return place
    raise FileExistsError(errno.EEXIST, "Too many files of that name in the trash", str(path))


def path_below(path: Path) -> Path:
    """Return an absolute path as a relative path; a drive becomes a folder named by its letter."""
    drive = path.drive.strip(":\\/").replace("\\", "/")
    return Path(drive) / path.relative_to(path.anchor)


def empty_trash(folder: Path, before: float, to_keep: Collection[Path]) -> int:
    """Delete old contents of the trash permanently; return the number of deleted folders.

    Only folders that `trash_place` creates are deleted, and no link is followed.

    Args:
        folder: The folder of the trash.
        before: Files moved to the trash before this time, in seconds since the epoch, are deleted.
        to_keep: The former paths of files that may still be restored: these files are not deleted,
            nor are the files in the same folder of the trash.
    """
    n_removed = 0
    for place in _places_in(folder, before):
        if any(os.path.lexists(place / path_below(path)) for path in to_keep):
            continue
        try:
            shutil.rmtree(place)
            n_removed += 1
        except OSError as error:
            log.warning("%s stays in the trash: %s", place, error)
    return n_removed


def _places_in(folder: Path, before: float) -> list[Path]:
    """Return the folders of the trash that have not changed since `before`, sorted."""
    try:
        if folder.is_symlink():
            return []
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if _is_older(entry, before))
    except OSError:
        return []  # there is no trash yet


def _is_older(entry: os.DirEntry[str], before: float) -> bool:
    stamp = _STAMP.fullmatch(entry.name)
    if stamp is None or not entry.is_dir(follow_symlinks=False):
        return False
    try:
        put = calendar.timegm(time.strptime(stamp[1], _STAMP_FORMAT))
    except ValueError:
        return False
    return max(put, entry.stat(follow_symlinks=False).st_mtime) < before


def _is_same_entry(source: PinnedPath, target: PinnedPath) -> bool:
    """Return whether both are spellings of one name in one folder."""
    path, new = source.path, target.path
    if path.parent != new.parent or path.name == new.name:
        return False
    try:
        is_one = os.path.samestat(source.stat(), target.stat())
    except FileNotFoundError:
        return False
    return is_one and not {path.name, new.name} <= source.list_names()
