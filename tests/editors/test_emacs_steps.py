"""The twelve steps of a review in real Emacs, each on a screen written by hand."""

from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors import steps
from tests.editors.emacs_screen import COLOURS, EmacsScreen
from tests.parts.emacs import ensure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]
INIT = """
(setq message-truncate-lines nil inhibit-startup-echo-area-message (user-login-name))
(setq-default eglot-workspace-configuration '(:stet (:agent (:disabledTools []))))
"""


def test_the_twelve_steps_of_a_review(part: Part, tmp_path: Path) -> None:
    held = tmp_path / "go on"
    model = steps.script(str(held))
    size = (80, 52)
    screen = EmacsScreen(part(ensure), tmp_path, steps.TEXTS, model, init=COLOURS + INIT, size=size)
    try:
        propose(screen)
        propose_files(screen)
        decide(screen)
        talk(screen, held)
        screen.editor.press("C-x C-s").wait("(not (buffer-modified-p))", "it is saved")
        screen.editor.quit()
        screen.begin("many.txt").press("C-a")
        check(screen, "12_reopened")
        assert (screen.editor.root / "pet.txt").read_text() == steps.PET.replace("cat", "cow")
    finally:
        screen.editor.close()


def propose(screen: EmacsScreen) -> None:
    """Ask for hunks: a word, a sentence, forty lines, thirty hunks."""
    editor = screen.editor
    ask(screen, steps.RENAME)
    check(screen, "01_rename")
    editor.visit("wind.md").served()
    ask(screen, steps.CALM)
    check(screen, "02_calm")
    editor.visit("old.txt").served()
    ask(screen, steps.SHORTEN)
    editor.wait_for_hunks(1)
    editor.press("C-c x n")
    check(screen, "03_shorten")
    editor.visit("many.txt").served()
    ask(screen, steps.CAPITALS)
    check(screen, "04_capitals")


def propose_files(screen: EmacsScreen) -> None:
    """Ask for a new, a moved and a deleted file; the deletion asks a question."""
    editor = screen.editor
    ask(screen, steps.FILES)
    check(screen, "05_question")
    editor.prompt("C-c x q", "Delete")
    check(screen, "05_deleted_file")
    assert not (editor.root / "gone.txt").exists()
    editor.visit("name.txt").served().press("C-c x n")
    check(screen, "05_new_file")
    editor.press("C-c x p")
    check(screen, "05_moved_file")


def decide(screen: EmacsScreen) -> None:
    """Accept a hunk, reject one, undo the accept, and type over the hunk."""
    editor = screen.editor
    editor.visit("pet.txt").press("C-c x n C-c x y")
    check(screen, "06_accepted")
    editor.visit("wind.md").press("C-c x n")
    editor.prompt("C-c x k", steps.REASON)
    check(screen, "07_rejected")
    editor.visit("pet.txt").press("C-_")
    check(screen, "08_undone")
    editor.press("C-a M-f C-f M-d").type("cow")
    check(screen, "09_conflict")


def talk(screen: EmacsScreen, held: Path) -> None:
    """Ask for a long answer, and go on in its chat, where the agent is steered."""
    editor = screen.editor
    ask(screen, steps.EXPLAIN)
    check(screen, "10_explained")
    editor.press("C-x o").wait("(eq major-mode 'stet-chat-mode)", "the chat is beside it")
    editor.type(steps.GO_ON).press("C-c C-c").terminal.wait_for("## Stet (t7)")
    editor.type(steps.SHORTER).press("C-c C-c")
    editor.terminal.wait(lambda rows: rows.count("## Stet (t7)") == 2, "the steering is placed")
    held.touch()
    check(screen, "11_steered")
    editor.press("C-x o").wait('(equal (buffer-name) "pet.txt")', "back in the code")


def ask(screen: EmacsScreen, prompt: str) -> None:
    screen.editor.prompt("C-c x a", prompt)


def check(screen: EmacsScreen, name: str) -> None:
    screen.check_whole(f"steps/{name}")
