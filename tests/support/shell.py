"""The console script as a person or a script runs it: a real process with its own home."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.server_processes import run_shell

STET = (sys.executable, "-I", "-m", "stet.cli.main")
SECONDS = 60


@dataclass
class Shell:
    """A working folder with a home beside it, and the replies of a scripted model."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, base: Path) -> "Shell":
        folder = base / "work"
        folder.mkdir()
        env = {
            "HOME": str(base / "home"),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            **{
                f"XDG_{name}_HOME": str(base / name)
                for name in ("CONFIG", "STATE", "DATA", "CACHE")
            },
        }
        return cls(folder.resolve(), env)

    def script(self, *replies: dict[str, Any]) -> None:
        path = self.folder.parent / "script.json"
        path.write_text(json.dumps(replies))
        self.env["STET_SCRIPTED_MODEL"] = str(path)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_bytes(text.encode())
        return path

    def run(
        self, *arguments: str, typed: str = "", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return run_shell(
            [*STET, *arguments],
            typed=typed,
            cwd=self.folder,
            env=self.env | (env or {}),
            seconds=SECONDS,
        )

    def left_running(self) -> list[str]:
        """Return the command lines of processes that still run in the folder (Linux only)."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "cwd").readlink() == self.folder:
                    found.append((process / "cmdline").read_text().replace("\0", " "))
            except OSError:  # the process has ended, or belongs to another user
                continue
        return found


class Screen:
    """The console script in a terminal."""

    def __init__(self, shell: Shell, arguments: Sequence[str]) -> None:
        self._terminal, child = pty.openpty()
        self._process = subprocess.Popen(
            [*STET, *arguments],
            cwd=shell.folder,
            env=shell.env | {"TERM": "xterm-256color", "COLUMNS": "100"},
            stdin=child,
            stdout=child,
            stderr=child,
            start_new_session=True,
        )
        os.close(child)
        self.shown = ""

    def wait_for(self, text: str) -> None:
        """Read until `text` is shown."""
        until = time.monotonic() + SECONDS
        while text not in self.shown:
            if not self._read(until):
                raise AssertionError(f"{text!r} was never shown:\n{self.shown}")

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def interrupt(self) -> None:
        """Send Ctrl-C, as a terminal delivers it to the foreground program."""
        self._process.send_signal(signal.SIGINT)

    def ended(self) -> int:
        """Read the rest; return the exit code."""
        until = time.monotonic() + SECONDS
        while self._read(until):
            pass
        os.close(self._terminal)
        return self._process.wait(SECONDS)

    def _read(self, until: float) -> bool:
        """Read the next output; return False at the end."""
        ready, _, _ = select.select([self._terminal], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            self._process.kill()
            raise AssertionError(f"nothing more was shown:\n{self.shown}")
        try:
            chunk = os.read(self._terminal, 65536)
        except OSError:  # the other end is closed
            return False
        self.shown += chunk.decode(errors="replace")
        return bool(chunk)
