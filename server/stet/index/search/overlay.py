"""What the editor holds, laid over the files of the index."""

import asyncio
import contextlib

from stet.index.search.process import IndexProcess
from stet.text.document import TextDocument
from stet.workspace.snapshot import NotShown, Snapshot


class Overlay:
    """Knows which texts the process has; owned by the indexer."""

    def __init__(self) -> None:
        """It has none."""
        self._laid: dict[str, int] = {}

    def clear(self) -> None:
        """Another process has begun."""
        self._laid.clear()

    async def lay(self, process: IndexProcess, snapshot: Snapshot) -> None:
        """Tell the process what has changed in the editor since."""
        for key in [key for key in self._laid if key not in snapshot.documents]:
            del self._laid[key]
            await process.tell({"do": "text", "uri": key, "name": "", "text": None})
        for key, document in snapshot.documents.items():
            if self._laid.get(key) == document.revision:
                continue
            self._laid[key] = document.revision
            text = await asyncio.to_thread(_shown, snapshot, document)
            name = snapshot.name_of(document.uri)
            await process.tell({"do": "text", "uri": key, "name": name, "text": text})


def _shown(snapshot: Snapshot, document: TextDocument) -> str | None:
    """The text of a document as a model may see it; None where none may."""
    with contextlib.suppress(NotShown):
        return snapshot.show(document.uri).text
    return None
