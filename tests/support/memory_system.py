r"""A simulated machine in memory: a `System` that never calls the real one.

    system = MemorySystem({"/ws/a.py": "x = 1\n"}, links={"/ws/out": "/etc"})
    system.time = 1_700_000_100.0
    system.put("/ws/a.py", "x = 2\n")      # a change by another program

Stet changes this disk only by the operations on a user's files that need an approval; `add_file`
and `remove` are for the test.
"""

import asyncio
import errno
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from stet.system.program import Program, ProgramResult
from stet.system.system import FileKind, FileStat, System

START = 1_700_000_000.0
"""The initial time: 2023-11-14T22:13:20Z."""
_TRASH = Path("/state/trash")
_MAX_LINKS = 40
"""The number of links that Linux follows before it reports a loop."""


class MemorySystem(System):
    """Files, folders and links in a dictionary, and a clock that the test moves.

    Attributes:
        time: The result of `now`, seconds since the epoch; `monotonic` counts from the start.
        environment: The result of `environ`.
        case_sensitive: False for a disk like macOS's, on which `A.py` opens `a.py`.
        programs: The programs that `run` can run, by name.
    """

    def __init__(
        self,
        files: Mapping[str, str | bytes] | None = None,
        *,
        links: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
        time: float = START,
        case_sensitive: bool = True,
    ) -> None:
        """Fill the disk; a name that ends with `/` is an empty folder, text is encoded as UTF-8."""
        super().__init__()
        self.time = time
        self.environment: dict[str, str] = dict(environment or {})
        self.case_sensitive = case_sensitive
        self.programs: dict[str, Callable[[Program], Awaitable[ProgramResult]]] = {}
        self._start = time
        self._entries: dict[Path, bytes | Path | None] = {}  # a file, a link's target, a folder
        self._mtimes: dict[Path, float] = {}
        self._spelling: dict[str, Path] = {}
        for name, content in (files or {}).items():
            self.add_file(name, content)
        for name, target in (links or {}).items():
            self._insert(Path(name), Path(target))

    def add_file(
        self, path: str | Path, content: str | bytes, *, mtime: float | None = None
    ) -> None:
        """Write a file as another program would; `mtime` is by default the current time."""
        if isinstance(path, str) and path.endswith("/"):
            self._insert(Path(path), None, mtime)
            return
        data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        self._insert(Path(path), data, mtime)

    def add_link(self, path: str | Path, target: str | Path) -> None:
        """Make a symbolic link; a relative `target` is relative to the link's folder."""
        self._insert(Path(path), Path(target))

    def remove(self, path: str | Path) -> None:
        """Remove a file, a link or a folder with its contents."""
        gone = Path(path)
        for entry in [entry for entry in self._entries if entry == gone or gone in entry.parents]:
            del self._entries[entry]
            del self._mtimes[entry]
            self._spelling.pop(self._key(entry), None)

    def stat(self, path: Path) -> FileStat | None:
        """Return the stat of `path`, without following links; None if nothing exists there."""
        entry = self._spelled(self.real_path(path.parent) / path.name)
        if entry not in self._entries:
            return None
        content = self._entries[entry]
        mtime = self._mtimes[entry]
        if isinstance(content, bytes):
            return FileStat(FileKind.FILE, len(content), mtime)
        return FileStat(FileKind.FOLDER if content is None else FileKind.LINK, 0, mtime)

    def read_bytes(self, path: Path, limit: int) -> bytes:
        """Return at most `limit` bytes of a regular file.

        Raises:
            OSError: If the file does not exist, or is not a regular file.
        """
        real = self.real_path(path)
        content = self._entries.get(real)
        if isinstance(content, bytes):
            return content[:limit]
        if real in self._entries:
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        raise FileNotFoundError(errno.ENOENT, "No such file", str(path))

    def read_real(self, path: Path, limit: int) -> bytes:
        """Read like `read_bytes`, but refuse a path with links.

        Raises:
            OSError: As `read_bytes`, or if a part of the path is a link.
        """
        if self.real_path(path) != path:
            raise OSError(errno.ELOOP, "A part of the path is a link", str(path))
        return self.read_bytes(path, limit)

    def state_folder(self) -> Path:
        """Return the folder for Stet's own state: `/state`."""
        folder = Path("/state")
        if folder not in self._entries:
            self._insert(folder, None)
        return folder

    def cache_folder(self) -> Path:
        """Return the folder for data that Stet can recreate: `/cache`."""
        folder = Path("/cache")
        if folder not in self._entries:
            self._insert(folder, None)
        return folder

    def runtime_folder(self) -> Path:
        """Return no folder: there are no sockets on this machine."""
        raise FileNotFoundError(errno.ENOENT, "No such folder", "/run")

    def write_generated(self, name: str, text: str) -> Path:
        """Write one of Stet's own documents; return its path."""
        path = self.state_folder() / name
        self.add_file(path, text)
        return path

    def create_file(self, path: Path, text: str) -> None:
        """Create a user's file that does not exist yet, and the folders above it.

        Raises:
            OSError: If `path` exists, or a folder above it is a link or no folder.
        """
        self._insert_new(path, text.encode("utf-8", "surrogatepass"), self.time)

    def move_file(self, path: Path, new: Path) -> None:
        """Rename a user's file to a name that does not exist.

        Raises:
            OSError: If `path` is ot a regular file, or `new` exists.
        """
        data, mtime = self._regular_content(path), self._mtimes[path]
        same_entry = not self.case_sensitive and self._key(path) == self._key(new)
        if same_entry:
            self.remove(path)
        self._insert_new(new, data, mtime)
        if not same_entry:
            self.remove(path)

    def copy_to_trash(self, path: Path) -> Path:
        """Copy a user's file into the trash; return the path of the copy.

        Raises:
            OSError: If `path` is ot a regular file.
        """
        data = self._regular_content(path)
        stamp = _TRASH / f"{self.time:.0f}"
        n = sum(1 for name, _ in self.list_folder(_TRASH) if name.startswith(stamp.name))
        place = _TRASH / f"{stamp.name}-{n:04}" / path.relative_to(path.anchor)
        self._insert_new(place, data, self._mtimes[path])
        return place

    def trash(self, path: Path) -> Path:
        """Move a user's file into the trash; return the new path.

        Raises:
            OSError: If `path` is ot a regular file.
        """
        place = self.copy_to_trash(path)
        self.remove(path)
        return place

    def trashed(self, path: Path) -> Iterator[Path]:
        """Yield the trashed versions of the file that was at `path`, the newest first."""
        for name, _ in reversed(list(self.list_folder(_TRASH))):
            place = _TRASH / name / path.relative_to(path.anchor)
            if place in self._entries:
                yield place

    def restore(self, trashed: Path, path: Path) -> None:
        """Move a file from the trash to a path that does not exist.

        Raises:
            OSError: If `path` exists, or the trash no longer has the file.
        """
        self._insert_new(path, self._regular_content(trashed), self._mtimes[trashed])

    def empty_trash(self, before: float, to_keep: Collection[Path]) -> int:
        """Delete older contents of the trash for good; return how many folders were emptied."""
        n_removed = 0
        for name, _ in list(self.list_folder(_TRASH)):
            place = _TRASH / name
            wanted = any(place / path.relative_to(path.anchor) in self._entries for path in to_keep)
            if float(name.partition("-")[0]) < before and not wanted:
                self.remove(place)
                n_removed += 1
        return n_removed

    def list_folder(self, path: Path) -> Iterator[tuple[str, FileStat]]:
        """Return names and stats in a folder, sorted by name; nothing if the folder is missing."""
        folder = self.real_path(path)
        for name in sorted(entry.name for entry in self._entries if entry.parent == folder):
            found = self.stat(folder / name) if name else None
            if found is not None:
                yield name, found

    def list_real(self, path: Path) -> Iterator[tuple[str, FileStat]]:
        """List like `list_folder` a path without links; list nothing if a link has appeared."""
        return self.list_folder(path) if self.real_path(path) == path else iter(())

    def real_path(self, path: Path) -> Path:
        """Return `path` with every link resolved; a missing part stays as it is."""
        real = Path(path.anchor)
        todo = list(reversed(path.relative_to(path.anchor).parts))
        n_links = 0
        while todo:
            part = todo.pop()
            if part == "..":
                real = real.parent
                continue
            step = self._spelled(real / part)
            target = self._entries.get(step)
            if isinstance(target, Path) and n_links < _MAX_LINKS:
                n_links += 1
                real = Path(target.anchor) if target.is_absolute() else real
                todo.extend(reversed(target.relative_to(target.anchor).parts))
            else:
                real = step
        return real

    def now(self) -> float:
        """Return the simulated time, in seconds since the epoch."""
        return self.time

    def monotonic(self) -> float:
        """Return the seconds since the start."""
        return self.time - self._start

    def environ(self) -> Mapping[str, str]:
        """Return `environment`, read-only."""
        return MappingProxyType(self.environment)

    async def start_process(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
    ) -> asyncio.subprocess.Process:
        """Fail, as there are no programs to start.

        Raises:
            FileNotFoundError: Always.
        """
        raise FileNotFoundError(errno.ENOENT, "There are no programs in a MemorySystem", argv[0])

    async def run(self, program: Program) -> ProgramResult:
        """Run one of `programs`, selected by the first element of `argv`.

        Raises:
            FileNotFoundError: If there is no program of that name.
        """
        if (known := self.programs.get(program.argv[0])) is None:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", program.argv[0])
        return await known(program)

    def _insert(self, path: Path, content: bytes | Path | None, mtime: float | None = None) -> None:
        """Add an entry and the folders above it."""
        if not path.is_absolute():
            raise ValueError(f"A path in a MemorySystem is absolute, not {str(path)!r}")
        for folder in reversed(path.parents):
            if folder not in self._entries:
                self._set(folder, None, self.time)
        self._set(self._spelled(path), content, self.time if mtime is None else mtime)

    def _regular_content(self, path: Path) -> bytes:
        """Return the bytes of a file that is not a link and has no link in its path."""
        found = self.stat(path)
        if found is None:
            raise FileNotFoundError(errno.ENOENT, "No such file", str(path))
        if found.kind is not FileKind.FILE:
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        self._check_no_link(path.parent)
        return self.read_bytes(path, found.size)

    def _insert_new(self, path: Path, data: bytes, mtime: float) -> None:
        """Add a file at a path that does not exist and has no link."""
        if self.stat(path) is not None:
            raise FileExistsError(errno.EEXIST, "File exists", str(path))
        self._check_no_link(path.parent)
        if any(isinstance(self._entries.get(folder), bytes) for folder in path.parents):
            raise NotADirectoryError(errno.ENOTDIR, "Not a directory", str(path))
        self._insert(path, data, mtime)

    def _check_no_link(self, folder: Path) -> None:
        if self.real_path(folder) != folder:
            raise OSError(errno.ELOOP, "A parent folder is a symbolic link", str(folder))

    def _set(self, path: Path, content: bytes | Path | None, mtime: float) -> None:
        self._entries[path] = content
        self._mtimes[path] = mtime
        self._spelling[self._key(path)] = path

    def _spelled(self, path: Path) -> Path:
        """Return `path` as it was first spelled, if this disk folds case."""
        return path if self.case_sensitive else self._spelling.get(self._key(path), path)

    def _key(self, path: Path) -> str:
        return str(path) if self.case_sensitive else str(path).casefold()
