"""What the editor holds, laid over the files of the index."""

import asyncio
import contextlib

from stet.index.search.index_process import IndexProcess
from stet.text.document import TextDocument
from stet.workspace.snapshot import NotShown, Snapshot


class OpenTextSync:
    """Knows which texts a process has; owned by the indexer, one for each process."""

    def __init__(self, process: IndexProcess) -> None:
        """`process` has none."""
        self._process = process
        self._sent: dict[str, int] = {}
        self._one_at_a_time = asyncio.Lock()

    async def sync(self, snapshot: Snapshot) -> None:
        """Tell the process what has changed in the editor since.

        Texts are made ready in a worker, and a long one takes longer than the short one that came
        after it: so one question waits for the other, and no text is laid over a newer one.
        """
        async with self._one_at_a_time:
            for key in [key for key in self._sent if key not in snapshot.documents]:
                del self._sent[key]
                await self._process.send({"do": "text", "uri": key, "name": "", "text": None})
            for key, document in snapshot.documents.items():
                if self._sent.get(key, -1) < document.revision:
                    await self._sync_document(snapshot, key, document)

    async def _sync_document(self, snapshot: Snapshot, key: str, document: TextDocument) -> None:
        text = await asyncio.to_thread(_shown, snapshot, document)
        name = snapshot.name_of(document.uri)
        await self._process.send({"do": "text", "uri": key, "name": name, "text": text})
        self._sent[key] = document.revision


def _shown(snapshot: Snapshot, document: TextDocument) -> str | None:
    """The text of a document as a model may see it; None where none may, or it is too long to index."""
    if document.is_large:
        return None
    with contextlib.suppress(NotShown):
        return snapshot.show(document.uri).text
    return None
