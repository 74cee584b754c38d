"""The machine: the one place where Stet opens files, starts programs and reads the clock.

Paths are absolute and native. All file methods may block: call them from a worker thread where the
event loop runs. Tests have a small world in memory with the same methods.
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

_TRASH = "trash"
"""Its folder in the state folder."""
_TRIES = 1000


class FileKind(Enum):
    """What lies at a path, links not followed."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"
    """A device, a pipe, a socket: never opened."""


class FileStat(NamedTuple):
    """What is known of a path without opening it. A tuple, as a walk makes thousands of them.

    Attributes:
        kind: What it is.
        size: In bytes.
        mtime: Seconds since the epoch, UTC.
        n_names: How many names the file has on its disk; more than one by hard links.
    """

    kind: FileKind
    size: int
    mtime: float
    n_names: int = 1


_KINDS = {stat.S_IFREG: FileKind.FILE, stat.S_IFDIR: FileKind.FOLDER, stat.S_IFLNK: FileKind.LINK}


class System:
    """Disk, processes and clock of the operating system.

    Attributes:
        folds_case: Whether two spellings of a name may mean one file without the system's own path
            resolution saying so (macOS). Windows resolves the case itself.
    """

    def __init__(self, *, folds_case: bool | None = None) -> None:
        self.folds_case = sys.platform == "darwin" if folds_case is None else folds_case

    def stat(self, path: Path) -> FileStat | None:
        """Return what is at `path`, without following links. None if nothing is there, or the place
        can't be examined.
        """
        try:
            return _file_stat(os.lstat(path))
        except (OSError, ValueError):  # ValueError: a NUL in the name
            return None

    def read_bytes(self, path: Path, limit: int) -> bytes:
        """Return at most `limit` bytes of a regular file.

        Raises:
            OSError: If it can't be read or is no regular file.
        """
        try:
            descriptor = os.open(path, READ)
        except ValueError as error:
            raise FileNotFoundError(errno.ENOENT, f"No such file ({error})", str(path)) from error
        return _read(descriptor, path, limit)

    def read_real(self, path: Path, limit: int) -> bytes:
        """Do as `read_bytes`, for a path that `real_path` gave: a link that came in since is not followed.

        Raises:
            OSError: As `read_bytes`, or if a part of the path is a link.
        """
        return _read(open_no_follow(path), path, limit)

    def list_folder(self, path: Path) -> Iterator[tuple[str, FileStat]]:
        """Return names and stats in a folder, sorted by name; nothing where it can't be read."""
        return _entries(path, lambda name: os.lstat(path / name))

    def list_real(self, path: Path) -> Iterator[tuple[str, FileStat]]:
        """Do as `list_folder`, for a path that `real_path` gave: a link that came in since is not followed."""
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

        Where the file system folds case, names are spelled as they are on the disk.
        """
        resolved = _resolved(path)
        return _spelling_on_disk(resolved) if self.folds_case else resolved

    def now(self) -> float:
        """Return seconds since the epoch, UTC."""
        return time.time()

    monotonic = staticmethod(time.monotonic)
    """Seconds that only go forward."""

    def environ(self) -> Mapping[str, str]:
        """Return the current environment of this process."""
        return MappingProxyType(dict(os.environ))

    def state_folder(self) -> Path:
        """Return the folder for Stet's own state, for this user only; created if missing.

        Raises:
            OSError: If it can't be made.
        """
        # Not needed before `initialize` is answered, and looked up only here.
        import platformdirs

        return _made(platformdirs.user_state_path("stet"))

    def cache_folder(self) -> Path:
        """Return the folder for what Stet can make again, for this user only; created if missing.

        Raises:
            OSError: If it can't be made.
        """
        import platformdirs  # late: as above

        return _made(platformdirs.user_cache_path("stet"))

    def write_generated(self, name: str, text: str) -> Path:
        """Write one of Stet's own documents, never a file of the user's; return its path.

        The document is in Stet's state folder (0700), readable by the user only (0600); an older
        document of the same name is replaced as a whole.

        Raises:
            OSError: If it can't be written.
        """
        folder = self.state_folder()
        path = folder / name
        new = folder / f"{name}.{os.getpid()}.new"
        try:
            # Made for this user alone before there is anything in it, and put in place whole.
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
        """Create a user's file that does not exist yet, UTF-8, and the folders above it.

        This method and the next five are the only operations on a user's files. They need an
        approval, and are used only if the editor can't do them. None overwrites or follows a link:
        give the real path.

        Raises:
            OSError: If the path exists, a folder above it is a link, or it can't be written;
                nothing is left over then.
        """
        user_files.create(path, text.encode("utf-8", "surrogatepass"))

    def move_file(self, path: Path, new: Path) -> None:
        """Give a user's file another name, where nothing is; folders are made.

        Raises:
            OSError: If there is no regular file, something has the new name, or it can't be done;
                the file is where it was then.
        """
        user_files.move(path, new)

    def copy_to_trash(self, path: Path) -> Path:
        """Copy a user's file into the trash in the state folder (0700); return its path there.

        The copy is below a folder named by the time, with its whole former path.

        Raises:
            OSError: If it is no regular file or can't be copied.
        """
        place = self._trash_place(path)
        user_files.copy(path, self._without_links(place))
        return place

    def trash(self, path: Path) -> Path:
        """Move a user's file into the trash; return the path. Remove it only after a complete copy.

        Raises:
            OSError: As `copy_to_trash`, or if it can't be removed.
        """
        place = self._trash_place(path)
        user_files.move(path, self._without_links(place))
        return place

    def trashed(self, path: Path) -> Iterator[Path]:
        """Yield what the trash holds of the file that was at `path`, the newest first."""
        folder = self.state_folder() / _TRASH
        for name, _ in reversed(list(self.list_folder(folder))):
            place = folder / name / user_files.path_below(path)
            if (found := self.stat(place)) and found.kind is FileKind.FILE:
                yield place

    def restore(self, trashed: Path, path: Path) -> None:
        """Bring a file back from the trash to where nothing is; the trash keeps its copy.

        Raises:
            OSError: As `create_file`, or if the trash holds it no more.
        """
        user_files.copy(self._without_links(trashed), path, make=True)

    def empty_trash(self, before: float, to_keep: Collection[Path]) -> int:
        """Delete older contents of the trash for good; return how many places were emptied.

        Args:
            before: Seconds since the epoch.
            to_keep: The former paths of files that may still be restored: these files stay.

        Raises:
            OSError: If there can be no state folder.
        """
        return user_files.empty_trash(self.state_folder() / _TRASH, before, to_keep)

    async def start_process(
        self, argv: Sequence[str], *, env: Mapping[str, str] | None = None
    ) -> asyncio.subprocess.Process:
        """Start a program without a shell, its three streams piped, in its own session.

        The program has its own session so that a key pressed in the terminal does not reach it and
        its children can be ended together with it.

        Raises:
            OSError: If it can't be started.
        """
        return await asyncio.create_subprocess_exec(
            *argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env, start_new_session=True
        )

    async def run(self, program: Program) -> ProgramResult:
        """Run a program to its end, or to the end of its time; see `stet.system.program`.

        Raises:
            OSError: If it can't be started.
        """
        return await run_program(program)

    def _trash_place(self, path: Path) -> Path:
        folder = self.state_folder() / _TRASH
        folder.mkdir(mode=0o700, exist_ok=True)
        return user_files.trash_place(folder, path, self.now())

    def _without_links(self, trashed: Path) -> Path:
        """Return where a place in the trash truly is: links may lead to the state folder, it is the
        user's.
        """
        return self.real_path(trashed.parent) / trashed.name


def _made(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _read(descriptor: int, path: Path, limit: int) -> bytes:
    """Return at most `limit` bytes of an open file, and close the file.

    Raises:
        OSError: If it can't be read or is no regular file.
    """
    # Check the open file, so that no other file can replace it in between.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Is no regular file", str(path))
    with os.fdopen(descriptor, "rb") as file:
        # A kernel file without data at the moment returns None: do not wait for data.
        return file.read(limit) or b""


def _entries(
    folder: Path | int, status_of: Callable[[str], os.stat_result]
) -> Iterator[tuple[str, FileStat]]:
    """Yield names and stats in a folder, given by its path or descriptor; nothing where it can't be
    read.

    `status_of` is asked, as an entry's own stat has no number of links on Windows.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except (OSError, ValueError):
        return
    for name in names:
        with suppress(OSError):  # gone since
            yield name, _file_stat(status_of(name))


