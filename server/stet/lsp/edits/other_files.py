"""Files beside the user's own that an accept changes: the links to a moved file, the rest of a
turn.

Most editors apply such edits to a text that they neither show nor save.
"""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence

from stet.lsp.editor_client import Client
from stet.review.ledger import ReviewLedger
from stet.review.proposal import Hunk, HunkKind, HunkState
from stet.system.system import System
from stet.text.document import TextDocument
from stet.text.escape import escape_line
from stet.text.render import counted
from stet.workspace.disk_text import MAX_FILE_BYTES, decode
from stet.workspace.uris import canonical, path_of
from stet.workspace.workspace import Workspace

MAX_NAMES = 3
"""The most files that the message names."""


def other_files(hunks: Sequence[Hunk], active: str | None) -> tuple[str, ...]:
    """Return the URIs of the files of `hunks`, in their order, without the file `active`.

    If no file is active, the first file is left out.
    """
    files = {canonical(hunk.uri): hunk.uri for hunk in hunks}
    files.pop(next(iter(files), "") if active is None else canonical(active), None)
    return tuple(files.values())


async def report_unsaved(
    accepting: Awaitable[None],
    hunk_ids: Iterable[str],
    workspace: Workspace,
    ledger: ReviewLedger,
    client: Client,
) -> None:
    """Wait for `accepting`; then show which other files the accepted hunks have left unsaved.

    New files are not among them: the editor opens them.
    """
    before = workspace.snapshot().activity.active
    await accepting
    hunks = [ledger.hunk(hunk_id) for hunk_id in hunk_ids]
    made = {canonical(hunk.uri) for hunk in hunks if hunk.kind is HunkKind.CREATE}
    done = [
        hunk
        for hunk in hunks
        if hunk.state is HunkState.ACCEPTED and canonical(hunk.uri) not in made
    ]
    snapshot = workspace.snapshot()
    now = snapshot.activity.active  # an accepted move renames the active file
    others = [
        uri for uri in other_files(done, before) if now is None or canonical(uri) != canonical(now)
    ]
    opened = [document for uri in others if (document := workspace.document(uri)) is not None]
    if not opened or client.capabilities.saves_later:
        return
    unsaved = await asyncio.to_thread(_unsaved, opened, snapshot.system)
    if unsaved:
        names = [escape_line(snapshot.name_of(one.uri)) for one in unsaved[:MAX_NAMES]]
        names += ["…"] if len(unsaved) > MAX_NAMES else []
        files = counted(len(unsaved), "other file")
        client.show_message(f"Stet: {files} changed, unsaved: {', '.join(names)}")


def _unsaved(documents: Iterable[TextDocument], system: System) -> list[TextDocument]:
    """Return the documents whose text is not that of their file. Block on the disk."""
    return [one for one in documents if _text_on_disk(one.uri, system) != one.text]


def _text_on_disk(uri: str, system: System) -> str | None:
    """Return the text of a file, or None if there is none."""
    path = path_of(uri)
    if path is None or system.stat(path) is None:
        return None
    try:
        return decode(system.read_bytes(path, MAX_FILE_BYTES))
    except OSError:
        return None
