"""Drive real Emacs in a terminal: keys go through tmux, queries of its state to Emacs's server.

It runs with an empty home, our configuration and the lines of the README. All input is typed;
queries only read the buffers and what a test waits for.
"""

import base64
import contextlib
import json
import os
import re
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.editors.terminal import DEADLINE, Ended, Terminal
from tests.parts.emacs import Emacs as Program
from tests.parts.emacs import ensure

CONFIG = Path(__file__).parents[2] / "client-configs" / "emacs"
KEYS = {"RET": "Enter", "SPC": "Space", "TAB": "Tab", "ESC": "Escape", "C-SPC": "C-Space"}
"""Emacs's key names and tmux's, where they differ."""
EARLY = """
(setq native-comp-jit-compilation nil native-comp-enable-subr-trampolines nil)
"""
HELPERS = """
(setq inhibit-startup-screen t create-lockfiles nil make-backup-files nil auto-save-default nil
      server-socket-dir (getenv "TEST_FOLDER") server-name "asked")
(defun test-hunks ()
  "Where the hunks of this buffer are shown: vectors of 0-based line and code."
  (vconcat
   (sort (delete-dups
          (cl-loop for found in (flymake-diagnostics)
                   for said = (cdr (assq 'eglot-lsp-diag (flymake-diagnostic-data found)))
                   when (and (equal (plist-get said :source) "stet")
                             (member (plist-get said :code) '("proposal" "conflict")))
                   collect (vector (1- (line-number-at-pos (flymake-diagnostic-beg found)))
                                   (plist-get said :code)))))))
(defvar test-answer nil "What `test-command' was answered.")
(defun test-command (name arguments)
  "Have Stet carry out NAME with ARGUMENTS; the answer is put into `test-answer'."
  (setq test-answer nil)
  (jsonrpc-async-request
   (stet--server) :workspace/executeCommand
   (list :command name :arguments (if arguments (vector arguments) []))
   :success-fn (lambda (answer) (setq test-answer (list answer)))
   :error-fn (lambda (problem) (setq test-answer (list problem))))
  nil)
(defun test-messages ()
  "All messages so far."
  (with-current-buffer (messages-buffer) (buffer-substring-no-properties 1 (point-max))))
(server-start)
(write-region "" nil (expand-file-name "ready" (getenv "TEST_FOLDER")) nil 'quietly)
"""


@dataclass(frozen=True, slots=True)
class Start:
    """The parameters of an Emacs process.

    Attributes:
        program: The path of Emacs.
        home: The folder for its home, XDG folders and sockets; reused by later starts.
        root: The workspace folder.
        script: The path of a `STET_SCRIPTED_MODEL` file; None uses the installed model.
        init: Lisp after the README's lines, before the helpers.
        before: Lisp before the README's lines.
        path: Folders at the front of the `PATH`.
        size: The size of the terminal, columns and lines.
        variables: More environment variables.
    """

    program: Program
    home: Path
    root: Path
    script: Path | None
    init: str = ""
    before: str = ""
    path: Sequence[Path] = field(default=(Path(sys.executable).parent,))
    size: tuple[int, int] = (120, 32)
    variables: Mapping[str, str] = field(default_factory=dict)


def only_stet(home: Path) -> tuple[Path]:
    """Make a folder with `stet` alone, for the `PATH`: no `rass` and no other server."""
    folder = home / "bin"
    folder.mkdir(exist_ok=True)
    with contextlib.suppress(FileExistsError):
        (folder / "stet").symlink_to(Path(sys.executable).with_name("stet"))
    return (folder,)


def readme_lines() -> str:
    """Return the lines that the README gives for the init file."""
    found = re.search(r"```elisp\n(.*?)```", (CONFIG / "README.md").read_text(), re.DOTALL)
    assert found, "the README gives no lines for the init file"
    return found[1]


def start(given: Start, file: str) -> "Emacs":
    """Start Emacs with a file of the workspace."""
    config = given.home / ".config" / "emacs"
    config.mkdir(parents=True, exist_ok=True)
    given.home.chmod(0o700)  # Emacs's server refuses other folders for its socket
    (config / "early-init.el").write_text(EARLY)
    (config / "init.el").write_text(
        f";; -*- lexical-binding: t -*-\n{given.before}{readme_lines()}{given.init}{HELPERS}"
    )
    for lisp in CONFIG.glob("*.el"):
        with contextlib.suppress(FileExistsError):
            (config / lisp.name).symlink_to(lisp)
    folders = [*map(str, given.path), "/usr/bin", "/bin"]
    environment = {
        "HOME": str(given.home),
        "PATH": os.pathsep.join(folders),
        "TEST_FOLDER": str(given.home),
        "LANG": "C.UTF-8",
        **given.program.environment,
        **given.variables,
        **{
            f"XDG_{kind.upper()}_HOME": str(given.home / f".{kind}")
            for kind in ("config", "data", "state", "cache")
        },
    }
    if given.script is not None:
        environment["STET_SCRIPTED_MODEL"] = str(given.script)
    ready = given.home / "ready"
    ready.unlink(missing_ok=True)
    command = [*given.program.command, file]
    terminal = Terminal(command, environment, given.root, given.size)
    terminal.wait(lambda _: ready.exists(), "Emacs has read its init file")
    return Emacs(terminal, given.home / "asked", given.root)


def record(folder: Path, programs: Path) -> None:
    """Start Emacs, and open a file that the `stet` in `programs` serves."""
    root, script = folder / "work", folder / "script.json"
    (root / ".git").mkdir(parents=True)
    (root / "a.py").write_text("a = 1\n")
    script.write_text("[]")
    editor = start(Start(ensure(), folder, root, script, path=[programs]), "a.py")
    try:
        editor.served()
    finally:
        editor.close()