def _file_stat(status: os.stat_result) -> FileStat:
    """Return our view of the system's answer."""
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), FileKind.OTHER)
    return FileStat(kind, status.st_size, status.st_mtime, status.st_nlink)


def _resolved(path: Path) -> Path:
    """Return `path` with every link resolved.

    A link that becomes a folder just then is an error up to Python 3.12: it is looked at again.
    """
    for _ in range(_TRIES):
        with suppress(OSError):
            return Path(os.path.realpath(path))
    return path  # no program changes links that fast; the path is opened without links


def _spelling_on_disk(path: Path) -> Path:
    """Return `path` with each existing part as its folder lists it (case and Unicode form)."""
    spelled = Path(path.anchor)
    for part in path.relative_to(path.anchor).parts:
        spelled /= _listed_name(spelled, part)
    return spelled


def _listed_name(folder: Path, name: str) -> str:
    """Return how `folder` spells `name`; `name` itself where it holds nothing of that name."""
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


def is_alive(process_id: int) -> bool:
    """Return whether a process of that id exists; True where that can't be found out.

    On Windows signal 0 would end the process; there the end of standard input has to do.
    """
    if sys.platform == "win32":
        return True
    try:
        os.kill(process_id, 0)
    except PermissionError:
        return True
    except (OverflowError, ProcessLookupError):
        return False
    return True
