"""Where a file of the user's is or is to be: a name in a folder that is held open.

Whoever turns a folder into a link between two steps would have the second one done elsewhere. Here the
folder is opened once, through no link, and each step is done in that very folder, wherever its path
leads by then. Windows has no such thing: there the path is looked at, and then used.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from stet.system.no_follow import HAS_FOLDER_DESCRIPTORS, open_folder

_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NEVER_WAIT = getattr(os, "O_NONBLOCK", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _BINARY
_READ = os.O_RDONLY | _NO_LINK | _NEVER_WAIT | _BINARY


class PinnedPath(NamedTuple):
    """A name in an open folder. All methods raise OSError as the system's calls do.

    Attributes:
        path: What it was called; only told, where the folder is open.
        name: What the system is to be asked for, together with `folder`.
        folder: The folder's descriptor; None where there are none, and `name` is the whole path.
    """

    path: Path
    name: str
    folder: int | None

    def stat(self) -> os.stat_result:
        """Return the status of what is there, without following a link."""
        return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)

    def check_regular(self) -> None:
        """Make sure that a regular file is there.

        Raises:
            OSError: If none is.
        """
        check_regular(self.stat(), self.path)

    def open_new(self, mode: int) -> int:
        """Return a descriptor to write a file that this call creates."""
        return os.open(self.name, _NEW, mode, dir_fd=self.folder)

    def open(self) -> int:
        """Return a descriptor to read what is there."""
        return os.open(self.name, _READ, dir_fd=self.folder)

    def remove(self) -> None:
        """Take the file away."""
        os.unlink(self.name, dir_fd=self.folder)

    def rename(self, new: "PinnedPath") -> None:
        """Give what is there another name; on Windows only where nothing is."""
        os.rename(self.name, new.name, src_dir_fd=self.folder, dst_dir_fd=new.folder)

    def replace(self, new: "PinnedPath") -> None:
        """Put what is there in the place of another, whatever that holds."""
        os.replace(self.name, new.name, src_dir_fd=self.folder, dst_dir_fd=new.folder)

    def sibling(self, name: str) -> "PinnedPath":
        """Another name in the same folder."""
        path = self.path.with_name(name)
        return PinnedPath(path, str(path) if self.folder is None else name, self.folder)

    def link(self, new: "PinnedPath") -> None:
        """Give what is there a second name, where nothing is."""
        os.link(
            self.name,
            new.name,
            src_dir_fd=self.folder,
            dst_dir_fd=new.folder,
            follow_symlinks=False,
        )

    def list_names(self) -> set[str]:
        """Return the names in the folder."""
        if self.folder is None:
            return {entry.name for entry in self.path.parent.iterdir()}
        # The descriptor only stands for the folder, and can't be read by itself.
        readable = os.open(".", os.O_RDONLY, dir_fd=self.folder)
        try:
            with os.scandir(readable) as entries:
                return {entry.name for entry in entries}
        finally:
            os.close(readable)

    @contextmanager
    def remove_on_failure(self) -> Iterator[None]:
        """Take away the file that was just made if what follows fails; an error names it then."""
        done = False
        try:
            yield
            done = True
        except OSError as error:
            error.filename = error.filename or str(self.path)  # a write knows no name
            raise
        finally:
            if not done:
                with suppress(OSError):
                    self.remove()


@contextmanager
def pin_path(path: Path, *, make: bool = False) -> Iterator[PinnedPath]:
    """Yield the place at `path`, which is absolute; with `make` the folders above are created.

    Raises:
        OSError: If a folder above is a link, or can't be opened or made.
    """
    folder = open_folder(path.parent, make=make) if HAS_FOLDER_DESCRIPTORS else None
    try:
        if folder is None:
            _check_folders(path.parent, make=make)
        yield PinnedPath(path, str(path) if folder is None else path.name, folder)
    except OSError as error:
        # People are told all of it.
        if error.filename == path.name:
            error.filename = str(path)
        if error.filename2 == path.name:
            error.filename2 = str(path)
        raise
    finally:
        if folder is not None:
            os.close(folder)


def check_regular(about: os.stat_result, path: Path) -> None:
    """Make sure that what was looked at, at `path`, is a regular file.

    Raises:
        OSError: If it is none.
    """
    if not stat.S_ISREG(about.st_mode):
        raise OSError(errno.EINVAL, "Is no regular file", str(path))


def _check_folders(folder: Path, *, make: bool) -> None:
    """See that no link leads to `folder`, where it can't be held open.

    Raises:
        OSError: As `pin_path`.
    """
    _check_no_link(folder)
    if make:
        folder.mkdir(parents=True, exist_ok=True)
        _check_no_link(folder)


def _check_no_link(folder: Path) -> None:
    if Path(os.path.realpath(folder)) != folder:
        raise OSError(errno.ELOOP, "A folder above it is a link", str(folder))
