"""The shadow folder of a session: copies of files of the workspace that an agent reads and edits.

The folder is in the runtime folder, which only the user may read. It has the layout of the
workspace. The agent may put anything into it, so no link in it is followed.
"""

import asyncio
from contextlib import suppress
from pathlib import Path

from stet.review.policy.rules import MAX_TEXT
from stet.system.no_follow import pin_path
from stet.system.system import System

MAX_BYTES = 4 * MAX_TEXT
"""The most bytes of a copy that are read: no larger text can be proposed."""


class ShadowUnreadable(Exception):
    """A copy is no text, too large or a link; the message is for the agent."""


class ShadowFolder:
    """The copies of one session.

    Args:
        system: The access to the disk.
        folder: The path of the folder; created with the first copy.
    """

    def __init__(self, system: System, folder: Path) -> None:
        self._system = system
        self._folder = folder

    def path_of(self, name: str) -> Path:
        """Return the path of the copy of a file, by the name that models use for the file."""
        return self._folder.joinpath(*name.split("/"))

    def name_of(self, path: Path) -> str | None:
        """Return the name of the file of which `path` is the copy, None outside of the folder."""
        if ".." in path.parts or not path.is_relative_to(self._folder) or path == self._folder:
            return None
        return path.relative_to(self._folder).as_posix()

    def is_of_another(self, path: Path) -> bool:
        """Return whether `path` is in the shadow folder of another session, of any server."""
        is_copy = path.is_relative_to(self._folder.parents[1])
        return is_copy and not path.is_relative_to(self._folder)

    async def read(self, path: Path) -> str | None:
        """Return the text of a copy with its line ends, or None if there is no file.

        Raises:
            ShadowUnreadable: If the file is no regular file, too large, or no UTF-8 text.
        """
        return await asyncio.to_thread(self._read, path)

    async def write(self, path: Path, text: str) -> None:
        """Write a copy; replace the file or the link at its path.

        Raises:
            OSError: If the copy can't be written, or a folder above it is a link.
        """
        await asyncio.to_thread(self._write, path, text)

    async def remove(self, path: Path) -> None:
        """Remove a copy, if there is one."""
        await asyncio.to_thread(self._remove, path)

    async def clear(self) -> None:
        """Remove the folder with all that is in it."""
        await asyncio.to_thread(self._clear)

    def _read(self, path: Path) -> str | None:
        if self._system.stat(path) is None:
            return None
        try:
            data = self._system.read_real(path, MAX_BYTES + 1)
        except OSError as error:
            raise ShadowUnreadable(f"{path} can't be read: {error.strerror or error}") from error
        if len(data) > MAX_BYTES:
            raise ShadowUnreadable(f"{path} has more than {MAX_BYTES} bytes")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise ShadowUnreadable(f"{path} is not UTF-8 text") from error

    def _write(self, path: Path, text: str) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._remove(path)
        self._system.create_file(path, text)

    def _remove(self, path: Path) -> None:
        with suppress(FileNotFoundError, NotADirectoryError), pin_path(path) as place:
            place.remove()

    def _clear(self) -> None:
        import shutil  # late: only the end of a session needs it

        shutil.rmtree(self._folder, ignore_errors=True)
