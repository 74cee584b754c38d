"""Stet's own documents never reach the user's world."""

from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.workspace.workspace import Modification, ModificationKind, WireEdit, Workspace
from tests.support.memory_system import MemorySystem


def make_own() -> tuple[GeneratedDocuments, str]:
    """None open yet, and the URI of one."""
    system = MemorySystem({})
    own = GeneratedDocuments(system, Workspace(system))
    return own, (system.state_folder() / "review.diff").as_uri()


def opened(uri: str, text: str) -> Modification:
    """As an editor's didOpen."""
    return Modification(ModificationKind.OPENED, uri, 0, "diff", text)


def test_generated_document_is_tracked_from_open_to_close() -> None:
    own, uri = make_own()
    assert own.is_generated(uri)
    own.apply(opened(uri, "a\n"))
    assert own.opened == {uri}
    edit = WireEdit(0, 0, 0, 1, "😀b")
    own.apply(Modification(ModificationKind.CHANGED, uri, 1, edits=(edit,)))
    document = own.workspace.document(uri)
    assert document is not None
    assert document.text == "😀b\n"
    own.apply(Modification(ModificationKind.SAVED, uri))
    own.apply(Modification(ModificationKind.CLOSED, uri))
    assert own.workspace.document(uri) is None
    assert own.opened == set()


def test_other_documents_are_not_generated() -> None:
    own, _ = make_own()
    for uri in ("file:///ws/a.py", "untitled:x", "git:/x", "file:///ws/../ws/b"):
        assert not own.is_generated(uri)
