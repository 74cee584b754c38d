"""The save of an editor without a screen: accepted text to the disk, whole or not at all.

It goes where the file was when it was opened: a folder that has become a link since is not followed.
"""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from stet.cli.terminal import CliError
from stet.lsp.headless.editor_documents import UnsavedChange
from stet.system.pinned_path import PinnedPath, pin_path


def save(change: UnsavedChange) -> None:
    """Write what was accepted for one file, or delete it.

    Raises:
        CliError: If the file has changed since it was opened, or can't be written.
    """
    path = change.real or Path(os.path.realpath(change.path))  # a link stays one
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
    """Return the content of the file, or None if there is no file.

    Raises:
        OSError: If it can't be read.
    """
    try:
        descriptor = place.open()
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _replace(place: PinnedPath, content: bytes) -> None:
    """Put a new file in the place of the old one; a reader sees one or the other.

    Raises:
        OSError: If it can't be done; the old file is untouched then.
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
