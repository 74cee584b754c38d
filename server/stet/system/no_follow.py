"""Open files and folders so that no link that was created meanwhile is followed.

A path is resolved, its target is checked, and then the target is opened: a program that changes a
link between the two steps could make Stet read an unchecked file. Here no part of the path may be a
link at the moment of opening, so the opened file is the checked file, or the opening fails.

Linux does this in one call (`openat2` with `RESOLVE_NO_SYMLINKS`, since 5.6; as fast as a plain
open). On other systems each folder is opened from its parent without following links (`O_NOFOLLOW`,
about five times as long). Windows has neither: the path is resolved again after the opening.

`PinnedPath` is a name in a folder that is held open: the folder is opened once, through no link,
and each step is done in the same folder, even if its path changes meanwhile. On Windows the path is
checked, and then used.
"""

import errno
import functools
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

BINARY = getattr(os, "O_BINARY", 0)
"""On Windows, without this flag, line ends are translated."""
READ = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    # Opening a pipe without a writer would block; Windows has no such files.
    | getattr(os, "O_NONBLOCK", 0)
    | BINARY
)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_READ_FILE = READ | _NOFOLLOW
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | BINARY
_FOLDER = (
    getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
)
_LISTING = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_OPENAT2 = 437
"""The number of the system call, the same on all architectures."""
_AT_FDCWD = -100
_RESOLVE_NO_SYMLINKS = 0x04
_NOT_THERE = frozenset({errno.ENOSYS, errno.EPERM})
"""Errors of an older kernel, or of a sandbox that refuses the call."""

_CALLS = {os.open, os.stat, os.mkdir, os.link, os.rename, os.unlink}
HAS_FOLDER_DESCRIPTORS = bool(_NOFOLLOW) and os.supports_dir_fd >= _CALLS
"""Whether calls can be relative to an open folder; not on Windows."""

Openat2 = Callable[[bytes], int]


def open_no_follow(path: Path) -> int:
    """Return a descriptor to read the file at the absolute path `path` without links.


    Raises:
        OSError: If the file can't be opened; with ELOOP, if a part of the path is a link.
    """
    descriptor = _open_at_once(path, READ)
    if descriptor is not None:
        return descriptor
    return open_each_folder(path) if HAS_FOLDER_DESCRIPTORS else _open_and_verify(path)


def open_each_folder(path: Path) -> int:
    """Return a descriptor to read the file at `path`, opened folder by folder.

    Raises:
        OSError: As `open_no_follow`.
    """
    return _open_inside(path.parent, path.name, _READ_FILE)


def open_folder(path: Path, *, make: bool = False) -> int:
    """Return a descriptor of the folder at `path`. Needs `HAS_FOLDER_DESCRIPTORS`.

    Args:
        path: As for `open_no_follow`.
        make: Whether the folder and its parents are created if missing.

    Raises:
        OSError: If the folder can't be opened or created; with ELOOP, if a part of the path is a
            link.
    """
    try:
        try:
            descriptor = _open_at_once(path, _FOLDER)
        except FileNotFoundError:
            if not make:
                raise
            descriptor = None
        return _open_each_folder(path, make=make) if descriptor is None else descriptor
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "A parent folder is a symbolic link", str(path)) from error
        error.filename = str(path)  # it may name only one folder of the path
        raise


def open_to_list(path: Path) -> int:
    """Return a descriptor to list the folder at `path`. Needs `HAS_FOLDER_DESCRIPTORS`.

    Raises:
        OSError: As `open_folder`.
    """
    descriptor = _open_at_once(path, _LISTING)
    return _open_inside(path, ".", _LISTING) if descriptor is None else descriptor


def _open_inside(path: Path, name: str, flags: int) -> int:
    """Return a descriptor of an entry of the folder at `path`, opened folder by folder."""
    folder = _open_each_folder(path)
    try:
        return os.open(name, flags, dir_fd=folder)
    finally:
        os.close(folder)


def _open_at_once(path: Path, flags: int) -> int | None:
    """Return a descriptor of the entry at `path`, opened in one call; None without `openat2`.

    Raises:
        OSError: As `open_no_follow`.
    """
    name = os.fsencode(path)
    if b"\0" in name:
        raise FileNotFoundError(errno.ENOENT, "No such file", str(path))
    if (open_at_once := _openat2(flags)) is None:
        return None
    descriptor = open_at_once(name)
    if descriptor >= 0:
        return descriptor
    if -descriptor in _NOT_THERE:
        return None
    raise OSError(-descriptor, os.strerror(-descriptor), str(path))


def _open_each_folder(path: Path, *, make: bool = False) -> int:
    """Return a descriptor of the folder at `path`; open or create each folder in its parent.

    Raises:
        OSError: As `open_folder`.
    """
    folder = os.open(path.anchor, _FOLDER)
    for part in path.parts[1:]:
        try:
            below = _open_subfolder(folder, part, make=make)
        finally:
            os.close(folder)
        folder = below
    return folder


