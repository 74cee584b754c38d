"""`stet.review`: editing and saving the page decides about its hunks."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from stet.lsp.presentation.diff_documents import MAX_CLOSED
from tests.support.editor import FakeEditor
from tests.support.live_turns import (
    calls,
    done,
    edit,
    run,
    run_answering,
    scripted,
    states,
    wait_for_states,
)

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"
CLIENTS = ["neovim", "vscode", "helix", "eglot"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    return folder


@asynccontextmanager
async def reviewing(
    root: Path, tmp_path: Path, client: str = "neovim"
) -> AsyncIterator[tuple[FakeEditor, str, Path]]:
    """Start an editor with three hunks and their page open; yield the page's URI and path too."""
    env = scripted(
        tmp_path,
        calls(*(edit("a.txt", old, new) for old, new in (("two", "2"), ("five", "5"), ("eight", "8")))),
        done(),
    )  # fmt: skip
    async with FakeEditor.start(root, client=client, env=env) as editor:
        await run(editor, "Digits", uri=editor.open("a.txt"))
        uri, path = await opened(editor)
        yield editor, uri, path


async def opened(editor: FakeEditor, **arguments: object) -> tuple[str, Path]:
    """Open the page in the editor, like an editor that is asked to show it."""
    uri = (await editor.command("stet.review", arguments))["uri"]
    await editor.wait_until(lambda: [each for each in editor.shown_documents if each.uri == uri])
    editor.open(uri)
    return uri, Path(uri.removeprefix("file://"))


def save(editor: FakeEditor, uri: str, change: Callable[[str], str]) -> None:
    """Edit the page and save it; its contents on the disk don't matter then."""
    old, new = editor.text(uri), change(editor.text(uri))
    if old != new:
        editor.change(uri, old, new)
    identifier = lsp.TextDocumentIdentifier(uri)
    editor.text_document_did_save(lsp.DidSaveTextDocumentParams(identifier))


def without(text: str, hunk: str) -> str:
    """Return the page's text without a hunk."""
    return re.sub(rf"@@ [^\n]* @@ {hunk} [^\n]*\n(?:[ +\-][^\n]*\n)*", "", text)


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_hunk_that_is_deleted_is_rejected_and_one_that_is_edited_is_amended(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with reviewing(root, tmp_path, client) as (editor, uri, path):
        assert path.stat().st_mode & 0o777 == 0o600
        assert "--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,4 @@ h1 " in editor.text(uri)
        save(editor, uri, lambda text: without(text, "h1").replace("+5\n", "+fünf\n+V\n"))
        assert await editor.wait_for_message("Stet: 1 hunk rejected, 1 hunk amended.")
        assert await states(editor) == {"h1": "rejected", "h2": "pending", "h3": "pending"}
        await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, h2="accepted", h3="accepted")
        assert editor.text("a.txt") == TEXT.replace("five", "fünf\nV").replace("eight", "8")


async def test_lines_that_are_added_on_the_page_end_as_those_of_the_file(
    root: Path, tmp_path: Path
) -> None:
    (root / "b.txt").write_bytes(b"one\r\ntwo")
    env = scripted(tmp_path, calls(edit("b.txt", "two", "2")), done())
    async with FakeEditor.start(root, env=env) as editor:
        await run(editor, "Digits", uri=editor.open("b.txt"))
        uri, _ = await opened(editor)
        save(editor, uri, lambda text: text.replace("+2\n", "+2\n+II\n"))
        assert await editor.wait_for_message("1 hunk amended")
        await editor.command("stet.accept", {"all": True})
        await wait_for_states(editor, h1="accepted")
        assert editor.text("b.txt") == "one\r\n2\r\nII"


async def test_what_is_typed_counts_when_it_is_saved_and_only_once(
    root: Path, tmp_path: Path
) -> None:
    async with reviewing(root, tmp_path) as (editor, uri, _):
        text = editor.text(uri)
        editor.change(uri, text, without(text, "h1"))
        assert await states(editor) == dict.fromkeys(("h1", "h2", "h3"), "pending")
        save(editor, uri, lambda text: text)
        await wait_for_states(editor, h1="rejected")
        await editor.command("stet.restore", "h1")
        save(editor, uri, lambda text: text.replace("+5\n", "+V\n"))
        await editor.wait_for_message("1 hunk amended")
        save(editor, uri, lambda text: text.replace("+V\n", "+5\n"))
        await wait_for_states(editor, h2="pending")
        shown = {one["hunk"]: one["new"] for one in await editor.command("stet.proposals")}
        assert shown["h2"] == "5\n"


