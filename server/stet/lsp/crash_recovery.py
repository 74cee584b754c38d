"""What was being done to files when a server was killed: the disk tells whether it came about.

A move or a removal leaves no trace in a text, nor does a new file that is empty. Only what had been
sent is asked about: a file that is gone may be gone for another reason, with an old copy of it in the
trash. What is not certain waits, and the user decides again.
"""

from collections.abc import Iterable
from pathlib import Path

from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.system.system import FileKind, System
from stet.workspace.disk_text import MAX_FILE_BYTES, decode
from stet.workspace.uris import path_of


def completed_operations(system: System, hunks: Iterable[Hunk]) -> tuple[Hunk, ...]:
    """Those of the hunks that were sent and the disk shows done. It asks the disk: for a thread.

    A move is, where the old name is gone and a file has the new one; a removal, where the file is
    gone and the trash holds its text; a new file without text, where there is an empty one. Of other
    new files the text tells.
    """
    return tuple(hunk for hunk in hunks if hunk.state is HunkState.SENT and _is_done(system, hunk))


def _is_done(system: System, hunk: Hunk) -> bool:
    path = path_of(hunk.uri)
    if path is None:
        return False
    # Not the last part: the file may be a link, which is never followed.
    real = system.real_path(path.parent) / path.name
    there = system.stat(real)
    if hunk.kind is HunkKind.CREATE:
        is_empty = there is not None and there.kind is FileKind.FILE and there.size == 0
        return is_empty and not hunk.new
    if there is not None:
        return False
    if hunk.kind is HunkKind.REMOVE:
        return any(_has_text(system, place, hunk.old) for place in system.trashed(real))
    new = path_of(hunk.new_uri)
    stat = None if new is None else system.stat(system.real_path(new.parent) / new.name)
    return stat is not None and stat.kind is FileKind.FILE


def _has_text(system: System, path: Path, text: str) -> bool:
    try:
        return decode(system.read_bytes(path, MAX_FILE_BYTES)) == text
    except OSError:
        return False  # then it can't be brought back from there either
