"""The scenario of all editors in real Helix: with keys and arguments, or with menu and chat."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors import scenario as given
from tests.editors.helix import HelixEditor, Start
from tests.editors.scenario import ADD, AMOUNT, COUNT, EMPTY, LABEL, NAMES, ROUNDED, SHOWN, Change
from tests.editors.shown import Shown
from tests.parts import helix

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


Seen = Callable[[list[str]], bool]
"""Tells whether something is on the screen."""


def reported(text: str) -> Seen:
    """Look for the text in the message line."""
    return lambda screen: text in screen[-1]


def shown_anywhere(text: str) -> Seen:
    return lambda screen: any(text in line for line in screen)


def spins(screen: list[str]) -> bool:
    """Tell whether the status line shows a busy server."""
    return any("\u2800" <= letter <= "\u28ff" for letter in screen[-2])


class ByKeys:
    """Helix 25.07: a key runs a command with arguments."""

    config, accepted = "config.toml", "key"
    asked, at_work = "popup", "message line"

    def __init__(self, editor: HelixEditor) -> None:
        self.editor = editor

    def ask(self, prompt: str, until: Seen) -> None:
        self._type("a", prompt)
        self.editor.terminal.wait(until, f"what comes of {prompt!r}")

    def answer(self, text: str) -> None:
        self._type("q", text)

    def accept(self, change: Change) -> None:
        self._decide(change, "y")

    def reject(self, change: Change) -> None:
        self._decide(change, "n")

    def _type(self, key: str, text: str) -> None:
        terminal = self.editor.terminal
        self.editor.key(key)
        terminal.wait(lambda shown: shown[-1].endswith(' "'), "a command line")
        terminal.paste(f'{text}"')
        terminal.wait(lambda shown: shown[-1].endswith(f'{text}"'), "it is typed")
        terminal.keys("Enter")

    def _decide(self, change: Change, key: str) -> None:
        self.editor.go(self.editor.line_of(change.old.splitlines()[0]))
        self.editor.key(key)


class ByMenus:
    """Helix 25.01: questions are written in the chat, everything else is in the menu."""

    config, accepted = "config-25.01.toml", "menu"
    asked, at_work = "line below, chat", "spinner"

    def __init__(self, editor: HelixEditor) -> None:
        self.editor = editor

    def ask(self, prompt: str, until: Seen) -> None:
        self.editor.key("t")
        self.editor.wait_for_line("# Stet: main")
        self.editor.terminal.type("ge")
        self.editor.insert("A", prompt)
        self.editor.key("s")
        self.editor.terminal.wait(until, f"what comes of {prompt!r}")
        self.editor.command("buffer-close!")
        self.editor.terminal.wait(lambda shown: ".py" in shown[-2], "the file is shown")

    def answer(self, text: str) -> None:
        self.editor.choose(f"Stet: {text} (")

    def accept(self, change: Change) -> None:
        self.editor.go(self.editor.line_of(change.old.splitlines()[0]))
        self.editor.choose("Stet: Accept hunk")

    def reject(self, change: Change) -> None:
        self.editor.go(self.editor.line_of(change.old.splitlines()[0]))
        self.editor.choose("Stet: Reject hunk")


WAYS: dict[str, type[ByKeys | ByMenus]] = {"25.01": ByMenus, "25.07": ByKeys}


@pytest.mark.parametrize("series", WAYS)
def test_the_scenario_ends_with_the_same_bytes_as_in_every_editor(
    series: str, part: Part, tmp_path: Path
) -> None:
    way, program = WAYS[series], part(lambda: helix.ensure(series))
    shown = Shown(f"helix-{series}", f"Helix {series}")
    begin = Start(program, tmp_path, way.config)
    given.write_workspace(begin.root)
    begin.prepare(given.script(str(tmp_path / "never")))
    with running(begin, "cart.py") as editor:
        editor.wait_until_ready()
        user = way(editor)
        review_two_files(user, shown)
        undo_in_the_editor(user, shown)
        answer_a_question(user, shown)
        carry_out_a_comment(user, shown)
        editor.open("stock.py")
        user.ask(given.MORE, reported(given.ENDS[3]))
        editor.wait_for_marks(ADD.old.rstrip(), COUNT.old.rstrip())
        cancel_a_turn(user, shown)
        save_and_end(editor)
    assert given.files_in(begin.root)["cart.py"] == given.END["cart.py"]
    with running(begin, "stock.py") as editor:
        editor.wait_for_marks(ADD.old.rstrip(), COUNT.old.rstrip())
        way(editor).accept(ADD)
        editor.wait_for_line(ADD.new.rstrip())
        editor.wait_for_marks(COUNT.old.rstrip())
        save_and_end(editor)
    assert given.files_in(begin.root) == given.END
    shown.check()


@contextmanager
def running(begin: Start, file: str) -> Iterator[HelixEditor]:
    editor = begin.open(file)
    try:
        yield editor
    finally:
        editor.close()


def save_and_end(editor: HelixEditor) -> None:
    editor.command("write-all")
    editor.terminal.wait(lambda shown: "[+]" not in shown[-2], "it is saved")
    editor.command("quit-all!")
    editor.wait_for_end()


def review_two_files(user: ByKeys | ByMenus, shown: Shown) -> None:
    editor = user.editor
    user.ask(given.TIDY, reported(given.ENDS[0]))
    shown.saw("notification", "message line")
    editor.wait_for_marks(LABEL.old.rstrip(), AMOUNT.old.rstrip())
    editor.terminal.keys("g", "g")
    short = f"{LABEL.old.rstrip()}  {LABEL.summary}  -{LABEL.old.rstrip()}  +{LABEL.new.rstrip()}"
    editor.terminal.wait_for(short)
    editor.terminal.keys("]", "d")
    editor.terminal.wait_for(f"-{LABEL.old.rstrip()}", f"+{LABEL.new.rstrip()}")
    shown.saw("diagnostics", "mark, end of line, lines below")
    editor.terminal.capture(shown.editor)
    user.accept(LABEL)
    editor.wait_for_line(LABEL.new.rstrip())
    shown.saw("accept", user.accepted)
    editor.terminal.type("gg")
    editor.insert("O", given.TYPED_LINE.rstrip())
    editor.wait_for_marks(AMOUNT.old.rstrip())
    assert editor.line_of(AMOUNT.old.rstrip()) == 12
    user.accept(AMOUNT)
    editor.wait_for_line(AMOUNT.new.rstrip())
    editor.open("stock.py")
    editor.wait_for_marks(EMPTY.old.rstrip(), NAMES.old.rstrip())
    user.reject(EMPTY)
    editor.wait_for_marks(NAMES.old.rstrip())
    assert editor.line_of(EMPTY.old.rstrip()) == 5


def undo_in_the_editor(user: ByKeys | ByMenus, shown: Shown) -> None:
    user.accept(NAMES)
    user.editor.wait_for_line(NAMES.new.rstrip())
    user.editor.terminal.keys("u")
    user.editor.wait_for_line(NAMES.old.rstrip())
    shown.saw("undo", "key")
    user.editor.wait_for_marks(NAMES.old.rstrip())
    user.reject(NAMES)
    user.editor.wait_for_marks()


def answer_a_question(user: ByKeys | ByMenus, shown: Shown) -> None:
    editor = user.editor
    editor.open("cart.py")
    user.ask(given.SIGN, shown_anywhere(given.QUESTION))
    shown.saw("question", user.asked)
    user.answer(given.ANSWER)
    editor.wait_for_marks(SHOWN.old.rstrip())
    user.accept(SHOWN)
    editor.wait_for_line(SHOWN.new.rstrip())


def carry_out_a_comment(user: ByKeys | ByMenus, shown: Shown) -> None:
    editor = user.editor
    editor.go(editor.line_of(given.COMMENTED))
    editor.insert("A", given.COMMENT)
    editor.choose(given.COMMENT_ACTION)
    shown.saw("menu", "menu")
    editor.wait_for_marks(ROUNDED.old.rstrip())
    user.accept(ROUNDED)
    editor.wait_for_line(ROUNDED.new.rstrip())


def cancel_a_turn(user: ByKeys | ByMenus, shown: Shown) -> None:
    at_work = reported("round 1") if user.at_work == "message line" else spins
    user.ask(given.LONG, at_work)
    shown.saw("progress", user.at_work)
    user.editor.key("x")
    user.editor.terminal.wait(lambda screen: not spins(screen), "no turn is running")
    shown.saw("cancel", "key")