async def test_other_lines_that_were_changed_leave_their_hunk_alone(
    root: Path, tmp_path: Path
) -> None:
    async with reviewing(root, tmp_path) as (editor, uri, _):
        save(editor, uri, lambda text: without(text, "h3").replace("-two\n", "-zwei\n"))
        message = await editor.wait_for_message("1 hunk rejected")
        assert "h1 unchanged: only its `+` lines can be edited" in message
        assert await states(editor) == {"h1": "pending", "h2": "pending", "h3": "rejected"}


async def test_a_hunk_that_has_become_another_is_not_amended(root: Path, tmp_path: Path) -> None:
    async with reviewing(root, tmp_path) as (editor, uri, _):
        editor.change("a.txt", "two\n", "two  \n")
        await editor.command("stet.accept", {"hunk": "h2"})
        await wait_for_states(editor, h2="accepted")
        save(editor, uri, lambda text: without(text.replace("+2\n", "+II\n"), "h2"))
        message = await editor.wait_for_message("unchanged")
        assert "h1 unchanged: the hunk has changed since the review was opened" in message
        assert await states(editor) == {"h1": "conflict", "h2": "accepted", "h3": "pending"}


async def test_a_conflict_is_solved_on_the_page(root: Path, tmp_path: Path) -> None:
    async with reviewing(root, tmp_path) as (editor, first, _):
        editor.change("a.txt", "two\n", "zwei\n")
        await editor.wait_for_diagnostics(
            "a.txt", lambda found: "conflict" in [d.code for d in found]
        )
        uri, _ = await opened(editor)
        assert uri != first
        assert "h1 (conflict) " in editor.text(uri)
        save(editor, uri, lambda text: text.replace("+2\n", "+2 (zwei)\n"))
        await wait_for_states(editor, h1="pending")
        await editor.command("stet.accept", {"hunk": "h1"})
        await wait_for_states(editor, h1="accepted")
        assert editor.text("a.txt") == TEXT.replace("two", "2 (zwei)")


async def test_a_new_file_is_amended_and_a_removal_is_only_taken_or_left(
    root: Path, tmp_path: Path
) -> None:
    env = scripted(
        tmp_path,
        calls(
            ("create_file", {"file": "new.txt", "content": "a\nb\n"}),
            ("delete_file", {"file": "a.txt"}),
        ),
        done(),
    )
    settings: dict[str, object] = {"agent": {"disabledTools": []}}
    async with FakeEditor.start(root, settings=settings, env=env) as editor:
        # An unsaved file can't be removed yet: the accepted removal is pending.
        editor.type(editor.open("a.txt"), 0, 0, "x")
        await run_answering(editor, "Digits", "Delete", uri=editor.uri("a.txt"))
        uri, _ = await opened(editor)
        save(editor, uri, lambda text: without(text.replace("+a\n+b\n", "+A\n+b\n"), "h2"))
        await wait_for_states(editor, h1="pending", h2="rejected")
        await editor.command("stet.accept", "h1")
        await wait_for_states(editor, h1="accepted")
        assert editor.text("new.txt") == "A\nb\n"


async def test_a_page_that_lost_its_first_line_does_nothing(root: Path, tmp_path: Path) -> None:
    async with reviewing(root, tmp_path) as (editor, uri, _):
        save(editor, uri, lambda text: "")
        await editor.wait_for_message("Nothing was changed")
        assert set((await states(editor)).values()) == {"pending"}


async def test_the_page_is_no_context_and_nobodys_place(root: Path, tmp_path: Path) -> None:
    async with reviewing(root, tmp_path) as (editor, uri, path):
        editor.focus("a.txt")
        editor.focus(uri)
        shown = await editor.command("stet.showContext", {"prompt": "What is this?"})
        reported = "\n".join(section["text"] for section in shown["sections"])
        assert path.name not in reported
        assert "Stet review" not in reported
        assert "a.txt" in reported
        assert await editor.actions(uri, "# Stet review") == []


async def test_a_page_of_nothing_is_refused(root: Path, tmp_path: Path) -> None:
    async with reviewing(root, tmp_path) as (editor, _, _):
        with pytest.raises(Exception, match="no pending hunks there"):
            await editor.command("stet.review", {"turn": "t9"})
        with pytest.raises(Exception, match="there is no hunk 'h9'"):
            await editor.command("stet.review", {"hunk": "h9"})


async def test_a_page_is_known_as_long_as_it_is_open_and_not_long_after_that(
    root: Path, tmp_path: Path
) -> None:
    async with reviewing(root, tmp_path) as (editor, first, _):
        second, path = await another(editor, first, "+zwei\n")
        text = editor.text(second)
        editor.close(second)
        for n in range(MAX_CLOSED):
            editor.close((await another(editor, first, f"+at {n}\n"))[0])
        path.write_text(text)
        editor.open(second)
        save(editor, second, lambda text: without(text, "h2"))
        assert await editor.wait_for_message("This review is from another session")
        save(editor, first, lambda text: without(text, "h3"))
        await wait_for_states(editor, h1="pending", h2="pending", h3="rejected")