def _open_subfolder(folder: int, name: str, *, make: bool) -> int:
    """Return a descriptor of a folder in an open folder.

    Raises:
        OSError: As `open_folder`.
    """
    try:
        return os.open(name, _FOLDER | _NOFOLLOW, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    except NotADirectoryError as error:
        # A link is reported with this error too.
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from error
        raise
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    return os.open(name, _FOLDER | _NOFOLLOW, dir_fd=folder)


def _open_and_verify(path: Path) -> int:
    """Return a descriptor to read the file at `path` on a system that can't refuse links.

    The opened file must be the file at the real path.

    Raises:
        OSError: As `open_no_follow`.
    """
    descriptor = os.open(path, READ)
    real = os.path.realpath(path)
    is_same_path = os.path.normcase(real) == os.path.normcase(path)
    if not (is_same_path and os.path.samestat(os.fstat(descriptor), os.lstat(real))):
        os.close(descriptor)
        raise OSError(errno.ELOOP, "A symbolic link was found", str(path))
    return descriptor


@functools.cache
def _openat2(flags: int) -> Openat2 | None:
    """Return `openat2` with these flags; None if the system lacks the call.

    The result is a function that returns a descriptor or, below 0, the number of the error.
    """
    if sys.platform != "linux":
        return None
    import ctypes  # late: it takes 8 ms, and the first file is read in a worker thread

    library = ctypes.CDLL(None, use_errno=True)
    how = (ctypes.c_uint64 * 3)(flags, 0, _RESOLVE_NO_SYMLINKS)

    def call(name: bytes) -> int:
        found = library.syscall(_OPENAT2, _AT_FDCWD, name, how, ctypes.sizeof(how))
        return int(found) if found >= 0 else -ctypes.get_errno()

    # A kernel without the call fails for every path; the root folder always exists.
    probe = call(b"/")
    if probe < 0:
        return None
    os.close(probe)
    return call


class PinnedPath(NamedTuple):
    """A name in an open folder. All methods raise OSError like the system calls.

    Attributes:
        path: The path as given; only for messages if the folder is open.
        name: The name for system calls, together with `folder`.
        folder: The folder's descriptor; None on systems without such descriptors, where `name` is
            the whole path.
    """

    path: Path
    name: str
    folder: int | None

    def stat(self) -> os.stat_result:
        """Return the status of the entry, without following a link."""
        return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)

    def check_regular(self) -> None:
        """Check that the entry is a regular file.

        Raises:
            OSError: If the entry is no regular file.
        """
        check_regular(self.stat(), self.path)

    def open_new(self, mode: int) -> int:
        """Create a file and return a descriptor to write it."""
        return os.open(self.name, _NEW, mode, dir_fd=self.folder)

    def open(self) -> int:
        """Return a descriptor to read the entry."""
        return os.open(self.name, _READ_FILE, dir_fd=self.folder)

    def remove(self) -> None:
        """Remove the file."""
        os.unlink(self.name, dir_fd=self.folder)

    def rename(self, new: "PinnedPath") -> None:
        """Rename the entry; on Windows only if `new` does not exist."""
        os.rename(self.name, new.name, src_dir_fd=self.folder, dst_dir_fd=new.folder)

    def replace(self, new: "PinnedPath") -> None:
        """Rename the entry and replace an existing entry of that name."""
        os.replace(self.name, new.name, src_dir_fd=self.folder, dst_dir_fd=new.folder)

    def sibling(self, name: str) -> "PinnedPath":
        """Return the path of another name in the same folder."""
        path = self.path.with_name(name)
        return PinnedPath(path, str(path) if self.folder is None else name, self.folder)

    def link(self, new: "PinnedPath") -> None:
        """Create a hard link to the entry at `new`, which must not exist."""
        here, there = self.folder, new.folder
        os.link(self.name, new.name, src_dir_fd=here, dst_dir_fd=there, follow_symlinks=False)

    def list_names(self) -> set[str]:
        """Return the names in the folder."""
        if self.folder is None:
            return {entry.name for entry in self.path.parent.iterdir()}
        # The descriptor only refers to the folder (`O_PATH`) and can't be read.
        readable = os.open(".", os.O_RDONLY, dir_fd=self.folder)
        try:
            with os.scandir(readable) as entries:
                return {entry.name for entry in entries}
        finally:
            os.close(readable)

    @contextmanager
    def remove_on_failure(self) -> Iterator[None]:
        """Remove the new file if the body fails, and add its path to the error."""
        try:
            yield
        except BaseException as error:
            if isinstance(error, OSError):
                error.filename = error.filename or str(self.path)  # errors of writes have no name
            with suppress(OSError):
                self.remove()
            raise


@contextmanager
def pin_path(path: Path, *, make: bool = False) -> Iterator[PinnedPath]:
    """Yield the absolute path `path` in its open folder; with `make`, create the folders above.

    Raises:
        OSError: If a folder above is a link, or can't be opened or created.
    """
    folder = open_folder(path.parent, make=make) if HAS_FOLDER_DESCRIPTORS else None
    try:
        if folder is None:
            _check_folders(path.parent, make=make)
        yield PinnedPath(path, str(path) if folder is None else path.name, folder)
    except OSError as error:
        # Messages show the whole path.
        if error.filename == path.name:
            error.filename = str(path)
        if error.filename2 == path.name:
            error.filename2 = str(path)
        raise
    finally:
        if folder is not None:
            os.close(folder)


def check_regular(about: os.stat_result, path: Path) -> None:
    """Check that the status of the entry at `path` is that of a regular file.

    Raises:
        OSError: If the entry is no regular file.
    """
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "Not a regular file", str(path))


def _check_folders(folder: Path, *, make: bool) -> None:
    """Check that no part of the path of `folder` is a link, if folders can't be held open.

    Raises:
        OSError: As `pin_path`.
    """
    _check_no_link(folder)
    if make:
        folder.mkdir(parents=True, exist_ok=True)
        _check_no_link(folder)


def _check_no_link(folder: Path) -> None:
    if Path(os.path.realpath(folder)) != folder:
        raise OSError(errno.ELOOP, "A parent folder is a symbolic link", str(folder))
