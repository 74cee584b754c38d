"""The twelve steps of a review in real VS Code, each compared with a window written by hand.

One session with the user's keys and menus. The windows are in `screens/vscode/steps`.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.editors import steps
from tests.editors.painted import expected
from tests.editors.vscode import STATUS, VSCode
from tests.editors.vscode_install import Installed, Start
from tests.editors.vscode_painted import painted_window
from tests.editors.vscode_screen import Screen

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SETTINGS = {
    "stet.agent.disabledTools": [],
    "[markdown]": {"editor.wordWrap": "wordWrapColumn"},
    "editor.wordWrapColumn": 54,
    "editor.stickyScroll.enabled": False,
    "workbench.colorTheme": "Default Dark Modern",
}
SIZE = {"width": 1200, "height": 620}
FRAMES = 600
"""The number of frames within which a window must be as expected: ten seconds at least."""
WITH_CONFLICT = "Stet: 34 hunks, 1 conflict"


def test_each_step_of_a_review_shows_what_it_should(
    screen: Screen, vscode_installed: Installed, tmp_path: Path
) -> None:
    root, hold = tmp_path / "work", tmp_path / "hold"
    (root / ".git").mkdir(parents=True)
    for name, text in steps.TEXTS.items():
        (root / name).write_text(text)
    script = json.dumps(steps.script(str(hold)))
    start = Start(vscode_installed, tmp_path, root, script, SETTINGS)
    with running(screen, start) as editor:
        editor.open("pet.txt")
        propose_edits(editor)
        propose_files(editor)
        decide(editor)
        make_a_conflict(editor)
        read_an_answer(editor)
        chat(editor, hold)
        editor.save_all()
    with running(screen, start) as editor:
        editor.open("many.txt", status=WITH_CONFLICT)
        editor.keys("Control+Home")
        check(editor, "12_reopened")


@contextmanager
def running(screen: Screen, start: Start) -> Iterator[VSCode]:
    editor = VSCode(screen, start)
    try:
        editor.do(lambda page: page.set_viewport_size(SIZE))  # type: ignore[arg-type]
        yield editor
    finally:
        editor.close()


def check(editor: VSCode, step: str) -> None:
    """Wait until the window is as expected; fail with the last one otherwise."""
    wanted = expected(f"vscode/steps/{step}")
    rows = painted_window(editor)
    for _ in range(FRAMES):
        if rows == wanted:
            break
        editor.do(lambda page: page.evaluate("() => new Promise(requestAnimationFrame)"))
        rows = painted_window(editor)
    editor.shot(step)
    difference = "\n".join(unified_diff(wanted, rows, "expected", "shown", lineterm=""))
    assert not difference, f"step {step}\n{difference}"
    editor.palette("Notifications: Clear All Notifications")


def ask(editor: VSCode, prompt: str) -> None:
    editor.stet("a")
    editor.fill(prompt)


def propose_edits(editor: VSCode) -> None:
    ask(editor, steps.RENAME)
    check(editor, "01_rename")
    editor.go_to("wind.md")
    ask(editor, steps.CALM)
    check(editor, "02_calm")
    editor.go_to("old.txt")
    ask(editor, steps.SHORTEN)
    editor.wait_for_status("Stet: 3 hunks")
    editor.stet("ArrowDown")
    check(editor, "03_shorten")
    editor.go_to("many.txt")
    ask(editor, steps.CAPITALS)
    check(editor, "04_capitals")


def propose_files(editor: VSCode) -> None:
    editor.go_to("name.txt")
    ask(editor, steps.FILES)
    editor.click('.notification-toast .monaco-button:has-text("Delete")')
    check(editor, "05_files")
    editor.stet("ArrowDown")
    check(editor, "05_new_file")


def decide(editor: VSCode) -> None:
    """Accept, reject and undo; a decision is typed before the next hunk is reached."""
    editor.go_to("pet.txt")
    editor.keys("Control+Home")
    editor.stet("ArrowDown")
    editor.stet("y")
    check(editor, "06_accepted")
    editor.go_to("wind.md")
    editor.stet("ArrowDown")
    editor.stet("n")
    editor.fill(steps.REASON)
    check(editor, "07_rejected")
    editor.go_to("pet.txt")
    editor.keys("Control+z")
    check(editor, "08_undone")


def make_a_conflict(editor: VSCode) -> None:
    editor.keys("Home", *["ArrowRight"] * 4, "Control+Shift+ArrowRight")
    editor.type("cow")
    check(editor, "09_conflict")


def read_an_answer(editor: VSCode) -> None:
    ask(editor, steps.EXPLAIN)
    # A page that is being loaded is not looked at again and again.
    editor.wait_for_preview("completed")
    check(editor, "10_answer")


def chat(editor: VSCode, hold: Path) -> None:
    editor.stet("t")
    editor.see('.tab.active[data-resource-name^="chat-"]')
    editor.do(lambda page: page.wait_for_selector(".editor-instance .monaco-editor.focused"))
    # The button and the key appear together.
    editor.see('.editor-actions [aria-label*="Send Chat Message"]')
    editor.type(steps.GO_ON)
    editor.keys("Control+Enter")
    editor.wait(f"() => document.querySelector({STATUS!r})?.innerText.includes('round 1')")
    editor.stet("w")
    editor.fill(steps.SHORTER)
    hold.touch()
    editor.wait_for_status(WITH_CONFLICT)
    check(editor, "11_chat")
