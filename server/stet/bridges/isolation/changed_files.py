"""Which files an isolated program has changed since the last scan of its layers."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from stet.bridges.isolation.workspace_layers import LayeredFolder
from stet.review.policy.rules import MAX_TEXT
from stet.system.overlay_changes import (
    MAX_DEPTH,
    MAX_ENTRIES,
    EntryKind,
    Parts,
    Skips,
    TooManyEntries,
    UpperEntry,
    list_changes,
)
from stet.system.system import FileKind
from stet.workspace.names import PathRefused
from stet.workspace.snapshot import Snapshot

MAX_BYTES = 4 * MAX_TEXT
"""The most bytes of a file that are read: no larger text can be proposed."""
MAX_DROPPED = 1000
"""The most dropped entries that are counted."""


class ChangedFile(NamedTuple):
    """A file that a program has changed.

    Attributes:
        path: The path of the file in the workspace folder as the editor spells it.
        text: What the program has written; None if it has deleted the file.
    """

    path: Path
    text: str | None


class ChangedFiles:
    """The changes in the layers of one session. All methods block on the disk.

    Attributes:
        dropped: The names of what is ignored or hidden, and of special files.
        faults: Sentences about files that can't be proposed.
    """

    def __init__(self, folders: Sequence[LayeredFolder]) -> None:
        """Have seen nothing of the layers of `folders`."""
        self.dropped: dict[str, None] = {}
        self.faults: dict[str, None] = {}
        self._folders = folders
        self._previous: dict[Path, UpperEntry] = {}
        self._done: dict[Path, UpperEntry] = {}
        self._written: set[Path] = set()

    def scan(self, snapshot: Snapshot, *, is_end: bool) -> list[ChangedFile]:
        """Return the files that have changed since they were last returned.

        Args:
            snapshot: The workspace.
            is_end: Whether the program has ended. Otherwise a file is returned when it is the same
                in two scans: the program may be writing it.
        """
        found = self._scan(snapshot)
        previous, self._previous = self._previous, found
        changes: dict[Path, ChangedFile] = {}
        for path in self._written - found.keys():  # created by the program, and removed again
            self._written.discard(path)
            changes[path] = ChangedFile(path, None)
        for path, entry in found.items():
            if self._done.get(path) == entry or not (is_end or previous.get(path) == entry):
                continue
            self._done[path] = entry
            if entry.kind is not EntryKind.FILE:
                for gone in self._gone_files(snapshot, path):
                    if gone == path or gone not in found:
                        changes[gone] = ChangedFile(gone, None)
            elif (text := self._read(snapshot, path, entry)) is not None:
                self._written.add(path)
                changes[path] = ChangedFile(path, text)
        self._written -= {path for path, change in changes.items() if change.text is None}
        return list(changes.values())

    def scan_again(self, path: Path) -> None:
        """Return a file once more by the next scan."""
        self._done.pop(path, None)

    def _scan(self, snapshot: Snapshot) -> dict[Path, UpperEntry]:
        """Return the entries of the upper layers by the paths that they change."""
        found: dict[Path, UpperEntry] = {}
        for folder in self._folders:
            try:
                for entry in list_changes(folder.overlay.upper, self._skips(snapshot, folder)):
                    if entry.kind is EntryKind.OTHER:
                        self._drop(entry.parts)
                    else:
                        found[folder.root.path.joinpath(*entry.parts)] = entry
            except TooManyEntries:
                fault = (
                    f"More than {MAX_ENTRIES} files or {MAX_DEPTH} levels: not all are proposed."
                )
                self.faults[fault] = None
            except OSError as error:
                self.faults[f"The changes can't be read: {error.strerror}."] = None
        return found

    def _skips(self, snapshot: Snapshot, folder: LayeredFolder) -> Skips:
        privacy = snapshot.privacy()

        def skips(parts: Parts, is_folder: bool) -> bool:  # noqa: FBT001 - a callback
            refusal = privacy.check_level(folder.root, parts, is_folder=is_folder)
            if refusal is not None:
                self._drop(parts)
            return refusal is not None

        return skips

    def _drop(self, parts: Parts) -> None:
        if len(self.dropped) < MAX_DROPPED:
            self.dropped["/".join(parts)] = None

    def _gone_files(self, snapshot: Snapshot, path: Path) -> Iterator[Path]:
        """Yield the files that were at a deleted path, or in a deleted folder."""
        status = snapshot.system.stat(path)
        if status is None or status.kind is not FileKind.FOLDER:
            yield path
            return
        with suppress(PathRefused):
            for located in snapshot.walk(str(path)):
                if located.path is not None:
                    yield located.path

    def _read(self, snapshot: Snapshot, path: Path, entry: UpperEntry) -> str | None:
        """Return the text that the program has written; None if it can't be proposed."""
        [upper] = (
            folder.overlay.upper
            for folder in self._folders
            if path == folder.root.path.joinpath(*entry.parts)
        )
        name = "/".join(entry.parts)
        try:
            data = snapshot.system.read_real(upper.joinpath(*entry.parts), MAX_BYTES + 1)
        except OSError:
            del self._done[path]  # it is replaced at this moment, or may not be read
            return None
        if len(data) > MAX_BYTES:
            self.faults[f"{name} has more than {MAX_BYTES} bytes and is not proposed."] = None
            return None
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.faults[f"{name} is not UTF-8 text and is not proposed."] = None
            return None