class Emacs:
    """One Emacs in one terminal.

    Attributes:
        terminal: The terminal of the process.
        root: The workspace folder.
    """

    def __init__(self, terminal: Terminal, asked: Path, root: Path) -> None:
        self.terminal = terminal
        self.root = root
        self._asked = asked

    # -- keys

    def press(self, keys: str) -> Self:
        """Press keys, in Emacs's notation (`C-c x a`, `RET`)."""
        self.terminal.keys(*(KEYS.get(key, key) for key in keys.split()))
        return self

    def type(self, text: str) -> Self:
        """Type text unchanged."""
        self.terminal.type(text)
        return self

    # -- questions

    def eval(self, expression: str) -> Any:
        """Evaluate Lisp in the buffer of the selected window; return the decoded JSON value.

        Raises:
            AssertionError: If the evaluation fails.
        """
        code = (
            "(base64-encode-string (json-serialize (with-current-buffer"
            f" (window-buffer (selected-window)) {expression})"
            " :null-object nil :false-object :json-false) t)"
        )
        quoted = code.replace("&", "&&").replace("-", "&-").replace("\n", "&n").replace(" ", "&_")
        with socket.socket(socket.AF_UNIX) as asked:
            asked.settimeout(DEADLINE)
            asked.connect(str(self._asked))
            asked.sendall(f"-eval {quoted}\n".encode())
            answer = b"".join(iter(lambda: asked.recv(65536), b"")).decode()
        printed = re.findall(r"^-print(?:-nonl)? (.*)$", answer, re.MULTILINE)
        assert printed, f"{expression}: {answer.replace('&_', ' ').replace('&n', ' ')}"
        return json.loads(base64.b64decode("".join(printed).removesuffix("&n").strip('"')))

    def wait(self, expression: str, what: str = "") -> None:
        """Wait until a Lisp expression is true."""
        self._until(lambda: bool(self.eval(expression)), what or expression)

    def command(self, name: str, arguments: str = "nil") -> Any:
        """Run a command of the server with a property list, given as Lisp; return its answer."""
        self.eval(f"(test-command {lisp(name)} {arguments})")
        self.wait("(and test-answer t)", f"{name} is answered")
        return self.eval("(car test-answer)")

    def text(self) -> str:
        """Return the text of the buffer."""
        return str(self.eval("(buffer-substring-no-properties (point-min) (point-max))"))

    def messages(self) -> str:
        """Return all messages so far."""
        return str(self.eval("(test-messages)"))

    def reported(self, text: str) -> None:
        """Wait until `*Messages*` has this text."""
        self.wait(f"(and (string-search {lisp(text)} (test-messages)) t)", f"{text!r} is told")

    def wait_for_text(self, text: str) -> None:
        """Wait until the buffer has exactly this text."""
        self.wait(
            f"(equal (buffer-substring-no-properties (point-min) (point-max)) {lisp(text)})",
            f"the buffer is {text!r}",
        )

    def wait_for_hunks(self, *lines: int) -> None:
        """Wait until exactly these 0-based lines show a proposal."""
        wanted = " ".join(f'[{line} "proposal"]' for line in lines)
        self.wait(f"(equal (test-hunks) [{wanted}])", f"proposals at lines {lines}")

    def wait_for_states(self, *states: str) -> None:
        """Wait until all hunks have these states, in order of file and position."""

        def are() -> bool:
            return [hunk["state"] for hunk in self.command("stet.proposals") or []] == list(states)

        self._until(are, f"hunks are {states}")

    def wait_for_context(self, text: str) -> None:
        """Wait until the context that a question would send has this text."""

        def holds() -> bool:
            context = self.command("stet.showContext", '\'(:prompt "x")')
            return any(text in section["text"] for section in context["sections"])

        self._until(holds, f"{text!r} in the context")

    def served(self) -> Self:
        """Wait until Stet serves the buffer, and is ready."""
        self.wait(
            "(and (stet--served-p) (stet--complete-p (stet--server)) t)", "Stet serves the buffer"
        )
        self._until(lambda: self.command("stet.status").get("ready") is True, "Stet is ready")
        return self

    def visit(self, name: str) -> Self:
        """Open a file of the workspace with `C-x C-f`."""
        self.press("C-x C-f").wait("(and (minibufferp) t)", "the name is asked for")
        self.press("C-a C-k").type(str(self.root / name)).press("RET")
        self.wait(f'(equal (file-name-nondirectory (or buffer-file-name "")) {lisp(name)})')
        return self

    def line(self, number: int) -> Self:
        """Go to a 1-based line with `M-g g`."""
        self.press("M-g g").wait("(and (minibufferp) t)", "the line is asked for")
        self.type(str(number)).press("RET")
        self.wait(f"(and (not (minibufferp)) (= (line-number-at-pos) {number}))")
        return self

    def prompt(self, keys: str, text: str) -> Self:
        """Press keys that open a prompt, and answer it."""
        self.press(keys).wait("(and (minibufferp) t)", f"{keys} asks for something")
        self.type(text).press("RET").wait("(not (minibufferp))", "it is answered")
        return self

    # -- the end

    def quit(self) -> None:
        """Quit Emacs with its own keys."""
        self.press("C-x C-c")
        self.terminal.wait_for_end()
        self.terminal.close()

    def close(self) -> None:
        """Close the terminal, and Emacs and Stet with it."""
        self.terminal.close()

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        try:
            self.terminal.wait(lambda _: condition(), what)
        except AssertionError as error:
            with contextlib.suppress(OSError, Ended):
                error.add_note(f"{self.messages()}\n{self.eval('(test-hunks)')}")
            raise


def lisp(text: str) -> str:
    """Quote a text as a Lisp string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
