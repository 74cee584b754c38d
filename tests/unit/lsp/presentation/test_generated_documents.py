"""Stet's own documents never reach the user's world."""

from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.text.encoding import Encoding
from stet.workspace.workspace import Modification, ModificationKind, WireEdit
from tests.support.memory_system import MemorySystem


def make_own() -> tuple[GeneratedDocuments, str]:
    """None open yet, and the URI of one."""
    system = MemorySystem({})
    own = GeneratedDocuments(system, lambda: Encoding.UTF16)
    return own, (system.state_folder() / "review.diff").as_uri()


def opened(uri: str, text: str) -> Modification:
    """As an editor's didOpen."""
    return Modification(ModificationKind.OPENED, uri, 0, "diff", text)


def test_what_lies_in_the_state_folder_is_followed_here() -> None:
    own, uri = make_own()
    assert own.apply_if_generated(opened(uri, "a\n"))
    edit = WireEdit(0, 0, 0, 1, "😀b")
    assert own.apply_if_generated(Modification(ModificationKind.CHANGED, uri, 1, edits=(edit,)))
    document = own.document(uri)
    assert document is not None
    assert document.text == "😀b\n"
    assert own.apply_if_generated(Modification(ModificationKind.SAVED, uri))
    assert own.apply_if_generated(Modification(ModificationKind.CLOSED, uri))
    assert own.document(uri) is None
    assert not own.apply_if_generated(Modification(ModificationKind.CHANGED, uri, 2, edits=(edit,)))


def test_all_else_is_the_users() -> None:
    own, _ = make_own()
    for uri in ("file:///ws/a.py", "untitled:x", "git:/x", "file:///ws/../ws/b"):
        assert not own.is_generated(uri)
        assert not own.apply_if_generated(opened(uri, ""))
        assert own.document(uri) is None
