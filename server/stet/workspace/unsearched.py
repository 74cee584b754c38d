"""Open documents that are too long to be searched, as a sentence for the model."""

from collections.abc import Sequence

from stet.text.document import TextDocument
from stet.text.escape import escape_line
from stet.workspace.names import parts_below
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import path_of

_MOST_NAMED = 5


def describe_unsearched(snapshot: Snapshot, folder: str) -> str:
    """Say which open documents a search has left out; empty if there are none.

    Asks the disk: call it in a worker thread.

    Args:
        snapshot: What was searched.
        folder: The folder that was searched; empty for everywhere.

    Returns:
        A sentence in brackets, with a line end.
    """
    documents = [document for document in snapshot.documents.values() if document.is_large]
    names = sorted(_names(snapshot, folder, documents)) if documents else []
    if not names:
        return ""
    named = ", ".join(repr(escape_line(name)) for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"(Too long to be searched: {named}{more}. `read_file` shows lines of it.)\n"


def _names(snapshot: Snapshot, folder: str, documents: Sequence[TextDocument]) -> list[str]:
    top = snapshot.locate(folder).path if folder.strip("/. ") else None
    found = []
    for document in documents:
        path = path_of(document.uri)
        is_below = top is None or (path is not None and parts_below(path, top) is not None)
        if is_below and _may_be_shown(snapshot, document.uri):
            found.append(snapshot.name_of(document.uri))
    return found


def _may_be_shown(snapshot: Snapshot, uri: str) -> bool:
    try:
        _ = snapshot.document_with_blocks(uri)
    except NotShown:
        return False
    return True
