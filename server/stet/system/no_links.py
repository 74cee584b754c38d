"""Opening a file by its real path so that no link that came in meanwhile is followed.

A path is resolved, what it leads to is judged, and then it is opened: whoever can turn a link between
the two has a file read that nobody judged. Here no part of the path may be a link at the moment of
opening, so what is opened is what was judged, or nothing.

Linux does it in one call (`openat2` with `RESOLVE_NO_SYMLINKS`, since 5.6; as quick as a plain open).
Elsewhere each folder is opened from the one above it without following links (`O_NOFOLLOW`, about five
times as long). Windows has neither: there the path is resolved once more behind the opening.
"""

import errno
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path

_READ = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    # Opening a pipe without a writer would wait for ever; Windows has no such files.
    | getattr(os, "O_NONBLOCK", 0)
    # Windows would translate line ends.
    | getattr(os, "O_BINARY", 0)
)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW
_OPENAT2 = 437
"""The number of the call, the same on all machines."""
_AT_FDCWD = -100
_RESOLVE_NO_SYMLINKS = 0x04
_NOT_THERE = frozenset({errno.ENOSYS, errno.EPERM})
"""An older kernel, or a sandbox that does not know the call."""

Open = Callable[[bytes], int]


def open_without_links(path: Path) -> int:
    """A descriptor to read the file at `path`, which is absolute and has every link resolved.

    Raises:
        OSError: If it can't be opened; with ELOOP, if a part of the path is a link.
    """
    name = os.fsencode(path)
    if b"\0" in name:
        raise FileNotFoundError(errno.ENOENT, "No such file", str(path))
    if (open_at_once := _openat2()) is not None:
        descriptor = open_at_once(name)
        if descriptor >= 0:
            return descriptor
        if -descriptor not in _NOT_THERE:
            raise OSError(-descriptor, os.strerror(-descriptor), str(path))
    if _NOFOLLOW and os.open in os.supports_dir_fd:
        return open_by_folders(path)
    return _open_and_look_again(path)


def open_by_folders(path: Path) -> int:
    """The same, folder by folder.

    Raises:
        OSError: As `open_without_links`; a folder that is a link may also be reported as no folder.
    """
    folder = os.open(path.anchor, _FOLDER)
    try:
        for part in path.parts[1:-1]:
            below = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(path.name, _READ | _NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def _open_and_look_again(path: Path) -> int:
    """The same where links can't be refused: what was opened must be what lies at the real path.

    Raises:
        OSError: As `open_without_links`.
    """
    descriptor = os.open(path, _READ)
    real = os.path.realpath(path)
    if os.path.normcase(real) != os.path.normcase(path) or not os.path.samestat(
        os.fstat(descriptor), os.lstat(real)
    ):
        os.close(descriptor)
        raise OSError(errno.ELOOP, "A link has come in", str(path))
    return descriptor


@functools.cache
def _openat2() -> Open | None:
    """The call, giving a descriptor or the error's number below 0; None where there is none."""
    if sys.platform != "linux":
        return None
    import ctypes  # late: it takes 8 ms, and the first file is read in a worker thread

    library = ctypes.CDLL(None, use_errno=True)
    how = (ctypes.c_uint64 * 3)(_READ, 0, _RESOLVE_NO_SYMLINKS)

    def call(name: bytes) -> int:
        found = library.syscall(_OPENAT2, _AT_FDCWD, name, how, ctypes.sizeof(how))
        return int(found) if found >= 0 else -ctypes.get_errno()

    # A kernel that lacks it says so to any question; the top of the disk is always there.
    probe = call(b"/")
    if probe < 0:
        return None
    os.close(probe)
    return call
