"""The result of an edit that the editor won't apply, as a document."""

import asyncio
import logging

from stet.lsp.editor_client import Client
from stet.text.diff import unified_diff
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.workspace.snapshot import Snapshot

log = logging.getLogger(__name__)


async def offer_manual_edit(
    snapshot: Snapshot, client: Client, document: TextDocument, edit: TextEdit, hunk_id: str
) -> str:
    """Write down what the editor won't apply, and show it; gives a sentence that says where."""
    name, after = snapshot.name_of(document.uri), edit.apply(document.text)
    text = unified_diff(document.text, after, f"a/{name}", f"b/{name}")
    try:
        path = await asyncio.to_thread(
            snapshot.system.write_generated, f"refused-{hunk_id}.patch", text
        )
    except OSError as error:
        log.warning("the refused edit could not be written: %s", error)
        return ""
    await client.show_document(path.as_uri())
    return f" It is written down in {path}."
