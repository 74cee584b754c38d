"""Invariants at any moment: the server's texts and hunks, and the disk, match the editor's."""

from typing import Any

from tests.fuzz.editor import Editor
from tests.fuzz.permissions import Hunk
from tests.fuzz.reference import Violation, as_sent, checksum, is_held, key_of, slice_of


def check_texts(editor: Editor) -> None:
    """Ask for checksums of the server's texts: they must match the editor's current texts."""
    held = [one for one in editor.documents.values() if not editor.is_own(one)]
    uris = [*(one.uri for one in held), "git:/a", editor.folder.uri_of("never")]
    wanted = [checksum(one.text) if is_held(one.uri) else None for one in held]

    def then(answer: Any) -> None:
        if answer != [*wanted, None, None]:
            wrong = [
                u for u, a, b in zip(uris, answer, [*wanted, None, None], strict=True) if a != b
            ]
            raise Violation(f"the server holds another text of {wrong}")

    editor.command("test.checksums", *uris, then=then)


def check_hunks(editor: Editor) -> None:
    """Ask for pending hunks: each must be at its reported range."""
    texts = {key: one.text for key, one in editor.documents.items()}

    def then(answer: Any) -> None:
        for hunk in answer:
            _check_hunk(hunk, texts.get(key_of(hunk["uri"])), editor.encoding)

    editor.command("stet.proposals", {"state": "pending"}, then=then)


def _check_hunk(hunk: Hunk, text: str | None, encoding: str) -> None:
    if text is None or hunk["kind"] in ("create", "move", "remove") or hunk["inline"]:
        return
    current = slice_of(text, hunk["range"], encoding)
    if as_sent(current) != as_sent(hunk["old"]):
        raise Violation(f"{hunk['hunk']} says that {hunk['old']!r} stands there, not {current!r}")


def check_disk(editor: Editor) -> None:
    """Check that files differ from what was saved only as the user approved."""
    named = map(editor.folder.path_of, editor.allowed.made_or_moved())
    editor.folder.check({*filter(None, named), *editor.allowed.may_go(editor.folder.root)})
