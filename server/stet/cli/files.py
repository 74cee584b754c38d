"""Files of the command line: parsing of `PATH[:L1-L2]`, saving of accepted texts, and installation
of configurations.

An accepted text is written whole or not at all, at the path where the file was opened: if a folder
has become a link since then, the link is not followed.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stet.cli.terminal import CliError
from stet.lsp.headless.editor_documents import UnsavedChange
from stet.lsp.headless.headless_client import HeadlessClient
from stet.system.no_follow import PinnedPath, pin_path
from stet.system.system import System


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
        raise CliError(f"{written!r}: line numbers start at 1, the smaller one first", code=2)
    return FileArgument(_existing(match["path"]), (first, last))


def workspace_folder(root: Path | None, file: FileArgument | None) -> Path:
    """Return the requested folder, or else the current folder.

    If the file is outside the current folder, return the file's folder.

    Raises:
        CliError: If the requested path is not a folder (a usage error).
    """
    if root is not None:
        if not root.is_dir():
            raise CliError(f"no such folder: {str(root)!r}", code=2)
        return root.absolute()
    if file is not None and not file.path.is_relative_to(current_folder()):
        return file.path.parent
    return current_folder()


def _existing(written: str) -> Path:
    path = Path(written).absolute()
    if not path.is_file():
        raise CliError(f"no such file: {written!r}", code=2)
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
                raise CliError(f"{path} has changed on disk since it was opened; not saved")
            if after is None:
                place.remove()
            else:
                _replace(place, after)
    except OSError as error:
        raise CliError(f"{path} can't be saved: {error.strerror or error}") from error
    except UnicodeEncodeError as error:
        raise CliError(f"{path} can't be saved: its text is not valid Unicode") from error


def save_all(client: HeadlessClient) -> tuple[list[Path], list[str]]:
    """Save the changed documents of a client.

    Returns:
        The files that were written, and a sentence for each file that can't be written.
    """
    saved, problems = [], []
    for change in client.documents.unsaved():
        try:
            save(change)
        except CliError as error:
            problems.append(str(error))
            continue
        client.saved(change)
        saved.append(change.path)
    return saved, problems


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


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One file of a configuration.

    Attributes:
        target: The path from which the editor loads the file.
        text: The whole content.
        has_user_content: Whether `text` contains the user's text, so that an existing file may be
            replaced.
    """

    target: Path
    text: str
    has_user_content: bool = False

    def differs(self) -> bool:
        """Tell whether the file is missing or has another text."""
        try:
            return self.target.read_text(encoding="utf-8") != self.text
        except (OSError, UnicodeDecodeError):
            return True


@dataclass(frozen=True, slots=True)
class InstalledFiles:
    """The files that `stet config --write` has written, and what they contained.

    A file that is as it was written may be replaced by a newer one; another is the user's.

    Attributes:
        path: The file that records them.
        hashes: The SHA-256 of each file's content as it was written, by its path.
    """

    path: Path
    hashes: dict[str, str]

    @classmethod
    def load(cls, system: System) -> "InstalledFiles":
        """Return the recorded files; none if the record is missing or damaged."""
        path = system.state_folder() / "installed.json"
        try:
            hashes = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            hashes = {}
        return cls(path, hashes if isinstance(hashes, dict) else {})

    def is_edited(self, file: ConfigFile) -> bool:
        """Tell whether writing a file would replace something that the user has changed."""
        path = file.target
        if file.has_user_content or not os.path.lexists(path) or not file.differs():
            return False
        return not path.is_file() or self.hashes.get(str(path)) != _hash(path)

    def is_unchanged(self, path: Path) -> bool:
        """Tell whether an existing file is as it was written."""
        return self.hashes.get(str(path)) == _hash(path)

    def write(self, files: Sequence[ConfigFile]) -> list[Path]:
        """Write the files that differ, record all, and return the written paths.

        Raises:
            OSError: If a file can't be written.
        """
        written = []
        for file in files:
            if file.differs():
                file.target.parent.mkdir(parents=True, exist_ok=True)
                replace_text(file.target.resolve(), file.text)
                written.append(file.target)
            if not file.has_user_content:
                self.hashes[str(file.target)] = _hash(file.target)
        replace_text(self.path, json.dumps(self.hashes, indent=1))
        return written

    def remove_obsolete(self, folder: Path, files: Sequence[ConfigFile]) -> None:
        """Remove the recorded files below a folder that are unchanged and not among `files`.

        Raises:
            OSError: If a file can't be removed.
        """
        current = {str(file.target) for file in files}
        for name in self.hashes.keys() - current:
            path = Path(name)
            if folder in path.parents and path.is_file() and _hash(path) == self.hashes[name]:
                path.unlink()
                del self.hashes[name]
        replace_text(self.path, json.dumps(self.hashes, indent=1))


def replace_text(path: Path, text: str) -> None:
    """Write a text file as a whole: a user's file is never half written."""
    unfinished = path.with_name(f"{path.name}.stet-new")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def keep_backup(path: Path) -> Path:
    """Copy a file to a backup beside it and return the backup's path.

    Raises:
        OSError: If the copy can't be written.
    """
    backup = free_backup(path)
    shutil.copy2(path, backup)
    return backup


def free_backup(path: Path) -> Path:
    """Return a path for a backup of `path`, beside it, that nothing has yet."""
    backup, number = path.with_name(f"{path.name}.bak"), 1
    while os.path.lexists(backup):
        number += 1
        backup = path.with_name(f"{path.name}.bak{number}")
    return backup
