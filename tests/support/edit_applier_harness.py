"""Application of edits with a disk in memory and a scripted editor.

harness = ApplyHarness(acts=[lambda *_: NO])
harness.open()
[hunk] = harness.propose(("two", "2"))
assert await harness.accept(hunk) == ["pending"]
"""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp

from stet.lsp.capabilities import ClientCapabilities
from stet.lsp.editor_client import ApplyOutcome, Client
from stet.lsp.edits.edit_applier import EditApplier
from stet.lsp.file_events import DiskWatch, RenameTracker
from stet.lsp.index_adapters import IndexFeed
from stet.lsp.inline_style import BlockImport
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.lsp.text_sync import TextSync
from stet.review.ledger import ReviewLedger
from stet.review.proposal import CreateDraft, EditDraft, MoveDraft, RemoveDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.search.index_service import IndexService
from stet.text.edit import Replacement, TextEdit
from stet.workspace.workspace import Workspace
from tests.support.editor_documents import with_edits
from tests.support.memory_system import MemorySystem
from tests.support.review_harness import rules

TEXT = "one\ntwo\nand\nthree\n"
URI = "file:///ws/a.txt"
ALL = frozenset({"create", "rename", "delete"})
Act = Callable[["ApplyHarness", str, Sequence[lsp.TextEdit]], ApplyOutcome]
YES = ApplyOutcome(applied=True)
NO = ApplyOutcome(applied=False, reason="It does not want to.")
SILENT = ApplyOutcome(applied=False, reason="The editor did not respond within 10 s.")


def applies(world: "ApplyHarness", uri: str, edits: Sequence[lsp.TextEdit]) -> ApplyOutcome:
    world.edit(uri, edits)
    return YES


