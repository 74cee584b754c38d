"""The save of an editor without a screen: accepted text to the disk, whole or not at all."""

import os
import stat
import tempfile
from pathlib import Path

from stet.cli.terminal import CliError
from stet.lsp.headless.documents import Unsaved


def save(change: Unsaved) -> None:
    """Write what was accepted for one file, or delete it.

    Raises:
        CliError: If the file has changed since it was opened, or can't be written.
    """
    path = change.path.resolve()  # a link stays one
    try:
        before = path.read_bytes() if path.exists() else None
        if before != (None if change.before is None else change.before.encode()):
            raise CliError(f"{path} has changed since it was opened: nothing was written to it")
        if change.after is None:
            path.unlink()
        else:
            _replace(path, change.after.encode())
    except OSError as error:
        raise CliError(f"{path} can't be saved: {error.strerror or error}") from error
    except UnicodeEncodeError as error:
        raise CliError(f"{path} can't be saved: its text is no valid Unicode") from error


def _replace(path: Path, content: bytes) -> None:
    """Put a new file in the place of the old one; a reader sees one or the other.

    Raises:
        OSError: If it can't be done; the old file is untouched then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    new = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        new.chmod(mode)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def _umask() -> int:
    """This process's file mask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
