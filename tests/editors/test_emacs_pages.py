"""The pages that Stet writes, in Emacs: the chat and the review."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors.emacs_screen import EmacsScreen
from tests.editors.scripts import GREET, GREET_FILE, greet_script
from tests.parts.emacs import ensure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
Begin = Callable[..., EmacsScreen]
LONG = "".join(f"Sentence {n}.\n\n" for n in range(1, 31))
READING = {
    "text": "I look.",
    "tool_calls": [
        {"name": "read_file", "arguments": {"file": "b.py"}},
        {"name": "list_files", "arguments": {}},
    ],
}


@pytest.fixture
def screen(part: Part, tmp_path: Path) -> Iterator[Begin]:
    """Start editors: `screen(script)` returns one with `GREET` in `a.py` and `b.py`."""
    started: list[EmacsScreen] = []

    def begin(model: Sequence[object]) -> EmacsScreen:
        files: Mapping[str, str] = {"a.py": GREET, "b.py": GREET}
        started.append(EmacsScreen(part(ensure), tmp_path, files, model, size=(80, 46)))
        return started[-1]

    yield begin
    for each in started:
        each.editor.close()


def test_the_chat_opens_at_its_end_in_another_window_and_follows(screen: Begin) -> None:
    editor = screen([{"text": LONG}, {"text": LONG.replace("Sentence", "Line")}]).editor
    editor.press("C-c x t").wait("(eq major-mode 'stet-chat-mode)", "the chat has the focus")
    assert editor.eval('(and (get-buffer-window "a.py") (eobp))') is True
    editor.terminal.wait_for("Write below the last heading; C-c C-c sends it")
    editor.type("Go on").press("C-c C-c")
    rows = editor.terminal.wait_for("Sentence 30.", "## You")
    assert not any("Go on" in row for row in rows)

    editor.press("C-x o").wait('(equal (buffer-name) "a.py")')
    editor.prompt("C-c x a", "more").terminal.wait_for("Line 30.")
    assert editor.eval("(buffer-name)") == "a.py"


def test_the_chat_stays_where_its_reader_is(screen: Begin) -> None:
    editor = screen([{"text": LONG}, {"text": "The end."}]).editor
    editor.press("C-c x t").wait("(eq major-mode 'stet-chat-mode)")
    editor.type("Go on").press("C-c C-c")
    editor.terminal.wait_for("Sentence 30.", "## You")
    editor.press("M-<").terminal.wait_for("Go on")
    editor.press("C-x o").wait('(equal (buffer-name) "a.py")')
    editor.prompt("C-c x a", "more").reported("The end.")
    written = '(with-current-buffer "Stet chat: main" (string-search "The end." (buffer-string)))'
    editor.wait(f"(and {written} t)")
    editor.terminal.wait_for("Go on")
    seen = '(window-point (get-buffer-window "Stet chat: main"))'
    assert editor.eval(seen) == 1


def test_tool_calls_of_a_chat_are_folded_until_a_key_shows_them(screen: Begin) -> None:
    editor = screen([READING, {"text": "It is done."}]).editor
    editor.press("C-c x t").wait("(eq major-mode 'stet-chat-mode)")
    editor.type("Go on").press("C-c C-c")
    editor.wait('(and (string-match-p "completed[^?]*## You\n" (buffer-string)) t)')
    rows = editor.terminal.wait_for("▸ 2 tool calls (C-c C-t shows them)", "## You")
    assert not any("- list_files" in row for row in rows)
    editor.press("C-c C-t").terminal.wait_for("- read_file", "- list_files")
    editor.press("C-c C-t").terminal.wait_for("▸ 2 tool calls")


def test_hunks_of_a_review_page_are_decided_by_keys(screen: Begin) -> None:
    shown = screen(greet_script())
    shown.ask(2)
    editor = shown.editor
    editor.press("C-c x d").wait("(and stet-review-mode (stet--served-p))")
    editor.terminal.wait_for("2 left   C-c C-a accept  C-c C-k reject  C-c x n next")
    editor.press("C-c x n C-c x y").wait_for_states("accepted", "pending")
    editor.terminal.wait_for("1 left", "h1 Use an f-string  accepted", "@@ h2 Use an f-string")
    assert editor.eval("(pos-visible-in-window-p (1- (point-max)))"), "all of the second hunk"
    editor.press("M-<").terminal.wait_for("# Stet review", ": 1 hunk left")
    editor.press("M->")
    editor.prompt("C-c C-k", "").wait_for_states("accepted", "rejected")
    editor.press("M-<")
    editor.terminal.wait_for(
        "0 left", ": 0 hunks left", "Use an f-string  accepted", "Use an f-string  rejected"
    )
    editor.press("M-> C-c x b").wait_for_states("accepted", "pending")
    editor.terminal.wait_for("1 left")
    editor.press("M-< C-c x n C-c x u").wait_for_states("undone", "pending")
    editor.terminal.wait_for("Use an f-string  undone")
    editor.terminal.wait_until_gone("Use an f-string  rejected")
    editor.press("C-x 1 C-x b").type("a.py").press("RET").wait_for_text(GREET)
    assert (editor.root / "a.py").read_text() == GREET


def test_a_saved_review_page_accepts_what_stays_and_rejects_what_is_deleted(screen: Begin) -> None:
    shown = screen(greet_script())
    shown.ask(2)
    editor = shown.editor
    editor.press("C-c x d").wait("(and stet-review-mode (stet--served-p))")
    editor.terminal.wait_for("2 left", "C-x C-s accept what stays")
    editor.press("M-> M-k C-x C-s").wait_for_states("accepted", "rejected")
    editor.reported("Stet: 1 hunk accepted, 1 hunk rejected")
    editor.terminal.wait_for("0 left", "Use an f-string  accepted")
    editor.press("C-x 1 C-x b").type("a.py").press("RET")
    editor.wait_for_text("\n".join(GREET_FILE.first) + "\n")
    assert (editor.root / "a.py").read_text() == GREET


def test_a_review_page_without_a_change_accepts_when_it_is_saved_twice(screen: Begin) -> None:
    shown = screen(greet_script())
    shown.ask(2)
    editor = shown.editor
    editor.press("C-c x d").wait("(and stet-review-mode (stet--served-p))")
    editor.press("C-x C-s")
    editor.terminal.wait_for("Save it again to accept its 2 hunks.")
    assert [one["state"] for one in editor.command("stet.proposals")] == ["pending", "pending"]
    editor.press("C-x C-s").wait_for_states("accepted", "accepted")
    editor.press("C-x 1 C-x b").type("a.py").press("RET")
    editor.wait_for_text("\n".join(GREET_FILE.both) + "\n")


def test_chats_are_chosen_by_their_titles(screen: Begin) -> None:
    editor = screen([{"text": "One."}, {"text": "Two."}]).editor
    editor.press("C-c x o").reported("Stet: no chats yet; C-c x t starts one")
    editor.prompt("C-c x a", "Where is it?").reported("One.")
    editor.press("C-c x T").wait("(eq major-mode 'stet-chat-mode)", "a new chat")
    editor.type("And now?").press("C-c C-c").reported("Two.")
    editor.press("C-x 1 C-c x o")
    rows = editor.terminal.wait_for("Chat (default And now?):", "Where is it?  1 turn, 20")
    first, second = (
        next(n for n, row in enumerate(rows) if row.startswith(f"{title}  1 turn, 20"))
        for title in ("And now?", "Where is it?")
    )
    assert first < second, "the latest is the first"
    editor.type("Wh").press("TAB RET").wait('(equal (buffer-name) "Stet chat: main")', "it is open")
    assert "One." in editor.text()
