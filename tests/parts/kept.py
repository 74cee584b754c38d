"""The cache that parts lie in: what is there is whole, and two test runs don't make it at once."""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path


class MissingPart(Exception):
    """A part can't be had on this machine; the message says why, and what would help."""


def cache() -> Path:
    """The folder of all parts; made if it is missing."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base, "stet-dev", "parts")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def kept(name: str, make: Callable[[Path], None]) -> Path:
    """The folder of a part, made by `make` in an empty folder unless it is already there.

    Args:
        name: The part and all that decides what is in it, above all its version.
        make: Fills the folder it is given; the folder moves to its name when this returns, so
            nothing in it may hold its own path.

    Raises:
        MissingPart: From `make`; nothing is left over.
    """
    folder, lock = cache() / name, cache() / f"{name}.lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if folder.is_dir():
            return folder
        unfinished = folder.with_name(f"{name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        try:
            make(unfinished)
            unfinished.rename(folder)
        finally:
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(unfinished)
    return folder
