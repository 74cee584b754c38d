"""Files of the command line: parsing of `PATH[:L1-L2]`, and saving of accepted texts.

An accepted text is written whole or not at all, at the path where the file was opened: if a folder
has become a link since then, the link is not followed.
"""

import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stet.cli.terminal import CliError
from stet.lsp.headless.editor_documents import UnsavedChange
from stet.system.no_follow import PinnedPath, pin_path


def current_folder() -> Path:
    """Return the folder in which the command was started."""
    return Path().absolute()


_LINES = re.compile(r"(?P<path>.+):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class FileArgument:
    """A file and, perhaps, some of its lines.

    Attributes:
        path: The absolute path; links are not resolved.
        lines: The first and last line, 1-based, both included; None for the whole file.
    """

    path: Path
    lines: tuple[int, int] | None = None


def parse_file_argument(written: str) -> FileArgument:
    """Parse `PATH`, `PATH:L` or `PATH:L1-L2`; an existing file of the full name has priority.

    Raises:
        CliError: If there is no such file, or the lines are out of order (a usage error).
    """
    match = _LINES.fullmatch(written)
    if match is None or Path(written).is_file():
        return FileArgument(_existing(written))
    first = int(match["first"])
    last = int(match["last"] or first)
    if not 1 <= first <= last:
        raise CliError(f"{written!r}: lines count from 1, the first before the last", code=2)
    return FileArgument(_existing(match["path"]), (first, last))


def workspace_folder(root: Path | None, file: FileArgument | None) -> Path:
    """Return the requested folder, or else the current folder.

    If the file is outside the current folder, return the file's folder.

    Raises:
        CliError: If the requested path is not a folder (a usage error).
    """
    if root is not None:
        if not root.is_dir():
            raise CliError(f"there is no folder {str(root)!r}", code=2)
        return root.absolute()
    if file is not None and not file.path.is_relative_to(current_folder()):
        return file.path.parent
    return current_folder()


def _existing(written: str) -> Path:
    path = Path(written).absolute()
    if not path.is_file():
        raise CliError(f"there is no file {written!r}", code=2)
    return path


def save(change: UnsavedChange) -> None:
    """Write the accepted text of one file, or delete the file.

    Raises:
        CliError: If the file has changed since it was opened, or can't be written.
    """
    path = change.real or Path(os.path.realpath(change.path))  # the link itself is not replaced
    try:
        before = None if change.before is None else change.before.encode()
        after = None if change.after is None else change.after.encode()
        with pin_path(path, make=after is not None) as place:
            if _read(place) != before:
                raise CliError(f"{path} has changed since it was opened: nothing was written to it")
            if after is None:
                place.remove()
            else:
                _replace(place, after)
    except OSError as error:
        raise CliError(f"{path} can't be saved: {error.strerror or error}") from error
    except UnicodeEncodeError as error:
        raise CliError(f"{path} can't be saved: its text is no valid Unicode") from error


def _read(place: PinnedPath) -> bytes | None:
    """Return the content of the file; None if there is no file.

    Raises:
        OSError: If the file can't be read.
    """
    with suppress(FileNotFoundError), os.fdopen(place.open(), "rb") as file:
        return file.read()
    return None


def _replace(place: PinnedPath, content: bytes) -> None:
    """Replace the file atomically, with the permissions of the old file.

    Raises:
        OSError: If the file can't be replaced; the old file is then unchanged.
    """
    mode = None
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(place.stat().st_mode)
    new = place.sibling(f".{place.path.name[:60]}.{secrets.token_hex(6)}")
    descriptor = new.open_new(0o666)
    with new.remove_on_failure():
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        if mode is not None:
            os.chmod(new.name, mode, dir_fd=new.folder)
        new.replace(place)
