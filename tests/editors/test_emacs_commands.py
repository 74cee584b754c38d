"""Emacs besides the scenario: pages, lists, undo, keys, and typing meanwhile."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors.emacs import Emacs, Start, lisp, only_stet, start
from tests.editors.scripts import GREET, GREET_FILE, greet_script
from tests.editors.shown import Shown
from tests.parts.emacs import ensure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
Begin = Callable[..., Emacs]
FIRST, BOTH = ("\n".join(lines) + "\n" for lines in (GREET_FILE.first, GREET_FILE.both))


@pytest.fixture
def emacs(part: Part, tmp_path: Path) -> Iterator[Begin]:
    """Start editors with `GREET` in `a.py` and `b.py`: `emacs(script)` returns one."""
    started: list[Emacs] = []

    def begin(script: list[object], init: str = "") -> Emacs:
        home, root = tmp_path / "home", tmp_path / "work"
        home.mkdir()
        (root / ".git").mkdir(parents=True)
        for name in ("a.py", "b.py"):
            (root / name).write_text(GREET)
        message = home / "script.json"
        message.write_text(json.dumps(script))
        given = Start(part(ensure), home, root, message, path=only_stet(home), init=init)
        started.append(start(given, "a.py"))
        return started[-1].served()

    yield begin
    for editor in started:
        editor.close()


def test_pages_and_lists_are_shown_as_in_the_table(emacs: Begin) -> None:
    shown = Shown("emacs", "Emacs 30")
    script = [*greet_script(), {"text": "Hello yourself."}]
    editor = emacs(script).prompt("C-c x a", "use f-strings")
    editor.wait_for_hunks(4, 10)

    editor.press("C-c x l").wait("(eq major-mode 'xref--xref-buffer-mode)", "hunks are listed")
    assert " 5:pending: Use an f-string\n11:pending: Use an f-string\n" in editor.text()
    editor.press("q").wait('(equal (buffer-name) "a.py")', "the list is gone")

    editor.press("C-c x d").wait("(and (eq major-mode 'diff-mode) (stet--served-p))", "the page")
    shown.saw("review", "a file to edit")
    editor.press("M-> M-k C-x C-s").wait_for_states("accepted", "rejected")
    editor.press("C-x 1 C-x b").type("a.py").press("RET").wait_for_text(FIRST)

    selected = '<manually_added_selection path="a.py" lines="5-5">'
    editor.line(5).press("C-SPC C-e").wait_for_context(selected)
    shown.saw("selection", "at once")
    editor.press("C-c x v")
    editor.wait('(and (get-buffer-window "*Stet context*") t)', "the context is shown")
    sent = editor.eval('(with-current-buffer "*Stet context*" (buffer-string))')
    assert sent.startswith("A question here would send about ")
    assert selected in sent

    editor.press("C-x 1 C-c x t").wait("(and (eq major-mode 'stet-chat-mode) (stet--served-p))")
    shown.saw("chat", "a text file")
    editor.press("M->").type("Hello").press("C-c C-c")
    editor.wait('(and (string-search "Hello yourself." (buffer-string)) t)', "it is answered")
    editor.wait("(not (buffer-modified-p))", "nobody has to save it")

    editor.prompt("C-c x /", "where is bye said")
    editor.wait("(eq major-mode 'xref--xref-buffer-mode)", "places are listed")
    shown.saw("search", "list")
    shown.check()


def test_a_turn_that_has_ended_leaves_the_mode_line(emacs: Begin) -> None:
    editor = emacs(greet_script()).prompt("C-c x a", "use f-strings")
    editor.terminal.wait_for("100%")
    editor.terminal.wait_until_gone("100%")
    assert any("[Stet: 2 pending] [eglot:work]" in row for row in editor.terminal.screen())


def test_what_is_typed_while_an_edit_is_on_its_way_stays(emacs: Begin) -> None:
    editor = emacs(greet_script()).prompt("C-c x a", "use f-strings")
    editor.wait_for_hunks(4, 10)
    editor.line(5).press("C-c x y M-<").type("# typed").press("RET").type("# on")
    editor.press("RET").wait_for_text("# typed\n# on\n" + FIRST)
    editor.wait_for_hunks(12)
    editor.press("C-c x Y").wait_for_text("# typed\n# on\n" + BOTH)
    editor.wait_for_hunks()
    assert [one["state"] for one in editor.command("stet.proposals")] == ["accepted", "accepted"]


def test_a_file_that_is_not_open_is_changed_without_a_second_question(emacs: Begin) -> None:
    reading = {"tool_calls": [{"name": "read_file", "arguments": {"file": "b.py"}}]}
    editor = emacs([reading, *greet_script(file="b.py")]).prompt("C-c x a", "use f-strings")
    editor.terminal.wait_for("[Stet: 2 pending]")
    editor.press("C-c x l").wait("(eq major-mode 'xref--xref-buffer-mode)", "hunks are listed")
    editor.command("stet.accept", "'(:all t)")
    editor.wait('(and (get-buffer "b.py") t)', "b.py is opened")
    editor.press("q C-x b").type("b.py").press("RET").wait_for_text(BOTH)
    assert not editor.eval("(minibufferp)")
    assert (editor.root / "b.py").read_text() == GREET


def test_a_decision_is_taken_back_and_a_conflict_resolved(emacs: Begin) -> None:
    editor = emacs(greet_script()).prompt("C-c x a", "use f-strings")
    editor.wait_for_hunks(4, 10)
    editor.line(5).press("C-c x y").wait_for_text(FIRST)
    editor.press("C-c x u").wait_for_text(GREET)
    editor.wait_for_states("undone", "pending")
    editor.press("C-c x b").wait_for_states("pending", "pending")
    editor.wait_for_hunks(4, 10)
    editor.prompt("C-c x k", "").wait_for_states("rejected", "pending")
    assert editor.command("stet.proposals")[0].get("reason") is None
    editor.wait_for_hunks(10)
    editor.press("C-c x y").reported("Stet: no pending hunk on this line")

    editor.line(11).press("C-a C-k").type('    message = f"See you, {name}"')
    editor.wait('(equal (test-hunks) [[10 "conflict"]])', "it is a conflict")
    editor.press("C-c x c").terminal.wait_for("You edited this text.")
    editor.press("t")
    editor.wait('(and (string-search "Bye {name}" (buffer-string)) t)', "it is resolved")


def test_a_deletion_is_undone_from_any_file(emacs: Begin) -> None:
    calls = [
        [{"name": "read_file", "arguments": {"file": "b.py"}}],
        [{"name": "delete_file", "arguments": {"file": "b.py", "reason": "nobody reads it"}}],
        [{"name": "done", "arguments": {"summary": "It is gone."}}],
    ]
    allowed = """(setq-default eglot-workspace-configuration
                               '(:stet (:agent (:disabledTools []))))\n"""
    editor = emacs([{"tool_calls": each} for each in calls], init=allowed)
    editor.prompt("C-c x a", "tidy up").reported("undo with C-c x u.")
    editor.prompt("C-c x q", "Delete").reported("It is gone.")
    assert not (editor.root / "b.py").exists()
    editor.press("C-c x u").terminal.wait_for("Undo (default Delete b.py: nobody reads it):")
    editor.press("RET").wait_for_states("undone")
    assert (editor.root / "b.py").read_text() == GREET


def test_nothing_of_it_blocks_emacs_and_a_refusal_is_one_plain_sentence(emacs: Begin) -> None:
    editor = emacs([])
    editor.press("C-c x s").reported("Stet: nothing to send")
    editor.press("C-c x q").reported("Stet: no question is waiting")
    editor.press("C-c x x").reported("Stet: nothing is running")
    editor.press("C-c x n").reported("Stet: no pending hunks")
    assert "-328" not in editor.messages()


def test_a_new_file_is_shown_empty_filled_and_saved(emacs: Begin) -> None:
    made = {"name": "create_file", "arguments": {"file": "lib/new.py", "content": "x = 1\n"}}
    done = {"name": "done", "arguments": {"summary": "It is done."}}
    editor = emacs([{"tool_calls": [made]}, {"tool_calls": [done]}]).prompt("C-c x a", "make it")
    editor.terminal.wait_for("[Stet: 1 pending]")
    editor.press("C-c x n").wait('(equal (buffer-name) "new.py")', "it is shown")
    editor.served().reported("Stet: new file; C-c x y creates it")
    assert not (editor.root / "lib").exists()
    editor.press("C-c x y").wait_for_text("x = 1\n")
    editor.press("C-x C-s").wait("(not (buffer-modified-p))", "it is saved")
    assert (editor.root / "lib" / "new.py").read_text() == "x = 1\n"


def test_a_server_that_dies_is_started_again_with_what_waited(emacs: Begin) -> None:
    editor = emacs(greet_script()).prompt("C-c x a", "use f-strings")
    editor.wait_for_hunks(4, 10)
    editor.press("M-<").type("# unsaved").press("RET").wait_for_hunks(5, 11)
    editor.wait("(not (eglot--inhibit-autoreconnect (stet--server)))", "it has lived long enough")
    editor.eval("(signal-process (jsonrpc--process (stet--server)) 9)")
    editor.reported("Reconnected!")
    editor.served().wait_for_hunks(5, 11)
    editor.line(6).press("C-c x y").wait_for_text("# unsaved\n" + FIRST)
    assert (editor.root / "a.py").read_text() == GREET


def test_keys_of_doom_prelude_and_spacemacs_keep_working(emacs: Begin) -> None:
    known = json.loads(Path(__file__).with_name("emacs_keys.json").read_text())
    keys = sorted({key for one in known.values() for key in one["keys"]})
    bind = "".join(f"(keymap-global-set {lisp(key)} 'ignore)\n" for key in keys)
    editor = emacs(greet_script(), init=bind)
    quoted = " ".join(map(lisp, keys))
    taken = (
        f"(vconcat (seq-remove (lambda (key) (eq (keymap-lookup nil key) 'ignore)) '({quoted})))"
    )
    assert editor.eval(taken) == []
    editor.prompt("C-c x a", "use f-strings").wait_for_hunks(4, 10)
    assert editor.eval(taken) == []
    editor.press("C-c x t").wait("(eq major-mode 'stet-chat-mode)")
    assert editor.eval(taken) == []
    assert editor.eval('(symbol-name (keymap-lookup nil "C-c x a"))') == "stet-ask"


def test_markdown_is_served_without_a_package_and_left_to_one(emacs: Begin) -> None:
    editor = emacs([])
    (editor.root / "note.md").write_text("# Note\n")
    (editor.root / "other.markdown").write_text("# Other\n")
    editor.visit("note.md").served()
    assert editor.eval("(symbol-name major-mode)") == "text-mode"
    assert editor.eval("(stet--language-id)") == "markdown"
    editor.eval("""(progn (define-derived-mode markdown-mode text-mode "Markdown")
                          (push '("\\\\.markdown\\\\'" . markdown-mode) auto-mode-alist) t)""")
    editor.visit("other.markdown").served()
    assert editor.eval("(symbol-name major-mode)") == "markdown-mode"


def test_every_command_of_the_map_is_in_the_menu(emacs: Begin) -> None:
    editor = emacs([]).press("C-c x ?")
    screen = editor.terminal.wait_for("Ask and search", "Hunk at point", "Review", "Chat")
    bound = """(let (found) (map-keymap (lambda (key command)
                 (push (vector (key-description (vector key)) (symbol-name command)) found))
                 (symbol-function 'stet-command-map)) (vconcat found))"""
    keys = {key for key, command in editor.eval(bound) if command != "stet-menu"}
    assert len(keys) == 24
    below = "\n".join(screen[next(n for n, row in enumerate(screen) if "Ask and search" in row) :])
    assert all(re.search(rf"(^|\s){re.escape(key)} [A-Z]", below) for key in keys)
