"""The scenario of all editors in real Emacs with Eglot alone, with the keys of the README."""

from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors import scenario
from tests.editors.emacs import Emacs, Start, only_stet, start
from tests.editors.scenario import (
    ADD,
    AMOUNT,
    CART,
    COMMENT,
    COMMENT_ACTION,
    LABEL,
    NAMES,
    ROUNDED,
    SHOWN,
    STOCK,
    TYPED_LINE,
)
from tests.editors.shown import NO, Shown
from tests.parts.emacs import ensure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def test_the_scenario_of_all_editors_ends_with_its_bytes(part: Part, tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "shop"
    home.mkdir()
    scenario.write_workspace(root)
    script = home / "script.json"
    script.write_text(scenario.script(str(home / "never")))
    given = Start(part(ensure), home, root, script, path=only_stet(home))
    shown = Shown("emacs", f"Emacs {given.program.version.partition('.')[0]}")

    editor = start(given, "cart.py")
    try:
        _part_of_it_is_accepted(editor, shown)
        _a_question_is_answered(editor, shown)
        _a_comment_is_carried_out(editor, shown)
        editor.press("C-x b").type("stock.py").press("RET")
        editor.prompt("C-c x a", scenario.MORE)
        editor.wait_for_hunks(11, 16)
        _a_turn_is_cancelled(editor, shown)
        editor.press("C-x C-s").wait("(not (buffer-modified-p))", "stock.py is saved")
        editor.press("C-x b").type("cart.py").press("RET").press("C-x C-s")
        editor.wait('(and (equal (buffer-name) "cart.py") (not (buffer-modified-p)))')
        editor.quit()

        editor = start(given, "stock.py")
        editor.served().wait_for_hunks(11, 16)
        editor.line(12).press("C-c x y").wait_for_text(ADD.within(STOCK))
        editor.wait_for_hunks(16)
        editor.press("C-x C-s").wait("(not (buffer-modified-p))", "stock.py is saved")
        editor.quit()
    finally:
        editor.close()
    assert scenario.files_in(root) == scenario.END
    shown.check()


def _part_of_it_is_accepted(editor: Emacs, shown: Shown) -> None:
    """Run the first turn: four hunks; two files; accept, type, reject, undo."""
    editor.served().prompt("C-c x a", scenario.TIDY)
    editor.wait_for_hunks(4, 10)
    editor.reported(f"Stet: {scenario.ENDS[0]}")
    shown.saw("notification", "echo area")
    assert editor.text() == CART
    editor.line(5)
    rows = editor.terminal.wait_for(f"1 of 2: {LABEL.summary}  C-c x y accept, C-c x k reject")
    first = rows.index(f"- {LABEL.old.rstrip()}")
    assert rows[first + 1] == f"+ {LABEL.new.rstrip()}"
    shown.saw("diagnostics", "signs, lines in the text")
    shown.saw("hover", "in the text")
    editor.terminal.wait_for("[Stet: 4 pending]")
    shown.saw("status", "mode line")
    assert not editor.eval(
        "(cl-some (lambda (one) (overlay-get one 'before-string)) (overlays-at 1))"
    )
    shown.saw("lens", NO)
    shown.saw("preview", NO)

    editor.press("C-c x y").wait_for_text(LABEL.within(CART))
    shown.saw("accept", "key")
    editor.press("M-<").type(TYPED_LINE.rstrip()).press("RET")
    editor.wait_for_text(TYPED_LINE + LABEL.within(CART))
    editor.wait_for_hunks(11)
    editor.press("C-c x n").wait("(= (line-number-at-pos) 12)", "the next hunk")
    editor.press("C-c x y").wait_for_text(TYPED_LINE + AMOUNT.within(LABEL.within(CART)))
    editor.wait_for_hunks()

    editor.press("C-c x n").wait('(equal (buffer-name) "stock.py")', "the next hunk is elsewhere")
    shown.saw("next", "key")
    editor.wait("(= (line-number-at-pos) 5)", "at its line")
    editor.wait_for_hunks(4, 8)
    editor.prompt("C-c x k", "it is clearer as it is").wait_for_hunks(8)
    assert editor.text() == STOCK
    editor.press("C-c x n").wait("(= (line-number-at-pos) 9)", "the next hunk")
    editor.press("C-c x y").wait_for_text(NAMES.within(STOCK))
    editor.press("C-_").wait_for_text(STOCK)
    editor.wait_for_states("accepted", "accepted", "rejected", "pending")
    shown.saw("undo", "key")
    editor.wait_for_hunks(8)
    editor.prompt("C-c x k", "").wait_for_hunks()
    assert not editor.eval('(string-search "other file" (test-messages))')


def _a_question_is_answered(editor: Emacs, shown: Shown) -> None:
    """Run the second turn, which asks a question."""
    editor.press("C-x b").type("cart.py").press("RET")
    editor.wait('(equal (buffer-name) "cart.py")')
    editor.prompt("C-c x a", scenario.SIGN).reported(scenario.QUESTION)
    editor.reported("(answer: C-c x q)")
    shown.saw("question", "echo area, then a menu by key")
    editor.prompt("C-c x q", scenario.ANSWER).wait_for_hunks(16)
    editor.line(17).press("C-c x y").wait("(equal (test-hunks) [])", "it is accepted")
    editor.wait_for_text(_cart())


def _a_comment_is_carried_out(editor: Emacs, shown: Shown) -> None:
    """Run the third turn, which starts from a code action."""
    editor.press("M-> C-p C-e").type(COMMENT)
    with_comment = _cart().removesuffix("\n") + COMMENT + "\n"
    editor.wait_for_text(with_comment)
    editor.prompt("C-c x m", COMMENT_ACTION)
    shown.saw("menu", "list")
    editor.wait_for_hunks(20)
    editor.press("C-c x y").wait_for_text(ROUNDED.within(with_comment))


def _a_turn_is_cancelled(editor: Emacs, shown: Shown) -> None:
    """Cancel the last turn, which never ends by itself."""
    editor.prompt("C-c x a", scenario.LONG)
    editor.terminal.wait_for("[Stet: 2 pending, round 1 of 10")
    shown.saw("progress", "mode line")
    editor.press("C-c x x").reported("Stet: cancelled")
    shown.saw("cancel", "key")
    editor.terminal.wait_for("[Stet: 2 pending]")
    assert editor.command("stet.status")["turns"] == []
    editor.wait_for_hunks(11, 16)
    assert editor.text() == STOCK


def _cart() -> str:
    """Return the text of `cart.py` before the comment."""
    text = TYPED_LINE + CART
    for change in (LABEL, AMOUNT, SHOWN):
        text = change.within(text)
    return text
