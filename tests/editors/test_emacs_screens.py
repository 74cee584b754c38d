"""Hunks as Emacs draws them: screens read with text and colours, written by hand beforehand."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Part
from tests.editors.emacs_screen import COLOURS, EmacsScreen
from tests.editors.painted import REVERSE
from tests.editors.scripts import edit, script
from tests.parts.emacs import ensure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
Begin = Callable[..., EmacsScreen]
CAT = "alpha\nThe cat sat on the mat.\nomega\n"
DOG = script(edit("a.txt", "The cat sat", "The dog sat", "Name the dog"))
WIND = """# Wind

The first sentence stays here exactly as it was, yes. Then a second one, which also stays, stands \
near by. Here a tremendous wind was blowing from all the hills. After it there comes the fourth, \
which does not move. And the fifth ends what is one long line of the text.
"""
LINES = [f"{{}} {n:02}" for n in range(1, 41)]
THIRTY = "".join(f"row {n:02} is as it was\n\n" for n in range(1, 31))


@pytest.fixture
def screen(part: Part, tmp_path: Path) -> Iterator[Begin]:
    """Start editors: `screen(files, script)` returns one with the first file open."""
    started: list[EmacsScreen] = []

    def begin(files: Mapping[str, str], model: Sequence[object], **more: object) -> EmacsScreen:
        started.append(EmacsScreen(part(ensure), tmp_path, files, model, **more))  # type: ignore[arg-type]
        return started[-1]

    yield begin
    for each in started:
        each.editor.close()


def test_one_word_is_marked_in_the_old_and_in_the_new_line(screen: Begin) -> None:
    shown = screen({"a.txt": CAT}, DOG)
    shown.ask(1)
    shown.check("one_word")
    shown.editor.press("C-c x n")
    shown.editor.terminal.wait_for("1 of 1: Name the dog  C-c x y accept, C-c x k reject")
    assert shown.editor.text() == CAT


def test_accepted_rejected_and_undone_hunks_are_drawn_as_what_they_are(screen: Begin) -> None:
    shown = screen({"a.txt": CAT}, DOG)
    shown.ask(1)
    shown.editor.press("C-c x n C-c x y")
    shown.check("accepted")
    shown.editor.press("C-_")
    shown.check("one_word")
    shown.editor.prompt("C-c x k", "no")
    shown.check("plain")
    shown.editor.press("C-c x b")
    shown.check("one_word")
    assert shown.editor.text() == CAT


def test_a_replaced_hunk_is_announced_with_the_key_that_restores_it(screen: Begin) -> None:
    again = script(edit("a.txt", "The cat sat", "The cow sat", "Name the cow"))
    shown = screen({"a.txt": CAT}, [*DOG, *again])
    shown.ask(1)
    shown.check("one_word")
    shown.editor.prompt("C-c x a", "again")
    shown.check("replaced")
    shown.editor.reported("Replaced 1 earlier hunk in a.txt; restore it with C-c x b.")
    shown.editor.line(2).press("C-c x b")
    shown.check("one_word")
    states = {one["hunk"]: one["state"] for one in shown.editor.command("stet.proposals")}
    assert states == {"h1": "pending", "h2": "superseded"}


def test_a_hunk_whose_line_was_edited_is_a_conflict_with_a_key(screen: Begin) -> None:
    shown = screen({"a.txt": CAT}, DOG)
    shown.ask(1)
    shown.editor.line(2).press("M-f C-f M-d").type("cow")
    shown.check("conflict")
    shown.editor.press("C-a")
    shown.editor.terminal.wait_for("1 of 1: Name the dog  C-c x c resolve")
    shown.editor.press("C-c x c")
    shown.editor.terminal.wait_for("You edited this text")
    shown.editor.press("t")
    shown.check("accepted")
    assert shown.editor.text() == CAT.replace("cat", "dog")


def test_a_long_paragraph_shows_its_changed_sentences(screen: Begin) -> None:
    model = script(edit("a.txt", "a tremendous wind", "a strong wind"))
    shown = screen({"a.txt": WIND}, model, init=COLOURS + "(global-visual-line-mode 1)\n")
    shown.ask(1)
    shown.check("long_paragraph")
    assert shown.editor.text() == WIND


def test_insertions_are_drawn_where_they_go(screen: Begin) -> None:
    model = script(edit("a.txt", "one\n", "zero\none\n"), edit("a.txt", "two\n", "two\nthree\n"))
    shown = screen({"a.txt": "one\ntwo\n"}, model)
    shown.ask(2)
    shown.check("insertions")
    assert shown.editor.text() == "one\ntwo\n"


@pytest.mark.parametrize(("key", "name"), [("old", "deletion"), ("new", "insertion_long")])
def test_a_long_hunk_is_shown_from_its_beginning(screen: Begin, key: str, name: str) -> None:
    many = "".join(line.format(key) + "\n" for line in LINES)
    above = "".join(f"above {n}\n" for n in range(20)) + "head\n"
    before, after = (f"head\n{many}tail\n", "head\ntail\n")
    if key == "new":
        before, after = after, before
    model = script(edit("a.txt", before, after, "Forty lines"))
    shown = screen({"a.txt": above + before.removeprefix("head\n")}, model)
    shown.ask(1)
    shown.editor.press("C-c x n")
    shown.check(name)
    rows = shown.editor.terminal.wait_for("1 of 1: Forty lines")
    assert rows[0] == "  head"


def test_thirty_hunks_are_passed_and_accepted_by_keys_typed_fast(screen: Begin) -> None:
    edits = [edit("a.txt", f"row {n:02} is", f"ROW {n:02} is") for n in range(1, 31)]
    shown = screen({"a.txt": THIRTY}, script(*edits))
    shown.ask(30)
    shown.editor.press("C-c x y C-c x n C-c x n C-c x y C-c x n C-c x n C-c x y")
    text = THIRTY
    for n in (1, 3, 5):
        text = text.replace(f"row {n:02}", f"ROW {n:02}")
    shown.editor.wait_for_text(text)
    shown.editor.press("M-<")
    shown.check("thirty")
    rows = shown.editor.terminal.wait_for("[Stet: 27 pending]")
    assert rows[0] == "  ROW 01 is as it was"


def test_hunks_are_one_line_each_or_signs_by_a_key(screen: Begin) -> None:
    shown = screen({"a.txt": CAT}, DOG)
    shown.ask(1)
    shown.editor.press("C-c x i")
    shown.check("compact")
    shown.editor.press("C-c x i")
    shown.check("off")
    shown.editor.press("C-c x i")
    shown.check("one_word")
    assert "Stet: hunks are shown in the text" in shown.editor.messages()


WITHOUT_COLOUR: dict[str, dict[str, Any]] = {
    "option": {"options": ["--color=never"]},
    "vt100": {"variables": {"TERM": "vt100"}},
    "NO_COLOR": {"variables": {"NO_COLOR": "1"}},
}


@pytest.mark.parametrize("how", WITHOUT_COLOUR)
def test_signs_and_reverse_video_say_the_same_without_colour(screen: Begin, how: str) -> None:
    letters = {REVERSE: "R"}
    shown = screen({"a.txt": CAT}, DOG, init="", letters=letters, **WITHOUT_COLOUR[how])
    shown.ask(1)
    shown.check("no_colour")
    assert "[48;" not in "\n".join(shown.editor.terminal.coloured().split("\n")[:4])
    shown.editor.press("C-c x i")
    shown.check("no_colour_compact")
    shown.editor.press("C-c x i C-c x i").line(2).press("M-f C-f M-d").type("cow")
    shown.check("no_colour_conflict")


THEMES = {
    "modus-operandi": ("#ffd8d5", "#f3b5af", "#c1f2d1", "#aee5be"),
    "modus-vivendi": ("#4f1119", "#781a1f", "#00381f", "#034f2f"),
    "light": ("#ffeeee", "#ffcccc", "#eeffee", "#bbffbb"),
    "dark": ("#553333", "#aa2222", "#335533", "#22aa22"),
}
"""The colours of removed lines and words and of added lines and words: Emacs's own, and of themes."""


