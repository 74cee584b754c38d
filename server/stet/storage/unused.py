"""Removal of unused state folders, whose workspaces no longer exist.

Each set of roots has its own folder, named by a hash. The roots are written to a file beside
the database whenever a server opens the database, so that the folder's purpose is known later.
"""

import json
import logging
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from stet.system.file_lock import FileLock

log = logging.getLogger(__name__)

ROOTS = "roots.json"

_FOLDER = re.compile("[0-9a-f]{20}")
_FILE = re.compile(
    r"state\.db(-wal|-shm|-journal)?|state\.damaged-[0-9]+\.db(-wal|-shm)?"
    r"|opening\.lock|roots\.json(\.[0-9]+\.new)?"
)
_OWNERS = "owners"
_OWNER = re.compile(r"[0-9a-z]{1,32}\.lock")
_MAX_BYTES = 1_000_000


def note_roots(folder: Path, roots: Sequence[Path]) -> None:
    """Write the roots of a state folder to a file; the file's time records the last use.

    Args:
        folder: The folder with the database; if it does not exist, nothing is written.
        roots: The folders of the workspace.

    Raises:
        OSError: If the file can't be written.
    """
    if not folder.is_dir():
        return
    new = folder / f"{ROOTS}.{os.getpid()}.new"
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(json.dumps([str(root) for root in roots]).encode())
    new.replace(folder / ROOTS)


def drop_unused(workspaces: Path, before: float) -> tuple[Path, ...]:
    """Remove the state folders with no existing root and no use for long; return them.

    A root that can't be read counts as existing. A folder stays if it contains a file that Stet did
    not write, or is in use; no link is followed.

    Args:
        workspaces: The folder of all state folders.
        before: The latest time of the last use, in seconds since the epoch.
    """
    dropped = []
    for folder in _folders(workspaces):
        try:
            if _is_unused(folder, before) and _remove(folder):
                dropped.append(folder)
        except OSError as error:
            log.warning("the unused state folder %s stays: %s", folder, error)
    return tuple(dropped)


def _folders(workspaces: Path) -> list[Path]:
    try:
        entries = [] if workspaces.is_symlink() else sorted(workspaces.iterdir())
    except OSError:
        return []  # none yet
    named = (entry for entry in entries if _FOLDER.fullmatch(entry.name))
    return [folder for folder in named if folder.is_dir() and not folder.is_symlink()]


def _is_unused(folder: Path, before: float) -> bool:
    files = _state_files(folder)
    if files is None or folder / ROOTS not in files:
        return False
    if max(file.lstat().st_mtime for file in files) >= before:
        return False
    roots = _roots_of(folder / ROOTS)
    return bool(roots) and all(map(_is_gone, roots))


def _state_files(folder: Path) -> list[Path] | None:
    """Return all files of a state folder; None if Stet has not created one of them."""
    owners = folder / _OWNERS
    files = [file for file in folder.iterdir() if file != owners]
    if os.path.lexists(owners):
        if owners.is_symlink() or not owners.is_dir():
            return None
        files += owners.iterdir()
    are_ours = all(
        (_OWNER if file.parent == owners else _FILE).fullmatch(file.name)
        and stat.S_ISREG(file.lstat().st_mode)
        for file in files
    )
    return files if are_ours else None


def _roots_of(file: Path) -> list[Path]:
    """Return the roots in the file; an empty list if the file is invalid."""
    with file.open("rb") as opened:
        data = opened.read(_MAX_BYTES)
    try:
        roots = json.loads(data)
    except ValueError:
        return []
    if not isinstance(roots, list) or not all(isinstance(root, str) for root in roots):
        return []
    paths = [Path(root) for root in roots]
    return paths if all(path.is_absolute() for path in paths) else []


def _is_gone(root: Path) -> bool:
    try:
        root.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        pass  # no permission, a disk error, or a NUL in the name
    return False


def _remove(folder: Path) -> bool:
    """Remove a state folder, file by file; False if a server has it open.

    Raises:
        OSError: If the folder can't be removed; files of a server that opens it meanwhile stay.
    """
    opening = FileLock.acquire(folder / "opening.lock")
    if opening is None:
        return False
    try:
        files = _state_files(folder)
        if files is None or not all(map(_is_free, files)):
            return False
        for file in files:
            if file.name != "opening.lock":
                file.unlink()
    finally:
        opening.release()
    (folder / "opening.lock").unlink(missing_ok=True)
    if (folder / _OWNERS).is_dir():
        (folder / _OWNERS).rmdir()
    folder.rmdir()
    return True


def _is_free(file: Path) -> bool:
    """Return whether a file is not the lock of a server that is still running."""
    if file.parent.name != _OWNERS:
        return True
    lock = FileLock.acquire(file)
    if lock is not None:
        lock.release()
    return lock is not None
