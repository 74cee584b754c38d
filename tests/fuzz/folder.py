"""The editor's folder on the disk: saved files and the allowed changes to them."""

import os
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from tests.fuzz.reference import Violation

MOST_READ = 8
"""Texts remembered per file: an edit of a closed file may refer to a text that the server read just
before another was saved."""


class Folder:
    """The workspace folder.

    Attributes:
        root: The path of the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._saved: dict[Path, bytes] = {}
        self._held: dict[Path, deque[str]] = {}
        self._free: set[Path] = set()

    def path_of(self, uri: str) -> Path | None:
        """Return the path of a document in the workspace."""
        path = place_of(uri)
        return path if path is not None and self.root in path.parents else None

    def uri_of(self, name: str) -> str:
        """Return the URI of a name in the workspace."""
        return "file://" + quote(str(self.root / name), errors="surrogateescape")

    def write(self, path: Path, data: bytes) -> None:
        """Write a file, which the server must then leave unchanged."""
        path.write_bytes(data)
        self._saved[path] = data
        self._held.setdefault(path, deque(maxlen=MOST_READ)).append(decoded(data))

    def texts_of(self, path: Path) -> list[str]:
        """Return the last texts of a file, including the current one."""
        now = [decoded(path.read_bytes())] if path.is_file() else []
        return [*self._held.get(path, ()), *now]

    def operate(self, kind: str, old: Path, new: Path) -> bool:
        """Create, rename or delete a file for the server; return whether this was done."""
        self._free.update((old, new))
        if not _operated(kind, old, new):
            return False
        if kind == "rename":
            self._held[new] = self._held.pop(old, deque(maxlen=MOST_READ))
        return True

    def check(self, allowed: Iterable[Path]) -> None:
        """Check that only the `allowed` files differ from what was saved."""
        self._free.update(allowed)
        there = {path: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}
        for path in there.keys() | self._saved.keys():
            if path not in self._free and there.get(path) != self._saved.get(path):
                now, saved = (repr(one.get(path))[:200] for one in (there, self._saved))
                raise Violation(f"{path} has changed on the disk: it is {now}, not {saved}")


def place_of(uri: str) -> Path | None:
    """Return the path of a file's URI."""
    if not uri.startswith("file:///"):
        return None
    return Path(
        os.fsdecode(unquote_to_bytes(uri.removeprefix("file://").encode("utf-8", "replace")))
    )


def decoded(data: bytes) -> str:
    """Decode the text of a file."""
    return data.decode("utf-8", "replace")


def _operated(kind: str, old: Path, new: Path) -> bool:
    """Create, rename or delete a file; never overwrite another file."""
    if kind == "create" and not old.exists() and old.parent.is_dir():
        old.write_bytes(b"")
    elif kind == "rename" and old.exists() and not new.exists() and new.parent.is_dir():
        old.rename(new)
    elif kind == "delete" and old.exists():
        old.unlink()
    else:
        return False
    return True