@pytest.mark.parametrize("theme", THEMES)
def test_hunks_have_the_colours_of_diffs_on_light_and_dark_themes(
    screen: Begin, theme: str
) -> None:
    init = f"(setq frame-background-mode '{theme})\n(frame-set-background-mode nil)\n"
    if theme.startswith("modus"):
        init = f"(load-theme '{theme} t)\n"
    letters = dict(zip(THEMES[theme], "dDaA", strict=True))
    variables = {"COLORTERM": "truecolor"}
    shown = screen({"a.txt": CAT}, DOG, init=init, variables=variables, letters=letters)
    shown.ask(1)
    shown.check("one_word")
    assert shown.editor.eval("(display-color-cells)") == 2**24


def test_added_lines_have_the_colours_of_the_mode(screen: Begin) -> None:
    code = "def f(x):\n    return 'a'\n"
    model = script(edit("a.py", "    return 'a'\n", "    return 'b'\n"))
    shown = screen({"a.py": code}, model)
    shown.ask(1)
    shown.editor.terminal.wait_for("+     return 'b'")
    rows = shown.editor.terminal.coloured().split("\n")
    keyword = rows[1][: rows[1].index("return")].rsplit("\x1b[", 1)[1]
    assert keyword not in {"39m", "0m"}
    assert f"\x1b[{keyword}return" in rows[2]


def test_new_and_moved_files_say_what_they_are(screen: Begin) -> None:
    calls = [
        {"name": "create_file", "arguments": {"file": "new.py", "content": "x = 1\ny = 2\n"}},
        {"name": "move_file", "arguments": {"file": "b.txt", "to": "there.txt"}},
    ]
    reading = {"tool_calls": [{"name": "read_file", "arguments": {"file": "b.txt"}}]}
    shown = screen({"a.txt": CAT, "b.txt": "moved\n"}, [reading, *script(*calls)])
    shown.editor.prompt("C-c x a", "please").terminal.wait_for("[Stet: 2 pending]")
    shown.editor.press("C-c x n").wait('(equal (buffer-name) "b.txt")')
    shown.check("moved_file")
    shown.editor.press("C-c x n").wait('(equal (buffer-name) "new.py")')
    shown.check("new_file")
    shown.editor.press("C-c x y").wait_for_text("x = 1\ny = 2\n")
    shown.editor.press("C-x C-s").wait("(not (buffer-modified-p))")
    assert (shown.editor.root / "new.py").read_text() == "x = 1\ny = 2\n"


def test_hunks_are_drawn_again_after_a_restart(screen: Begin) -> None:
    shown = screen({"a.txt": CAT}, DOG)
    shown.ask(1)
    shown.check("one_word")
    shown.editor.quit()
    shown.begin()
    shown.check("one_word")
    assert shown.editor.text() == CAT


def test_local_variables_of_an_added_text_are_never_obeyed(screen: Begin, tmp_path: Path) -> None:
    made = tmp_path / "made"
    local = f';; Local Variables:\n;; eval: (write-region "" nil "{made}")\n;; End:\n'
    shown = screen({"a.el": "(a)\n"}, script(edit("a.el", "(a)\n", f"(a)\n{local}")))
    shown.ask(1)
    shown.editor.terminal.wait_for("+ ;; Local Variables:")
    assert not made.exists()
