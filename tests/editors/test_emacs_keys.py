"""Every key that Stet sets in real Emacs, and that Emacs had no command for it before."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Part
from tests.editors.emacs import CONFIG, Emacs, Start, lisp, only_stet, start
from tests.editors.scripts import GREET, greet_script
from tests.parts.emacs import ensure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
COMMANDS = [*"?arnpyYkcubidltTosAqvg/xm"]
PREFIXED = sorted(f"C-c x {key}" for key in COMMANDS)
CHAT = ["C-c C-c", "C-c C-t"]
REVIEW = {
    "C-c C-a": "diff-apply-hunk",
    "C-c C-k": None,
    "<remap> <save-buffer>": None,
}
"""The keys of a review page, with the commands of Diff mode that they replace there.

Diff mode would apply the hunk to the file; Stet accepts it. The save key also saves a page that has
not changed.
"""
ELSEWHERE = {"C-c x m": "eglot-code-actions"}
"""Keys of the prefix whose commands are not Stet's."""
ACTIVE = """
(let (found)
  (named-let look ((map (make-composed-keymap (current-active-maps))) (before []))
    (map-keymap
     (lambda (event binding)
       (let ((keys (vconcat before (vector event))))
         (cond ((memq event '(menu-bar tool-bar tab-bar)))
               ((keymapp binding) (look binding keys))
               ((or (and (symbolp binding) (string-prefix-p "stet-" (symbol-name binding)))
                    (string-prefix-p "C-c x " (key-description keys)))
                (push (key-description keys) found)))))
     map))
  (vconcat (sort (delete-dups found))))
"""
"""The active keys that run a command of Stet, or that begin with its prefix."""
OTHERS = """
(progn
  (dolist (part '(python text-mode diff-mode conf-mode elisp-mode eglot flymake outline cl-lib))
    (require part))
  (let ((maps (list global-map python-mode-map python-ts-mode-map text-mode-map diff-mode-map
                    conf-mode-map emacs-lisp-mode-map eglot-mode-map flymake-mode-map)))
    (cl-flet ((command (map key)
                (let ((bound (keymap-lookup map key)))
                  ;; A number says how many of the keys are already too many.
                  (when (numberp bound)
                    (setq bound (lookup-key map (seq-take (key-parse key) bound))))
                  (cond ((keymapp bound) "a prefix")
                        (bound (format "%s" bound))
                        (t :null)))))
      (princ (json-serialize
              (vconcat (mapcar (lambda (key)
                                 (vconcat (mapcar (lambda (map) (command map key)) maps)))
                               command-line-args-left)))))
    (setq command-line-args-left nil)))
"""
"""What the keys given as arguments run in Emacs without Stet, in its global and its modes' maps."""


@pytest.fixture
def editor(part: Part, tmp_path: Path) -> Iterator[Emacs]:
    """An Emacs with Stet, in a Python file."""
    home, root = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    (root / ".git").mkdir(parents=True)
    (root / "a.py").write_text(GREET)
    (root / "note.md").write_text("# A note\n")
    script = home / "script.json"
    script.write_text(json.dumps(greet_script()))
    running = start(Start(part(ensure), home, root, script, path=only_stet(home)), "a.py")
    yield running.served()
    running.close()


def without_stet(part: Callable[..., object]) -> Callable[[list[str]], list[list[str | None]]]:
    """Return a function that looks keys up in an Emacs that has never loaded Stet."""
    program = ensure()
    assert part(ensure) == program

    def look(keys: list[str]) -> list[list[str | None]]:
        done = subprocess.run(
            [*program.command, "--batch", "-Q", "--eval", OTHERS, *keys],
            env={**os.environ, **program.environment},
            check=True,
            capture_output=True,
            text=True,
            timeout=50,
        )
        return json.loads(done.stdout)  # type: ignore[no-any-return]

    return look


def test_every_key_in_files_chats_and_review_pages_is_listed(editor: Emacs) -> None:
    assert editor.eval(ACTIVE) == PREFIXED
    editor.visit("note.md").served()
    assert editor.eval(ACTIVE) == PREFIXED
    assert editor.eval("(equal stet-mode-map (make-sparse-keymap))") is True

    editor.press("C-c x t").wait("(and (eq major-mode 'stet-chat-mode) (stet--served-p))")
    assert editor.eval(ACTIVE) == sorted([*PREFIXED, *CHAT])

    editor.press("C-x o").wait('(equal (buffer-name) "note.md")')
    editor.visit("a.py").prompt("C-c x a", "use f-strings").wait_for_hunks(4, 10)
    editor.press("C-c x d").wait("(and stet-review-mode (stet--served-p))", "the review page")
    assert editor.eval(ACTIVE) == sorted([*PREFIXED, *REVIEW])


def test_no_key_had_a_command_before_except_those_listed(part: Part) -> None:
    look = without_stet(part)
    for key, found in zip(PREFIXED, look(PREFIXED), strict=True):
        assert not any(found), key
    for key, found in zip(CHAT, look(CHAT), strict=True):
        # A chat's major mode is based on Text mode alone; its own map hides no other mode's.
        assert [found[0], found[3]] == [None, None], key
    diff_mode = {key: found[4] for key, found in zip(REVIEW, look([*REVIEW]), strict=True)}
    assert diff_mode == REVIEW
    assert not any(found[0] for found in look([*REVIEW]))


def test_every_key_is_in_the_readme() -> None:
    text = re.sub(
        r"^```.*?^```$", "", (CONFIG / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL
    )
    shown = set(re.findall(r"`([^`]+)`", text))
    assert {*COMMANDS, *CHAT, "C-c C-a", "C-c C-k"} <= shown
    source = (CONFIG / "stet.el").read_text()
    keymap = source[source.index("(defvar-keymap stet-command-map") :].split("\n\n")[0]
    assert re.findall(r'^  "(\S)" #\'', keymap, re.MULTILINE) == COMMANDS
    assert all(f"{lisp(key[-1])} #'{name}" in keymap for key, name in ELSEWHERE.items())
