"""What a program has written into the upper layer of an overlay.

The program may put anything there at any time. No link in the layer is followed: each folder is
opened from its parent, and a file is read only if it is a regular one.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from stet.system.no_follow import open_to_list

MAX_ENTRIES = 100_000
"""The most entries of a layer that are looked at."""
MAX_DEPTH = 100
"""The most folders in each other that are looked at: each is held open."""
_OPAQUE = "user.overlay.opaque"
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)

Parts = tuple[str, ...]
Skips = Callable[[Parts, bool], bool]


class EntryKind(Enum):
    """What an entry of the upper layer means."""

    FILE = "file"
    DELETED = "deleted"
    """A whiteout: what the folder has at this path is deleted."""
    REPLACED_FOLDER = "replaced folder"
    """A folder that hides the folder of this name: all that is not listed below it is deleted."""
    OTHER = "other"
    """A link, a device, a pipe or a socket."""


class UpperEntry(NamedTuple):
    """An entry of the upper layer.

    Attributes:
        parts: The path below the folder.
        kind: What the entry means.
        size: The size in bytes.
        stamp: Differs after each change of the entry.
    """

    parts: Parts
    kind: EntryKind
    size: int
    stamp: tuple[int, ...]


class TooManyEntries(Exception):
    """The upper layer has more than `MAX_ENTRIES` entries that are not skipped, or is too deep."""


def list_changes(upper: Path, skips: Skips) -> Iterator[UpperEntry]:
    """Yield the changes in an upper layer, a folder before its entries.

    Args:
        upper: The real path of the layer.
        skips: Returns whether an entry, by its path and whether it is a folder, is left out with
            all that is below it.

    Raises:
        OSError: If the layer can't be listed.
        TooManyEntries: If there are too many; some were not yielded.
    """
    top = open_to_list(upper)
    try:
        for number, entry in enumerate(_below(top, (), skips)):
            if number >= MAX_ENTRIES:
                raise TooManyEntries
            yield entry
    finally:
        os.close(top)


def _below(folder: int, parts: Parts, skips: Skips) -> Iterator[UpperEntry]:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in islice(entries, MAX_ENTRIES + 1))
    if len(names) > MAX_ENTRIES or len(parts) > MAX_DEPTH:
        raise TooManyEntries
    for name in names:
        here = (*parts, name)
        with suppress(OSError):  # the entry has been removed or replaced
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            is_folder = stat.S_ISDIR(status.st_mode)
            if skips(here, is_folder):
                continue
            if not is_folder:
                yield _entry(here, _kind(status), status)
                continue
            below = os.open(name, _FOLDER, dir_fd=folder)
            try:
                if _is_opaque(below):
                    yield _entry(here, EntryKind.REPLACED_FOLDER, status)
                yield from _below(below, here, skips)
            finally:
                os.close(below)


def _kind(status: os.stat_result) -> EntryKind:
    if stat.S_ISREG(status.st_mode):
        return EntryKind.FILE
    is_whiteout = stat.S_ISCHR(status.st_mode) and status.st_rdev == 0
    return EntryKind.DELETED if is_whiteout else EntryKind.OTHER


def _is_opaque(folder: int) -> bool:
    try:
        return os.getxattr(folder, _OPAQUE) == b"y"
    except OSError:
        return False


def _entry(parts: Parts, kind: EntryKind, status: os.stat_result) -> UpperEntry:
    stamp = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    return UpperEntry(parts, kind, status.st_size, stamp)
