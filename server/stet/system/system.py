"""The operating system: the only class that opens files, starts programs and reads the clock.

Paths are absolute and native. All file methods may block: call them from a worker thread if the
event loop is running. Tests use an implementation in memory with the same methods.
"""

import asyncio
import errno
import os
import stat
import sys
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path
from subprocess import PIPE
from types import MappingProxyType
from typing import NamedTuple

from stet.system import file_operations as user_files
from stet.system.no_follow import BINARY, HAS_FOLDER_DESCRIPTORS, READ, open_no_follow, open_to_list
from stet.system.program import Program, ProgramResult, run_program
from stet.system.runtime_folder import runtime_path

_TRASH = "trash"
"""The name of the trash in the state folder."""
_TRIES = 1000


class FileKind(Enum):
    """The kind of the entry at a path, without following links."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"
    """A device, a pipe or a socket, which is never opened."""


class FileStat(NamedTuple):
    """The status of an entry. A tuple, because a walk creates thousands of them.

    Attributes:
        kind: The kind of the entry.
        size: The size in bytes.
        mtime: The time of the last modification, in seconds since the epoch, UTC.
        n_names: The number of hard links to the file.
    """

    kind: FileKind
    size: int
    mtime: float
    n_names: int = 1


_KINDS = {stat.S_IFREG: FileKind.FILE, stat.S_IFDIR: FileKind.FOLDER, stat.S_IFLNK: FileKind.LINK}


class System:
    """Disk, processes and clock of the operating system.

    Attributes:
        folds_case: Whether two spellings of a name may mean one file although the system's path
            resolution keeps both (macOS). On Windows the path resolution yields one spelling.
    """

    def __init__(self, *, folds_case: bool | None = None) -> None:
        self.folds_case = sys.platform == "darwin" if folds_case is None else folds_case

    def stat(self, path: Path) -> FileStat | None:
        """Return the status of the entry at `path`, without following links, or None."""
        try:
            return _file_stat(os.lstat(path))
        except (OSError, ValueError):  # ValueError: a NUL in the name
            return None

    def read_bytes(self, path: Path, limit: int) -> bytes:
        """Return at most `limit` bytes of a regular file.

        Raises:
            OSError: If the file can't be read or is no regular file.
        """
        try:
            descriptor = os.open(path, READ)
        except ValueError as error:
            raise FileNotFoundError(errno.ENOENT, f"No such file ({error})", str(path)) from error
        return _read(descriptor, path, limit)

    def read_real(self, path: Path, limit: int) -> bytes:
        """Return at most `limit` bytes of the file at a result of `real_path`; follow no link.

        Raises:
            OSError: As `read_bytes`, or if a part of the path is a link.
        """
        return _read(open_no_follow(path), path, limit)

    def list_folder(self, path: Path) -> Iterator[tuple[str, FileStat]]:
        """Return names and stats in a folder, sorted by name; nothing if it can't be read."""
        return _entries(path, lambda name: os.lstat(path / name))

    def list_real(self, path: Path) -> Iterator[tuple[str, FileStat]]:
        """Yield the same as `list_folder` for a result of `real_path`; follow no link."""
        if not HAS_FOLDER_DESCRIPTORS:
            found = list(self.list_folder(path))
            yield from found if _resolved(path) == path else ()
            return
        try:
            folder = open_to_list(path)
        except (OSError, ValueError):
            return
        try:
            yield from _entries(
                folder, lambda name: os.stat(name, dir_fd=folder, follow_symlinks=False)
            )
        finally:
            os.close(folder)

    def real_path(self, path: Path) -> Path:
        """Return `path` with every link resolved; the part that does not exist stays as it is.

        If the file system folds case, names are spelled as on the disk.
        """
        resolved = _resolved(path)
        return _spelling_on_disk(resolved) if self.folds_case else resolved

    def now(self) -> float:
        """Return seconds since the epoch, UTC."""
        return time.time()

    monotonic = staticmethod(time.monotonic)
    """Return seconds of a clock that never goes backward."""

    def environ(self) -> Mapping[str, str]:
        """Return the current environment of this process."""
        return MappingProxyType(dict(os.environ))

    def state_folder(self) -> Path:
        """Return the folder for Stet's state, private to the user; created if missing.

        Raises:
            OSError: If the folder can't be created.
        """
        # Late: it is not needed before `initialize` is answered.
        import platformdirs

        return _made(platformdirs.user_state_path("stet"))

    def cache_folder(self) -> Path:
        """Return the folder for Stet's caches, private to the user; created if missing.

        Raises:
            OSError: If the folder can't be created.
        """
        import platformdirs  # late: as above

        return _made(platformdirs.user_cache_path("stet"))

    def runtime_folder(self) -> Path:
        """Return the folder for Stet's sockets, which only the user may read; created if missing.

        Raises:
            OSError: If the folder can't be created, belongs to another user, is a link, or may be
                read by others.
        """
        folder = runtime_path(self.environ())
        if folder.parent.name == "stet":
            _ = self.cache_folder()  # private, like the folder in it
        status = os.lstat(_made(folder))
        is_private = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & 0o077
        if hasattr(os, "geteuid") and not (is_private and status.st_uid == os.geteuid()):
            raise PermissionError(errno.EACCES, "Not a folder of the user alone", str(folder))
        return folder

    def write_generated(self, name: str, text: str) -> Path:
        """Write a document of Stet's, never a user's file; return its path.

        The document is in Stet's state folder (0700), readable by the user only (0600); an older
        document of the same name is replaced as a whole.

        Raises:
            OSError: If the document can't be written.
        """
        folder = self.state_folder()
        path = folder / name
        new = folder / f"{name}.{os.getpid()}.new"
        try:
            # The mode is set before the text is written, and the file is replaced as a whole.
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | BINARY, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode("utf-8", "surrogatepass"))
            new.replace(path)
        except OSError as error:
            error.filename = error.filename or str(path)
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise
        return path

    def create_file(self, path: Path, text: str) -> None:
        """Create a user's file with a text in UTF-8, and the folders above it.

        This method and the next five are the only operations on a user's files. They need an
        approval, and are used only if the editor can't do them. They never overwrite a file or
        follow a link: pass the real path.

        Raises:
            OSError: If the path exists, a folder above it is a link, or the file can't be written;
                no part of the file is left over.
        """
        user_files.create(path, text.encode("utf-8", "surrogatepass"))

    def move_file(self, path: Path, new: Path) -> None:
        """Move a user's file to a path that does not exist; create the folders.

        Raises:
            OSError: If there is no regular file, `new` exists, or the file can't be moved; the file
                is then at its old path.
        """
        user_files.move(path, new)

    def copy_to_trash(self, path: Path) -> Path:
        """Copy a user's file into the trash in the state folder (0700); return the new path.

        The copy has the whole former path below a folder named by the time.

        Raises:
            OSError: If the file is no regular file or can't be copied.
        """
        place = self._trash_place(path)
        user_files.copy(path, self._without_links(place))
        return place

    def trash(self, path: Path) -> Path:
        """Move a user's file into the trash; return its new path.

        Raises:
            OSError: As `copy_to_trash`, or if the file can't be removed.
        """
        place = self._trash_place(path)
        user_files.move(path, self._without_links(place))
        return place

    def trashed(self, path: Path) -> Iterator[Path]:
        """Yield the files in the trash that were at `path`, the newest first."""
        folder = self.state_folder() / _TRASH
        for name, _ in reversed(list(self.list_folder(folder))):
            place = folder / name / user_files.path_below(path)
            if (found := self.stat(place)) and found.kind is FileKind.FILE:
                yield place

    def restore(self, trashed: Path, path: Path) -> None:
        """Copy a file from the trash to a path that does not exist.

        Raises:
            OSError: As `create_file`, or if the file is no longer in the trash.
        """
        user_files.copy(self._without_links(trashed), path, make=True)

    def empty_trash(self, before: float, to_keep: Collection[Path]) -> int:
        """Delete old contents of the trash permanently; return the number of deleted folders.

        Args:
            before: The time in seconds since the epoch; contents older than this are deleted.
            to_keep: The former paths of files that may still be restored: these are not deleted.

        Raises:
            OSError: If the state folder can't be created.
        """
        return user_files.empty_trash(self.state_folder() / _TRASH, before, to_keep)

    async def start_process(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> asyncio.subprocess.Process:
        """Start a program without a shell, with its three streams piped, in a new session.

        In a new session, a key pressed in the terminal does not reach the program, and its children
        can be killed together with it.

        Raises:
            OSError: If the program can't be started.
        """
        return await asyncio.create_subprocess_exec(
            *argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env, start_new_session=True
        )

    async def start_program(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, limit: int
    ) -> asyncio.subprocess.Process:
        """Start a program of the user as `start_process` does.

        Args:
            argv: The program and its arguments.
            env: The whole environment of the program.
            cwd: The working directory.
            limit: The longest line that can be read from the program, in bytes.

        Raises:
            OSError: If the program can't be started.
        """
        return await asyncio.create_subprocess_exec(
            *argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env, cwd=cwd, limit=limit,
            start_new_session=True,
        )  # fmt: skip

    async def run(self, program: Program) -> ProgramResult:
        """Run a program until its end or a limit; see `stet.system.program`.

        Raises:
            OSError: If the program can't be started.
        """
        return await run_program(program)

    def _trash_place(self, path: Path) -> Path:
        folder = self.state_folder() / _TRASH
        folder.mkdir(mode=0o700, exist_ok=True)
        return user_files.trash_place(folder, path, self.now())

    def _without_links(self, trashed: Path) -> Path:
        """Return the real path of a trashed file: the user may have linked the state folder."""
        return self.real_path(trashed.parent) / trashed.name


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _read(descriptor: int, path: Path, limit: int) -> bytes:
    """Return at most `limit` bytes of an open file, and close the file.

    Raises:
        OSError: If the file can't be read or is no regular file.
    """
    # Check the open file, so that no other file can replace it after the check.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
    with os.fdopen(descriptor, "rb") as file:
        # A special file without available data returns None: do not wait for data.
        return file.read(limit) or b""


def _entries(
    folder: Path | int, status_of: Callable[[str], os.stat_result]
) -> Iterator[tuple[str, FileStat]]:
    """Yield names and stats in a folder (path or descriptor); nothing if it can't be read.

    `status_of` returns the status: on Windows a directory entry has no number of links.

    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except (OSError, ValueError):
        return
    for name in names:
        with suppress(OSError):  # the entry has been removed
            yield name, _file_stat(status_of(name))


def _file_stat(status: os.stat_result) -> FileStat:
    """Convert a status of the `os` module."""
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), FileKind.OTHER)
    return FileStat(kind, status.st_size, status.st_mtime, status.st_nlink)


def _resolved(path: Path) -> Path:
    """Return `path` with every link resolved.

    Up to Python 3.12 a link that becomes a folder meanwhile is an error: try again.
    """
    for _ in range(_TRIES):
        with suppress(OSError):
            try:
                return Path(os.path.realpath(path))
            except ValueError:  # NUL or half a character, which no name on a disk has
                break
    return path  # no program changes links that fast; the path is opened without links


def _spelling_on_disk(path: Path) -> Path:
    """Return `path` with each existing part as its folder lists it (case and Unicode form)."""
    spelled = Path(path.anchor)
    for part in path.relative_to(path.anchor).parts:
        spelled /= _listed_name(spelled, part)
    return spelled


def _listed_name(folder: Path, name: str) -> str:
    """Return the spelling of `name` in `folder`; `name` itself if there is no such entry."""
    try:
        listed = sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return name
    if name in listed:
        return name
    folded = _folded(name)
    return next((other for other in listed if _folded(other) == folded), name)


def _folded(name: str) -> str:
    """Return the form in which a case-folding file system compares names."""
    return unicodedata.normalize("NFC", name).casefold()
