"""An editor's buffers under the edits of a server, one picture each."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types as lsp

from stet.lsp.headless.editor_documents import EditorDocuments, EditUnsupported, UnsavedChange
from stet.text.buffer import TextBuffer
from stet.text.encoding import Encoding
from stet.workspace.uris import uri_of
from tests.support.memory_system import MemorySystem

A, B = Path("/ws/a.txt"), Path("/ws/b.txt")
Edit = tuple[int, int, int, int, str]


@pytest.fixture
def documents() -> EditorDocuments:
    return EditorDocuments(MemorySystem({str(A): "one 🎉 two\nthree\n", str(B): "b\n"}))


def text_edit(path: Path, *edits: Edit, version: int | None = None) -> lsp.TextDocumentEdit:
    return lsp.TextDocumentEdit(
        lsp.OptionalVersionedTextDocumentIdentifier(uri=uri_of(path), version=version),
        [
            lsp.TextEdit(lsp.Range(lsp.Position(a, b), lsp.Position(c, d)), new)
            for a, b, c, d, new in edits
        ],
    )


def workspace_edit(*changes: object) -> lsp.WorkspaceEdit:
    return lsp.WorkspaceEdit(document_changes=list(changes))  # type: ignore[arg-type]


def test_edits_are_all_of_the_text_before_them(documents: EditorDocuments) -> None:
    uri, _ = documents.open(A)
    edit = text_edit(
        A, (0, 0, 0, 3, "ONE"), (0, 0, 0, 0, ">"), (1, 0, 1, 0, "x"), (1, 0, 1, 0, "y")
    )
    notices = documents.apply(workspace_edit(edit))
    assert documents.text(uri) == ">ONE 🎉 two\nxythree\n"
    assert [method for method, _ in notices] == [lsp.TEXT_DOCUMENT_DID_CHANGE]


def test_columns_count_in_the_negotiated_encoding(documents: EditorDocuments) -> None:
    uri, _ = documents.open(A)
    documents.apply(workspace_edit(text_edit(A, (0, 6, 0, 10, ""))))
    assert documents.text(uri) == "one 🎉\nthree\n"
    documents.encoding = Encoding.UTF32
    documents.apply(workspace_edit(text_edit(A, (0, 4, 0, 5, "x"))))
    assert documents.text(uri) == "one x\nthree\n"


def test_the_language_follows_the_ending() -> None:
    paths = [Path("/ws", name) for name in ("a.PY", "b.md", "c.tsx", "d")]
    documents = EditorDocuments(MemorySystem({str(path): "" for path in paths}))
    opened = [documents.open(path)[1][1] for path in paths]
    items = [one.text_document for one in opened if isinstance(one, lsp.DidOpenTextDocumentParams)]
    languages = [item.language_id for item in items]
    assert languages == ["python", "markdown", "typescriptreact", "plaintext"]


def test_a_plain_change_map_is_an_edit_too(documents: EditorDocuments) -> None:
    edit = lsp.TextEdit(lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1)), "B")
    documents.apply(lsp.WorkspaceEdit(changes={uri_of(B): [edit]}))
    assert documents.unsaved() == (UnsavedChange(B, "b\n", "B\n"),)


def test_a_file_that_is_not_open_is_opened_first(documents: EditorDocuments) -> None:
    notices = documents.apply(workspace_edit(text_edit(B, (0, 0, 0, 1, "B"))))
    assert [method for method, _ in notices] == [
        lsp.TEXT_DOCUMENT_DID_OPEN,
        lsp.TEXT_DOCUMENT_DID_CHANGE,
    ]
    opened = notices[0][1]
    assert isinstance(opened, lsp.DidOpenTextDocumentParams)
    assert opened.text_document.text == "b\n"


def test_a_new_file_is_made_and_filled(documents: EditorDocuments) -> None:
    new = Path("/ws/new/c.txt")
    create = lsp.CreateFile(uri=uri_of(new))
    documents.apply(workspace_edit(create, text_edit(new, (0, 0, 0, 0, "hello\n"))))
    assert documents.unsaved() == (UnsavedChange(new, None, "hello\n"),)


def test_a_new_file_that_is_not_saved_is_kept_where_one_that_exists_is_ignored(
    documents: EditorDocuments,
) -> None:
    new = Path("/ws/new/c.txt")
    create = lsp.CreateFile(uri=uri_of(new), options=lsp.CreateFileOptions(ignore_if_exists=True))
    documents.apply(workspace_edit(create, text_edit(new, (0, 0, 0, 0, "hello\n"))))
    assert documents.apply(workspace_edit(create)) == []
    assert documents.unsaved() == (UnsavedChange(new, None, "hello\n"),)


def test_a_new_file_that_is_not_saved_is_emptied_where_it_is_overwritten(
    documents: EditorDocuments,
) -> None:
    new = Path("/ws/new/c.txt")
    create = lsp.CreateFile(uri=uri_of(new), options=lsp.CreateFileOptions(overwrite=True))
    documents.apply(workspace_edit(create, text_edit(new, (0, 0, 0, 0, "hello\n"))))
    documents.apply(workspace_edit(create))
    assert documents.unsaved() == (UnsavedChange(new, None, ""),)


def test_a_moved_and_a_deleted_file_are_gone(documents: EditorDocuments) -> None:
    documents.open(A)
    moved = Path("/ws/moved.txt")
    notices = documents.apply(
        workspace_edit(
            lsp.RenameFile(old_uri=uri_of(A), new_uri=uri_of(moved)), lsp.DeleteFile(uri=uri_of(B))
        )
    )
    assert [method for method, _ in notices] == [
        lsp.TEXT_DOCUMENT_DID_CLOSE,
        lsp.TEXT_DOCUMENT_DID_OPEN,
    ]
    assert documents.unsaved() == (
        UnsavedChange(A, "one 🎉 two\nthree\n", None),
        UnsavedChange(B, "b\n", None),
        UnsavedChange(moved, None, "one 🎉 two\nthree\n"),
    )


def test_a_deleted_file_has_no_text_and_may_be_made_again(documents: EditorDocuments) -> None:
    documents.open(B)
    documents.apply(workspace_edit(lsp.DeleteFile(uri=uri_of(B))))
    assert documents.read(uri_of(B)) is None
    with pytest.raises(EditUnsupported, match="was deleted"):
        documents.apply(workspace_edit(text_edit(B, (0, 0, 0, 0, "x"))))
    create = lsp.CreateFile(uri=uri_of(B))
    documents.apply(workspace_edit(create, text_edit(B, (0, 0, 0, 0, "new\n"))))
    deleted, made = documents.unsaved()
    assert (deleted, made) == (UnsavedChange(B, "b\n", None), UnsavedChange(B, None, "new\n"))
    assert documents.saved(deleted) == uri_of(B)
    assert documents.unsaved() == (made,)
    documents.saved(made)
    assert documents.unsaved() == ()


REFUSED: dict[str, Callable[[], lsp.WorkspaceEdit]] = {
    "is at version 0, not 7": lambda: workspace_edit(
        text_edit(B, (0, 0, 0, 1, "B")), text_edit(A, (0, 0, 0, 1, "x"), version=7)
    ),
    "can't be opened": lambda: workspace_edit(text_edit(Path("/ws/nope"), (0, 0, 0, 1, ""))),
    "already exists": lambda: workspace_edit(lsp.CreateFile(uri=uri_of(B))),
    "is not a file on this machine": lambda: workspace_edit(lsp.CreateFile(uri="untitled:x")),
    "does not support snippets": lambda: workspace_edit(
        lsp.TextDocumentEdit(
            lsp.OptionalVersionedTextDocumentIdentifier(uri=uri_of(A)),
            [
                lsp.SnippetTextEdit(
                    lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)), lsp.StringValue("$1")
                )
            ],
        )
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_an_edit_is_refused_whole(documents: EditorDocuments, reason: str) -> None:
    documents.open(A)
    with pytest.raises(EditUnsupported, match=reason):
        documents.apply(REFUSED[reason]())
    assert documents.unsaved() == ()


@given(
    st.text("a🎉\r\n", max_size=12),
    st.lists(st.tuples(st.integers(0, 12), st.text("x\r\n", max_size=3)), max_size=4),
)
def test_server_follows_every_edit_by_the_reported_changes(
    text: str, insertions: list[tuple[int, str]]
) -> None:
    """Disjoint edits; a mirror fed with the notices has the same text."""
    documents = EditorDocuments(MemorySystem({str(A): text}))
    documents.encoding = Encoding.UTF32
    uri, _ = documents.open(A)
    edits = [(line, 0, line, 0, new) for line, new in insertions]
    mirror = TextBuffer(text)
    for _, params in documents.apply(workspace_edit(text_edit(A, *edits))):
        assert isinstance(params, lsp.DidChangeTextDocumentParams)
        for change in params.content_changes:
            assert isinstance(change, lsp.TextDocumentContentChangePartial)
            start, end = change.range.start, change.range.end
            mirror.splice(
                start.line, start.character, end.line, end.character, change.text, Encoding.UTF32
            )
    assert mirror.text == documents.text(uri)


MARKED = "\ufeffone\ntwo\n"


def test_a_byte_order_mark_is_the_files_and_no_text() -> None:
    documents = EditorDocuments(MemorySystem({str(A): MARKED}))
    uri, (_, opened) = documents.open(A)
    assert isinstance(opened, lsp.DidOpenTextDocumentParams)
    assert opened.text_document.text == documents.text(uri) == "one\ntwo\n"
    assert documents.unsaved() == ()
    documents.apply(workspace_edit(text_edit(A, (0, 0, 1, 0, ""), (0, 0, 0, 0, "zero\n"))))
    (change,) = documents.unsaved()
    assert change == UnsavedChange(A, MARKED, "\ufeffzero\ntwo\n")
    assert documents.saved(change) == uri
    assert documents.unsaved() == ()


def test_a_byte_order_mark_of_a_file_that_was_not_open_stays() -> None:
    documents = EditorDocuments(MemorySystem({str(A): MARKED}))
    documents.apply(workspace_edit(text_edit(A, (0, 0, 1, 0, "ONE\n"))))
    assert documents.unsaved() == (UnsavedChange(A, MARKED, "\ufeffONE\ntwo\n"),)


def test_a_byte_order_mark_goes_with_its_file() -> None:
    documents = EditorDocuments(MemorySystem({str(A): MARKED}))
    documents.apply(workspace_edit(lsp.RenameFile(uri_of(A), uri_of(B))))
    assert documents.unsaved() == (UnsavedChange(A, MARKED, None), UnsavedChange(B, None, MARKED))
