"""What tools may have the editor do at once: carry out what the user has said yes to, show a document."""

import asyncio
from hashlib import sha256

from stet.lsp.editor_client import Client
from stet.lsp.edits.apply_order import accept_in_order
from stet.lsp.edits.edit_applier import EditApplier
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkState
from stet.system.system import System
from stet.tools.editor_actions import EditorActions
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

_ENDING = ".md"


class LspEditorActions:
    """The ports of `stet.tools.editor_actions` on a real editor."""

    def __init__(  # noqa: PLR0913, PLR0917 - what the ports work with
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        delivery: EditApplier,
        client: Client,
        generated: GeneratedDocuments,
        system: System,
    ) -> None:
        self._workspace = workspace
        self._ledger = ledger
        self._delivery = delivery
        self._client = client
        self._generated = generated
        self._system = system

    @property
    def actions(self) -> EditorActions:
        """As tools take them."""
        return EditorActions(self._accept_hunk, self._show_document)

    async def _accept_hunk(self, hunk_id: str) -> str:
        await accept_in_order(self._ledger, self._delivery, [hunk_id])
        hunk = self._ledger.hunk(hunk_id)
        if hunk.state is HunkState.ACCEPTED:
            return ""
        return hunk.reason or f"It is {hunk.state}."

    async def _show_document(self, stem: str, text: str) -> None:
        roots = "\n".join(canonical(root.path.as_uri()) for root in self._workspace.roots)
        mark = sha256(roots.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        name = self._generated.free_name(f"{stem}-{mark}", _ENDING, text)
        path = await asyncio.to_thread(self._system.write_generated, name, text)
        if not await self._client.show_document(path.as_uri()):
            self._client.show_message(f"Stet: it is written down in {path}.")
