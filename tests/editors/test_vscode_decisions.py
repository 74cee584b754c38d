"""Decisions that reach further than the hunk at the cursor, in real VS Code."""

import json
from typing import Any

import pytest

from tests.editors.scripts import edit
from tests.editors.test_vscode_hunks import DRAWN
from tests.editors.test_vscode_keys import wait_for_offer
from tests.editors.vscode import VSCode
from tests.editors.vscode_session import Starts

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

TEXT = "one\ntwo\n\nthree\n"
EDITS = (
    edit("notes.txt", "one\n", "1\n", "Write a digit"),
    edit("notes.txt", "three\n", "new\nthree\n", "Add a line"),
)


def turn(*calls: dict[str, Any]) -> list[dict[str, Any]]:
    done = {"name": "done", "arguments": {"summary": "It is done."}}
    return [{"tool_calls": [*calls]}, {"tool_calls": [done]}]


def begin(vscode: Starts, *turns: list[dict[str, Any]], **files: str) -> VSCode:
    replies = [reply for one in turns for reply in one]
    named = {name.replace("_", "."): text for name, text in files.items()}
    settings: dict[str, list[str]] = {"stet.agent.disabledTools": []}
    return vscode({"notes.txt": TEXT, **named}, script=json.dumps(replies), settings=settings)


def ask(editor: VSCode, status: str) -> None:
    editor.stet("a")
    editor.fill("Change it")
    editor.wait_for_status(status)


def test_next_hunk_stops_where_the_keys_and_the_palette_decide(vscode: Starts) -> None:
    below = edit("notes.txt", "three\n", "3\n", "Write another digit")
    editor = begin(vscode, [{"tool_calls": [*EDITS]}, *turn(below)])
    ask(editor, "Stet: 3 hunks")
    editor.keys("Control+Home")
    editor.stet("ArrowDown")
    editor.see('[id="status.editor.selection"]:has-text("Ln 4, Col 1")')
    wait_for_offer(editor, {"Accept Hunk", "Reject Hunk"})
    editor.stet("y")  # of the two at the line, the one that is drawn above
    editor.wait_for_text("one\ntwo\n\nnew\nthree\n")


def test_a_replaced_hunk_is_announced_and_restored_by_a_key(vscode: Starts) -> None:
    editor = begin(
        vscode, turn(EDITS[0]), turn(edit("notes.txt", "one\n", "uno\n", "Write Italian"))
    )
    ask(editor, "Stet: 1 hunk")
    editor.wait(f"() => ({DRAWN})().ghosts.flat().includes('→ 1')")
    ask(editor, "Stet: 1 hunk")
    editor.wait(f"() => ({DRAWN})().ghosts.flat().includes('→ uno')")
    editor.wait_for_toast("Replaced 1 earlier hunk in notes.txt; restore it with Stet: Restore")
    editor.shot("replaced")
    editor.keys("Control+Home")
    editor.stet("b")
    editor.wait(f"() => ({DRAWN})().ghosts.flat().includes('→ 1')")
    editor.wait_for_status("Stet: 1 hunk")


def test_an_accept_names_the_other_files_that_it_leaves_unsaved(vscode: Starts) -> None:
    others = [edit(name, "a\n", "b\n", f"Change {name}") for name in ("x.txt", "y.txt")]
    reads = [
        {"tool_calls": [{"name": "read_file", "arguments": {"file": name}}]}
        for name in ("x.txt", "y.txt")
    ]
    editor = begin(vscode, reads, turn(EDITS[0], *others), x_txt="a\n", y_txt="a\n")
    ask(editor, "Stet: 3 hunks")
    editor.palette("Stet: Accept All Hunks")
    editor.wait_for_toast("Stet: 2 other files changed, unsaved: x.txt, y.txt")
    editor.wait_for_status("Stet")
    editor.shot("other-files")


def test_a_deleted_file_is_restored_from_any_file(vscode: Starts) -> None:
    read, delete = (
        {"name": name, "arguments": {"file": "gone.txt"}} for name in ("read_file", "delete_file")
    )
    editor = begin(vscode, turn(read, delete), gone_txt="no longer needed\n")
    editor.stet("a")
    editor.fill("Tidy up")
    editor.wait_for_toast("Delete gone.txt? It moves to Stet's trash; undo with \"Undo Accepted")
    editor.click('.notification-toast .monaco-button:has-text("Delete")')
    row = '.explorer-folders-view .monaco-list-row[aria-label^="gone.txt"]'
    editor.do(lambda page: page.wait_for_selector(row, state="detached"))
    editor.wait_for_status("Stet")
    editor.stet("u")
    editor.pick("Delete gone.txt")
    editor.see(row)
    assert editor.on_disk("gone.txt") == "no longer needed\n"


def test_chats_are_listed_by_title_and_opened(vscode: Starts) -> None:
    editor = begin(vscode, [{"text": "Yes."}], [{"text": "No."}])
    editor.stet("a")
    editor.fill("Is this the first question?")
    editor.wait_for_toast("Yes.")
    editor.stet("Shift+t")
    editor.see('.tab.active[data-resource-name^="chat-"]')
    editor.do(lambda page: page.wait_for_selector(".editor-instance .monaco-editor.focused"))
    editor.see('.editor-actions [aria-label*="Send Chat Message"]')
    editor.type("Is this another?")
    editor.keys("Control+Enter")
    editor.wait(f"() => ({CHAT})().includes('No.')")
    editor.stet("o")
    editor.see('.quick-input-list .monaco-list-row:has-text("Is this another?"):has-text("1 turn")')
    editor.shot("chats")
    editor.pick("Is this the first question?")
    editor.see('.tab.active[data-resource-name$="-main.md"]')
    editor.wait(f"() => ({CHAT})().includes('Yes.')")


CHAT = """() => [...document.querySelectorAll('.editor-instance .view-line')]
  .map((line) => line.textContent)"""
"""A function of the page that returns the lines of all editors."""


def test_an_answer_streams_beside_without_the_focus(vscode: Starts) -> None:
    answer = "".join(f"Sentence number {n} of a long answer.\n\n" for n in range(60))
    editor = begin(vscode, [{"text": answer}])
    editor.stet("a")
    editor.fill("Explain it")
    editor.wait_for_preview("completed")
    editor.type("typed ")
    editor.wait(f"() => ({CHAT})().some((line) => line.includes('typed'))")
    editor.shot("preview")