async def another(editor: FakeEditor, page: str, line: str) -> tuple[str, Path]:
    """Open a page of the same hunks, after a change of one line of the first hunk."""
    save(editor, page, lambda text: re.sub(r"(?m)^\+(?!\+\+ ).*\n", line, text, count=1))
    return await opened(editor)


async def test_accepting_page_accepts_what_remains_and_rejects_what_is_deleted(
    root: Path, tmp_path: Path
) -> None:
    async with reviewing(root, tmp_path) as (editor, _, _):
        uri, _ = await opened(editor, acceptOnSave=True)
        head = editor.text(uri).splitlines()
        assert head[0].endswith(": 3 hunks left")
        assert "what remains is accepted" in head[3]
        save(editor, uri, lambda text: without(text, "h1").replace("+5\n", "+V\n"))
        await wait_for_states(editor, h1="rejected", h2="accepted", h3="accepted")
        assert await editor.wait_for_message("Stet: 2 hunks accepted, 1 hunk rejected.")
        assert editor.text("a.txt") == TEXT.replace("five", "V").replace("eight", "8")


async def test_accepting_page_that_is_unchanged_says_first_what_it_will_do(
    root: Path, tmp_path: Path
) -> None:
    async with reviewing(root, tmp_path) as (editor, _, _):
        uri, _ = await opened(editor, acceptOnSave=True)
        await editor.command("stet.accept", {"hunk": "h2"})
        await wait_for_states(editor, h2="accepted")
        save(editor, uri, lambda text: text)
        expected = "you changed nothing on this page. Save it again to accept its 2 hunks."
        assert await editor.wait_for_message(expected)
        assert await states(editor) == {"h1": "pending", "h2": "accepted", "h3": "pending"}
        save(editor, uri, lambda text: text)
        await wait_for_states(editor, h1="accepted", h2="accepted", h3="accepted")


async def test_accepting_page_that_is_damaged_accepts_nothing(root: Path, tmp_path: Path) -> None:
    async with reviewing(root, tmp_path) as (editor, _, _):
        uri, _ = await opened(editor, acceptOnSave=True)
        save(editor, uri, lambda text: without(text, "h3").replace("-two\n", "-zwei\n"))
        message = await editor.wait_for_message("1 hunk rejected")
        assert "h1 unchanged: only its `+` lines can be edited" in message
        assert "the rest unchanged: nothing is accepted" in message
        assert await states(editor) == {"h1": "pending", "h2": "pending", "h3": "rejected"}
        assert editor.text("a.txt") == TEXT


async def test_accepting_page_leaves_conflicts_and_changed_hunks(
    root: Path, tmp_path: Path
) -> None:
    async with reviewing(root, tmp_path) as (editor, _, _):
        uri, _ = await opened(editor, acceptOnSave=True)
        editor.change("a.txt", "two\n", "zwei\n")
        await editor.wait_for_diagnostics(
            "a.txt", lambda found: "conflict" in [d.code for d in found]
        )
        save(editor, uri, lambda text: without(text, "h3"))
        message = await editor.wait_for_message("1 hunk accepted, 1 hunk rejected")
        assert "h1 unchanged: the hunk has changed since the review was opened" in message
        await wait_for_states(editor, h1="conflict", h2="accepted", h3="rejected")
        second, _ = await opened(editor, acceptOnSave=True)
        save(editor, second, lambda text: text)
        save(editor, second, lambda text: text)
        assert await editor.wait_for_message("Stet: h1 unchanged: ")
        assert (await states(editor))["h1"] == "conflict"


async def test_accepting_page_leaves_protected_files(root: Path, tmp_path: Path) -> None:
    (root / "Makefile").write_text("all:\n\techo\n")
    read = calls(("read_file", {"file": "Makefile"}))
    replies = read, calls(edit("a.txt", "two", "2"), edit("Makefile", "echo", "ls")), done()
    async with FakeEditor.start(root, env=scripted(tmp_path, *replies)) as editor:
        await run(editor, "Digits", uri=editor.open("a.txt"))
        uri, _ = await opened(editor, acceptOnSave=True)
        protected = next(
            h["hunk"] for h in await editor.command("stet.proposals") if h["protected"]
        )
        for _ in range(2):
            save(editor, uri, lambda text: text)
        message = await editor.wait_for_message("1 hunk accepted")
        assert f"{protected} unchanged: its file is protected: accept it separately" in message
        await editor.wait_until(lambda: editor.text("a.txt") == TEXT.replace("two", "2"))
        assert (await states(editor))[protected] == "pending"
