"""The files that are indexed: the files on the disk, and unsaved texts in their place.

`watch_folders` reports files that change on the disk, for editors that do not report them.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stet.search.chunk import FileStamp, SourceFile
from stet.search.search_engine import digest
from stet.settings.values import Settings
from stet.system.system import FileKind, FileStat, System
from stet.workspace.activity import ActivityView
from stet.workspace.ignore_rules import IgnoreRules
from stet.workspace.names import PathRefused, has_odd_characters
from stet.workspace.paths import Located, Root
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import path_of, uri_of


@dataclass(slots=True)
class IndexSource:
    """The files to index; owned by the builder.

    Attributes:
        disk: A snapshot with roots and settings, without open documents.
        open_texts: Unsaved texts by canonical URI, each with the name of its file.
        is_sent: Whether the embedded texts of files are sent to an endpoint.
    """

    disk: Snapshot
    open_texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    is_sent: bool = False

    @classmethod
    def of(cls, roots: tuple[Root, ...], settings: Settings) -> "IndexSource":
        """Create the source of the files below `roots` that `settings` allow to show."""
        system = System()
        nowhere = ActivityView()
        disk = Snapshot(system, roots, {}, nowhere, settings, IgnoreRules(system))
        return cls(disk)

    def all_files(self, first: Iterable[str]) -> Iterator[Located]:
        """Yield all files on the disk, first the files beside the documents `first`; some twice."""
        for uri in first:
            yield from self.disk.siblings(uri)
        yield from self.disk.walk()

    def files_below(self, uri: str) -> Iterator[Located]:
        """Yield the files below a folder, or nothing if `uri` is no folder or is excluded."""
        path = path_of(uri)
        stat = None if path is None else self.disk.system.stat(path)
        if path is not None and stat is not None and stat.kind is FileKind.FOLDER:
            with suppress(PathRefused):
                yield from self.disk.walk(str(path))

    def is_unchanged(self, located: Located, known: FileStamp | None) -> bool:
        """Return whether a file of a walk has the time and the size of the stamp `known`."""
        if known is None or known.mtime is None:
            return False
        stat = self._stat(located.uri, located)
        return stat is not None and (stat.mtime, stat.size) == (known.mtime, known.size)

    def read(
        self, uri: str, known: FileStamp | None, located: Located | None
    ) -> SourceFile | FileStamp | None:
        """Return a file to index, or only its stamp if the index has the same text.

        Return None if there is no file to index, or if it may not be indexed.

        Args:
            uri: The canonical URI of the file.
            known: The stamp of the file in the index.
            located: The location of the file, if a walk has just found it.
        """
        source = (
            self._read_open_text(uri) if uri in self.open_texts else self._read_disk(uri, located)
        )
        is_known = source is not None and known is not None and known.hash == source.stamp.hash
        return source.stamp if source is not None and is_known else source

    def _read_disk(self, uri: str, located: Located | None) -> SourceFile | None:
        stat = self._stat(uri, located)
        if stat is None or stat.size > self.disk.settings.search.max_file_bytes:
            return None
        if located is None and has_odd_characters(self.disk.name_of(uri)):
            return None  # a walk leaves out such names as well
        try:
            document = self.disk.show(uri) if located is None else self.disk.show_walked(located)
        except NotShown:
            return None
        name = self.disk.name_of(uri) if located is None else located.name
        text = document.text
        stamp = FileStamp(stat.mtime, stat.size, digest(text))
        return SourceFile(uri, name, text, stamp, is_sent=self.is_sent)

    def _stat(self, uri: str, located: Located | None) -> FileStat | None:
        """Return the status of a file from the walk that has just found it, or from the disk."""
        if located is not None and located.stat is not None:
            return located.stat
        path = path_of(uri)
        return None if path is None else self.disk.system.stat(path)

    def _read_open_text(self, uri: str) -> SourceFile | None:
        name, text = self.open_texts[uri]
        if len(text) > self.disk.settings.search.max_file_bytes:
            return None
        stamp = FileStamp(None, len(text), digest(text))
        return SourceFile(uri, name, text, stamp, is_sent=self.is_sent)


def roots_of(items: Iterable[tuple[str, str, str]]) -> tuple[Root, ...]:
    """Return the roots of a message, which has the URI, the path and the name of each."""
    return tuple(Root(uri, Path(path), name) for uri, path, name in items)


def settings_of(item: Mapping[str, Any]) -> Settings:
    """Return the settings that determine what is indexed, from a message."""
    settings = Settings()
    return replace(
        settings,
        context=replace(settings.context, excluded_folders=tuple(item["excluded"])),
        privacy=replace(settings.privacy, deny=tuple(item["deny"])),
        search=replace(settings.search, max_file_bytes=item["maxFileBytes"]),
    )


log = logging.getLogger(__name__)

_STEP_MS = 30
_DEBOUNCE_MS = 200
"""Changes within this many milliseconds are reported together."""
_NEVER = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__"})
"""Folders whose many changes are ignored; this does not determine which files are indexed."""


def watch_folders(
    folders: Sequence[Path],
    changed: Callable[[dict[str, Any]], None],
    stop: threading.Event | None = None,
) -> None:
    """Call `changed` with a message for each change below `folders`.

    The first message asks for a scan, at most 5 s after the start: a file may have changed after
    the last scan and before the system watched its folder.

    Args:
        folders: The roots.
        changed: Receives the messages.
        stop: Ends the watch when set; without it, the watch ends with the process.
    """
    import watchfiles  # late: the import takes long, and only some editors need it

    try:
        is_wanted = wanted_below(folders)
        is_first = True
        for changes in watchfiles.watch(
            *folders,
            watch_filter=lambda _, path: is_wanted(path),
            step=_STEP_MS,
            debounce=_DEBOUNCE_MS,
            stop_event=stop,
            yield_on_timeout=True,
            raise_interrupt=False,
        ):
            if is_first:
                is_first = False
                changed({"do": "scan"})
            elif changes:
                paths = sorted({path for _, path in changes})
                changed({"do": "changed", "uris": [uri_of(Path(path)) for path in paths]})
    except (OSError, RuntimeError) as fault:
        log.warning("file changes are no longer watched: %s", fault)


def wanted_below(folders: Sequence[Path]) -> Callable[[str], bool]:
    """Return a function that returns whether a change of a path matters to one of `folders`.

    Path parts above a folder do not count: a root may be inside `node_modules`.
    """
    # Some systems report the path of a change with all links resolved.
    roots = {each for folder in folders for each in (folder, folder.resolve())}

    def is_wanted(path: str) -> bool:
        changed = Path(path)
        return any(
            changed.is_relative_to(root) and _NEVER.isdisjoint(changed.relative_to(root).parts)
            for root in roots
        )

    return is_wanted
