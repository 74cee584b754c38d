"""A program in a real terminal: send keys, read the screen, and wait for its contents.

The terminal is a tmux with its own socket, used in control mode: one process takes the commands,
and reports when the program has written.
"""

import contextlib
import os
import select
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.parts import tmux

DEADLINE = 60.0
"""Seconds until a condition counts as failed."""
LOOK_AGAIN = 0.05
"""Seconds after which a condition is checked again even without output of the program."""


class Ended(Exception):
    """The program has exited, and its terminal is closed."""


class Terminal:
    """One terminal with one program.

    Args:
        command: The program and its arguments.
        environment: The program's whole environment; tmux sets `TERM`.
        folder: The working folder of the program.
        size: Columns and lines.

    Raises:
        MissingPart: If there is no tmux, and it can't be installed.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        environment: Mapping[str, str],
        folder: Path,
        size: tuple[int, int] = (120, 40),
    ) -> None:
        program = tmux.ensure()
        # A separate folder: an exiting tmux still accepts clients of its socket, and closes them.
        self._folder = tempfile.TemporaryDirectory(prefix="tmux-", ignore_cleanup_errors=True)
        socket = Path(self._folder.name, "socket")
        columns, lines = map(str, size)
        session = ["new-session", "-x", columns, "-y", lines, shlex.join(map(str, command))]
        self._control = subprocess.Popen(
            [*program, "-u", "-S", socket, "-f", os.devnull, "-C", *session],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._unread = b""
        self._answer()
        self._run("refresh-client", "-C", f"{columns}x{lines}")

    def keys(self, *keys: str) -> None:
        """Press keys by tmux's names, such as `Escape`, `Enter`, `C-c`, or plain letters."""
        self._run("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type a text on one line, letter by letter."""
        self._run("send-keys", "-l", "--", text)

    def paste(self, text: str) -> None:
        """Paste a text on one line, at once, like a terminal with bracketed paste."""
        self._run("set-buffer", "--", text)
        self._run("paste-buffer", "-p", "-d")

    def screen(self) -> list[str]:
        """Return the displayed lines, without trailing spaces."""
        return [line.rstrip() for line in self._run("capture-pane", "-p")]

    def coloured(self) -> str:
        """Return the screen with its colour sequences; lines end at LF."""
        return "\n".join([*self._run("capture-pane", "-p", "-e", "-N"), ""])

    def capture(self, name: str) -> None:
        """Write the coloured screen to the folder of `STET_CAPTURES`, if that is set."""
        if folder := os.environ.get("STET_CAPTURES"):
            Path(folder, f"{name}.txt").write_text(self.coloured())

    def wait(self, condition: Callable[[list[str]], object], what: str) -> list[str]:
        """Wait until a condition is true of the screen, or of other state; return the screen.

        Raises:
            AssertionError: If the deadline has passed; with `what` and the screen.
            Ended: If the program has exited meanwhile.
        """
        deadline = time.monotonic() + DEADLINE
        while not condition(shown := self.screen()):
            if time.monotonic() > deadline:
                raise AssertionError("\n".join([f"not in time: {what}", *shown]))
            self._until_written(LOOK_AGAIN)
        return shown

    def wait_for(self, *texts: str) -> list[str]:
        """Wait until all these texts are shown, each within one line; return the screen."""

        def is_shown(screen: list[str]) -> bool:
            return all(any(text in line for line in screen) for text in texts)

        return self.wait(is_shown, f"{texts} on the screen")

    def wait_until_gone(self, *texts: str) -> list[str]:
        """Wait until none of these texts is shown; return the screen."""

        def is_gone(screen: list[str]) -> bool:
            return not any(text in line for text in texts for line in screen)

        return self.wait(is_gone, f"{texts} gone from the screen")

    def wait_for_end(self) -> None:
        """Wait until the program has exited."""
        deadline = time.monotonic() + DEADLINE
        try:
            while time.monotonic() < deadline:
                self._read(deadline - time.monotonic())
                self._unread = b""
        except Ended:
            return
        raise AssertionError("\n".join(["the program doesn't end", *self.screen()]))

    def close(self) -> None:
        """Close the terminal, and kill the program if it still runs."""
        assert self._control.stdin is not None
        assert self._control.stdout is not None
        if self._control.poll() is None:
            with contextlib.suppress(Ended):
                self._run("kill-server")
        try:
            self._control.wait(DEADLINE)
        finally:
            self._control.kill()
            self._control.wait()
            # Unsent data remains in the buffer of a broken pipe.
            with contextlib.suppress(BrokenPipeError):
                self._control.stdin.close()
            self._control.stdout.close()
            self._folder.cleanup()

    def _run(self, *command: str) -> list[str]:
        """Run a tmux command; return the lines of its answer."""
        assert self._control.stdin is not None
        try:
            self._control.stdin.write(f"{shlex.join(command)}\n".encode())
            self._control.stdin.flush()
        except BrokenPipeError as error:
            raise Ended("the program has ended") from error
        return self._answer()

    def _answer(self) -> list[str]:
        """Return the lines between `%begin` and the matching `%end`; drop all other lines."""
        while not (begin := self._line()).startswith("%begin "):
            continue
        lines, end = [], begin.removeprefix("%begin ")
        while (line := self._line()) not in {f"%end {end}", f"%error {end}"}:
            lines.append(line)
        assert line.startswith("%end "), f"tmux refuses: {lines}"
        return lines

    def _line(self) -> str:
        """Return tmux's next line."""
        deadline = time.monotonic() + DEADLINE
        while b"\n" not in self._unread:
            assert time.monotonic() < deadline, f"tmux doesn't answer, but for {self._unread!r}"
            self._read(DEADLINE)
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode(errors="replace")

    def _until_written(self, seconds: float) -> None:
        """Wait up to `seconds` for the program to write; the screen shows its output."""
        if b"%output" not in self._unread:
            self._read(seconds)
        self._unread = b""

    def _read(self, seconds: float) -> None:
        """Read tmux's output within a time, if any."""
        assert self._control.stdout is not None
        if select.select([self._control.stdout], [], [], max(seconds, 0))[0]:
            message = os.read(self._control.stdout.fileno(), 65536)
            if not message:
                raise Ended("the program has ended")
            self._unread += message
