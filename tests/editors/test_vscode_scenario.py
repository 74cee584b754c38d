"""The scenario of all editors in real VS Code, with its keys, menus and clicks, started twice."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.editors import scenario as given
from tests.editors.scenario import ADD, AMOUNT, EMPTY, LABEL, NAMES, ROUNDED, SHOWN, Change
from tests.editors.shown import Shown
from tests.editors.vscode import CANCEL, STATUS, VSCode
from tests.editors.vscode_install import Installed, Start
from tests.editors.vscode_screen import Screen
from tests.parts.code_server import VSCODE as VERSION

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def shown() -> Shown:
    return Shown("vscode", f"VS Code {VERSION}")


def test_the_scenario_ends_with_the_same_bytes_as_in_every_editor(
    screen: Screen, vscode_installed: Installed, tmp_path: Path, shown: Shown
) -> None:
    root = tmp_path / "work"
    given.write_workspace(root)
    begin = Start(vscode_installed, tmp_path, root, given.script(str(tmp_path / "hold")))
    with running(screen, begin) as editor:
        editor.open("cart.py")
        review_two_files(editor, shown)
        undo_in_the_editor(editor, shown)
        answer_a_question(editor, shown)
        carry_out_a_comment(editor, shown)
        editor.go_to("stock.py")
        ask(editor, given.MORE)
        editor.wait_for_status("Stet: 2 hunks")
        cancel_a_turn(editor, shown)
        editor.save_all()
    assert given.files_in(root)["cart.py"] == given.END["cart.py"]
    with running(screen, begin) as editor:
        editor.open("stock.py", status="Stet: 2 hunks")
        accept(editor, ADD, given.STOCK)
        editor.wait_for_status("Stet: 1 hunk")
        editor.save_all()
    assert given.files_in(root) == given.END
    shown.check()


@contextmanager
def running(screen: Screen, begin: Start) -> Iterator[VSCode]:
    editor = VSCode(screen, begin)
    try:
        yield editor
    finally:
        editor.close()


def ask(editor: VSCode, prompt: str) -> None:
    editor.stet("a")
    editor.fill(prompt)


def accept(editor: VSCode, change: Change, text: str) -> str:
    """Accept a hunk with a key in a file with this text; wait for the new text and return it."""
    editor.click_line(change.old)
    editor.stet("y")
    after = change.within(text)
    editor.wait_for_text(after)
    return after


def review_two_files(editor: VSCode, shown: Shown) -> None:
    ask(editor, given.TIDY)
    editor.wait_for_status("Stet: 4 hunks")
    shown.saw("status", "status bar")
    editor.wait_for_toast(given.ENDS[0])
    shown.saw("notification", "message")
    lenses = editor.see(f'.codelens-decoration:has-text("Accept: {LABEL.summary}")')
    assert given.EMPTY.summary not in lenses
    shown.saw("lens", "above the hunk")
    editor.wait_for_text(given.CART)
    editor.do(lambda page: page.wait_for_selector(".glyph-margin-widgets .cgmr"))
    shown.saw("diagnostics", "drawn into the text")
    editor.shot("review")
    text = accept(editor, LABEL, given.CART)
    shown.saw("accept", "`Alt+A y`")
    editor.keys("Control+Home")
    editor.type(given.TYPED_LINE)
    text = given.TYPED_LINE + text
    editor.wait_for_text(text)
    editor.wait_for_status("Stet: 3 hunks")
    accept(editor, AMOUNT, text)
    editor.wait_for_status("Stet: 2 hunks")
    editor.stet("ArrowDown")
    editor.do(lambda page: page.wait_for_selector('.tab.active[data-resource-name="stock.py"]'))
    shown.saw("next", "`Alt+A down`")
    editor.wait_for_text(given.STOCK)
    editor.click_line(EMPTY.old)
    editor.stet("n")
    editor.fill("")
    editor.wait_for_status("Stet: 1 hunk")
    editor.wait_for_text(given.STOCK)


def undo_in_the_editor(editor: VSCode, shown: Shown) -> None:
    accept(editor, NAMES, given.STOCK)
    editor.wait_for_status("Stet")
    editor.keys("Control+z")
    editor.wait_for_text(given.STOCK)
    shown.saw("undo", "`Ctrl+Z`")
    editor.wait_for_status("Stet: 1 hunk")
    editor.click_line(NAMES.old)
    editor.stet("n")
    editor.fill("")
    editor.wait_for_status("Stet")


def answer_a_question(editor: VSCode, shown: Shown) -> None:
    editor.go_to("cart.py")
    ask(editor, given.SIGN)
    editor.wait_for_toast(given.QUESTION)
    editor.click(f'.notification-toast .monaco-button:has-text("{given.ANSWER}")')
    shown.saw("question", "message with buttons")
    editor.wait_for_status("Stet: 1 hunk")
    accept(editor, SHOWN, cart(LABEL, AMOUNT))
    editor.wait_for_status("Stet")


def cancel_a_turn(editor: VSCode, shown: Shown) -> None:
    ask(editor, given.LONG)
    editor.wait(f"() => document.querySelector({STATUS!r})?.innerText.includes('round 1')")
    shown.saw("progress", "status bar")
    editor.shot("running")
    editor.click(CANCEL)
    editor.do(lambda page: page.wait_for_selector(CANCEL, state="hidden"))
    editor.wait_for_status("Stet: 2 hunks")
    shown.saw("cancel", "button in the status bar")


def carry_out_a_comment(editor: VSCode, shown: Shown) -> None:
    editor.click_line(given.COMMENTED)
    editor.keys("End")
    editor.type(given.COMMENT)
    editor.action(given.COMMENT_ACTION)
    shown.saw("menu", "list")
    editor.wait_for_status("Stet: 1 hunk")
    text = cart(LABEL, AMOUNT, SHOWN)
    text = text.replace(f"{given.COMMENTED}\n", f"{given.COMMENTED}{given.COMMENT}\n")
    accept(editor, ROUNDED, text)
    editor.wait_for_status("Stet")


def cart(*accepted: Change) -> str:
    """Return the text of `cart.py` with these changes accepted and the line typed."""
    text = given.TYPED_LINE + given.CART
    for change in accepted:
        text = change.within(text)
    return text
