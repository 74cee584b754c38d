"""Editors' spellings of URIs: E22 to E26 of the project's list of faults.

After each the server answers, has every text byte by byte as the editor, and the pending hunk in
`a.txt` can be accepted in its place.
"""

from pathlib import Path

import pytest

from tests.support.fault_scene import NEW, OLD, TEXT, at_fault, checksum, refusal_of
from tests.support.live_turns import wait_for_states
from tests.support.proposals import propose
from tests.support.raw_peer import changed, closed, notification, opened, replaced

INVALID_PARAMS = -32602


@pytest.mark.parametrize(
    ("uri", "is_held"),
    [
        ("untitled:Untitled-1", True),
        ("vscode-notebook-cell:/ws/a.ipynb#W0sZmlsZQ%3D%3D", False),
        ("git:/ws/a.txt?%7B%22path%22%3A%22a.txt%22%7D", False),
        ("jdt://contents/rt.jar/java.lang/String.class?=x", False),
        ("zipfile:///ws/a.zip::a.txt", False),
        ("vscode-vfs://github/owner/repo/a.txt", False),
        ("user@host:ws/a.txt", False),
        ("host:/ws/a.txt", False),
        ("a.txt", False),
        ("", False),
    ],
    ids=lambda value: f"E22 {value}" if isinstance(value, str) else "",
)
async def test_e22_documents_of_other_schemes_are_no_workspace_files(
    root: Path, uri: str, is_held: bool
) -> None:
    async with at_fault(root) as scene:
        text = "password\n" + TEXT
        scene.send(opened(uri, "word\n" + TEXT), changed(uri, 2, replaced((0, 0), (0, 0), "pass")))
        wanted = checksum(text) if is_held else None
        assert await scene.editor.command("test.checksums", uri) == [wanted]
        if not is_held:
            refused = await refusal_of(
                scene.editor, "stet.showContext", {"prompt": "x", "uri": uri}
            )
            assert refused.code == INVALID_PARAMS
        scene.send(
            notification("textDocument/didSave", {"textDocument": {"uri": uri}, "text": text}),
            closed(uri),
        )
        await scene.survives()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("file:///c%3A/x/b.txt", "file:///c:/x/b.txt"),
        ("file:///x/%41.txt", "file:///x/A.txt"),
        ("file:///x/%c3%a9.txt", "file:///x/%C3%A9.txt"),
        ("file:///x/a%20b.txt", "file:///x/a b.txt"),
        ("file:///C:/x/b.txt", "file:///c:/x/b.txt"),
        ("file:///C%3A/x/b.txt", "file:///c%3a/x/b.txt"),
        ("file://SERVER/share/b.txt", "file://server/share/b.txt"),
    ],
    ids=[
        "E23 colon", "E23 letter", "E23 hexadecimal digits", "E23 space", "E24 drive",
        "E24 drive and colon", "E25 server",
    ],
)  # fmt: skip
async def test_spellings_of_one_document_are_one_document(
    root: Path, first: str, second: str
) -> None:
    async with at_fault(root) as scene:
        scene.send(opened(first, "ne\n"), changed(second, 2, replaced((0, 0), (0, 0), "o")))
        wanted = checksum("one\n")
        assert await scene.editor.command("test.checksums", first, second) == [wanted, wanted]
        scene.send(closed(second))
        assert await scene.editor.command("test.checksums", first, second) == [None, None]
        await scene.survives()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("file:///x/a%2541.txt", "file:///x/a%41.txt"),
        ("file:///x/a%252F.txt", "file:///x/a%2F.txt"),
        ("file:///X/b.txt", "file:///x/b.txt"),
        ("file:///C:/X/b.txt", "file:///c:/x/b.txt"),
        ("file://server/share/b.txt", "file:///share/b.txt"),
        ("file://server/share/b.txt", "file://other/share/b.txt"),
    ],
    ids=[
        "E23 %25 twins",
        "E23 %25 slashes",
        "E23 letters",
        "E24 no drive",
        "E25 UNC or not",
        "E25 servers",
    ],
)
async def test_names_that_look_alike_are_two_documents(root: Path, first: str, second: str) -> None:
    async with at_fault(root) as scene:
        scene.send(opened(first, "1"), opened(second, "2"), changed(second, 2, {"text": "3"}))
        scene.reads("1", uri=first)
        scene.reads("3", uri=second)
        await scene.holds()
        scene.send(closed(first))
        scene.closed(first)
        await scene.survives()


async def test_e26_file_reached_by_a_link_is_another_document(root: Path) -> None:
    (root / "real").mkdir()
    (root / "real" / "b.txt").write_text(TEXT)
    (root / "link").symlink_to("real")
    async with at_fault(root) as scene:
        editor = scene.editor
        real, link = editor.open("real/b.txt"), editor.open("link/b.txt")
        [hunk] = await propose(editor, {"edit": "real/b.txt", "changes": [[OLD, NEW]]})
        editor.change(link, "two", "zwei")
        await scene.holds(**{hunk: "pending"})
        await editor.command("stet.accept", {"hunk": hunk})
        await wait_for_states(editor, **{hunk: "accepted"})
        assert editor.text(real) == TEXT.replace(OLD, NEW)
        assert editor.text(link) == TEXT.replace("two", "zwei")
        editor.save(real)
        await scene.survives(**{hunk: "accepted"})