class ScriptedClient(Client):
    """An editor that handles the next edits with scripted acts, and later edits with `applies`."""

    def __init__(self, world: "ApplyHarness") -> None:
        self._world = world

    @property
    def capabilities(self) -> ClientCapabilities:
        return self._world.editor

    def can(self, operation: str) -> bool:
        return operation in self._world.editor.resource_operations

    def start(self, work: Coroutine[Any, Any, object], name: str) -> None:
        if self._world.started is None:
            work.close()
        else:
            self._world.started.append(work)

    def show_message(self, text: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        self._world.messages.append(text)

    async def show_document(
        self, uri: str, selection: lsp.Range | None = None, *, take_focus: bool = True
    ) -> bool:
        self._world.shown.append(uri)
        return True

    async def apply_edit(
        self, label: str | None, uri: str, version: int | None, edits: Sequence[lsp.TextEdit]
    ) -> ApplyOutcome:
        self._world.versions.append((version, self._world.workspace.document(uri) is not None))
        act = self._world.acts.pop(0) if self._world.acts else applies
        return act(self._world, uri, edits)

    async def create_file(self, label: str, uri: str, text: str) -> ApplyOutcome:
        self._world.operations.append("create")
        if self._world.lies:
            return YES
        self._world.system.add_file(self._world.path(uri), text)
        return YES

    async def rename_file(self, label: str, uri: str, new_uri: str) -> ApplyOutcome:
        self._world.operations.append("rename")
        if self._world.lies:
            return YES
        self._world.system.move_file(self._world.path(uri), self._world.path(new_uri))
        return YES

    async def delete_file(self, label: str, uri: str) -> ApplyOutcome:
        self._world.operations.append("delete")
        if self._world.lies:
            return YES
        self._world.system.remove(self._world.path(uri))
        return YES


@dataclass
class ApplyHarness:
    """Documents, a disk, an editor, and the messages to the user."""

    files: dict[str, str | bytes] = field(default_factory=lambda: {"/ws/a.txt": TEXT})
    editor: ClientCapabilities = field(
        default_factory=lambda: ClientCapabilities(apply_edit=True, document_changes=True)
    )
    acts: list[Act] = field(default_factory=list)
    lies: bool = False

    def __post_init__(self) -> None:
        self.messages: list[str] = []
        self.started: list[Coroutine[Any, Any, object]] | None = None
        self.shown: list[str] = []
        self.operations: list[str] = []
        self.versions: list[tuple[int | None, bool]] = []
        self.system = MemorySystem(self.files)
        self.workspace = Workspace(self.system)
        self.workspace.add_root("file:///ws")
        self.ledger = ReviewLedger()
        self.renames = RenameTracker(
            self.workspace, self.ledger, self.system, lambda work, _: work.close()
        )
        own = GeneratedDocuments(self.system, self.workspace)
        disk = DiskWatch(self.workspace, self.ledger, lambda work, _: work.close())
        index = IndexService(
            self.system, lambda work, _: work.close(), self.shown.append, watches=lambda: False
        )
        feed = IndexFeed(self.workspace, index, lambda work, _: work.close())
        self.client = ScriptedClient(self)
        imports = BlockImport(self.workspace, self.ledger, self.client)
        self.documents = TextSync(
            self.workspace,
            self.ledger,
            self.renames,
            own,
            disk=disk,
            feed=feed,
            blocks=imports,
            with_hunks_opened=lambda _: None,
            is_in_other_editor=lambda _: False,
            closed=lambda _: None,
        )
        self.delivery = EditApplier(self.workspace, self.ledger, self.client, self.renames)
        self.ledger.subscribe(imports.hunks_changed)
        self._version = 0

    def path(self, uri: str) -> Path:
        return Path(uri.removeprefix("file://"))

    def disk(self, name: str) -> str | None:
        path = Path(name)
        return self.system.read_bytes(path, 1000).decode() if self.system.stat(path) else None

    def open(self, uri: str = URI, text: str = TEXT) -> None:
        self._version += 1
        item = lsp.TextDocumentItem(uri, "", self._version, text)
        self.documents.open(lsp.DidOpenTextDocumentParams(item))

    def close(self, uri: str = URI) -> None:
        self.documents.close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri)))

    def text(self, uri: str = URI) -> str:
        document = self.workspace.document(uri)
        assert document is not None
        return document.text

    def put(self, text: str, uri: str = URI) -> None:
        """Report as the editor that a document now has this text."""
        self._version += 1
        self.documents.change(
            {
                "textDocument": {"uri": uri, "version": self._version},
                "contentChanges": [{"text": text}],
            }
        )

    def edit(self, uri: str, edits: Sequence[lsp.TextEdit]) -> None:
        """Apply edits as the editor."""
        if self.workspace.document(uri) is None:
            self.open(uri, self.disk(uri.removeprefix("file://")) or "")
        self.put(with_edits(self.text(uri), edits, "utf-16"), uri)

    def propose(
        self, *changes: tuple[str, str], uri: str = URI, turn: str = "t1"
    ) -> tuple[str, ...]:
        document = self.workspace.snapshot().show(uri)
        edit = TextEdit(
            tuple(
                Replacement(at := document.text.index(old), at + len(old), new)
                for old, new in changes
            )
        )
        draft = EditDraft(
            turn=turn, author="m", document=document, name="a.txt", edit=edit, summary="s"
        )
        return tuple(hunk.id for hunk in self.ledger.propose(prepare_draft(draft, rules())))

    def propose_apart(self, *changes: tuple[str, str]) -> list[str]:
        """Propose each change as a separate hunk in its own turn, even if changes are adjacent."""
        return [
            hunk for n, change in enumerate(changes) for hunk in self.propose(change, turn=f"t{n}")
        ]

    def create(self, text: str = "new\n", uri: str = "file:///ws/n/b.txt") -> str:
        draft = CreateDraft(turn="t1", author="m", uri=uri, name="b", text=text, summary="s")
        return self.ledger.propose(prepare_draft(draft, rules()))[0].id

    def move(self, uri: str = URI, new_uri: str = "file:///ws/n/b.txt") -> str:
        draft = MoveDraft(
            turn="t1",
            author="m",
            uri=uri,
            name=uri.removeprefix("file:///ws/"),
            new_uri=new_uri,
            new_name=new_uri.removeprefix("file:///ws/"),
            summary="s",
        )
        return self.ledger.propose(prepare_draft(draft, rules()))[0].id

    def remove(self, text: str = TEXT, uri: str = URI) -> str:
        draft = RemoveDraft(turn="t1", author="m", uri=uri, name="a.txt", text=text, summary="s")
        return self.ledger.propose(prepare_draft(draft, rules()))[0].id

    async def accept(self, *hunks: str) -> list[str]:
        """Accept hunks; return their states afterwards."""
        seen = [self.ledger.hunk(hunk) for hunk in hunks]
        await self.delivery.apply(seen[0].uri, seen)
        return [str(self.ledger.hunk(hunk).state) for hunk in hunks]

    async def undo(self, *hunks: str) -> list[str]:
        await self.delivery.undo(self.ledger.hunk(hunks[0]).uri, hunks)
        return [str(self.ledger.hunk(hunk).state) for hunk in hunks]
