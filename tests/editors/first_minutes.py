"""What a stranger does first: the commands and keys as the README has them, in a home where nothing is.

Nothing of the checkout is used but its pages: Stet is installed from a wheel into an environment of its
own, and editors find it, and what `stet config` has written, as they would on anybody's machine.
"""

import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
README = CHECKOUT / "README.md"
PAGES = CHECKOUT / "client-configs"
SECONDS = 300
OURS = ("STET_", "XDG_", "PYTHON", "VIRTUAL_ENV", "COVERAGE_")
"""Of the environment of the tests, what nobody else has."""


def spans(page: Path, line: str) -> list[str]:
    """The pieces of code in the only line of a page that begins so."""
    found = [one for one in page.read_text().splitlines() if one.startswith(line)]
    assert len(found) == 1, f"{page.name} has {len(found)} lines that begin with {line!r}"
    return re.findall(r"`([^`]+)`", found[0])


def command(page: Path, line: str, begins: str) -> str:
    """The command in that line that begins with these words."""
    found = [span for span in spans(page, line) if span.startswith(begins)]
    assert found, f"{page.name} names no command {begins!r} in the line {line!r}"
    return found[0]


def config_command(editor: str) -> str:
    """How the README's table of editors has one of them configured."""
    return command(README, f"| **{editor}**", "stet config")


def key(editor: str, does: str) -> str:
    """The key that a page's table lists first for what begins with these words."""
    page = (PAGES / editor / "README.md").read_text()
    rows = [row.strip("|").split("|") for row in page.splitlines() if row.startswith("| `")]
    found = [row[0].split("`")[1] for row in rows if row[-1].strip().startswith(does)]
    assert len(found) == 1, f"the page of {editor} has {len(found)} keys that {does!r}"
    return found[0]


@contextmanager
def installed(shared: Path) -> Iterator[Path]:
    """The folder with `stet`, installed as the README says; one for all at a time who share a folder.

    The last to leave removes it: it is too large to be kept with what tests leave behind.

    Raises:
        AssertionError: pip can't; with what it says.
    """
    made = shared / "environment"
    with _users(made) as n:
        if n == 1:
            _install(made)
    yield made / "bin"
    with _users(made, -1) as n:
        if n == 0:
            shutil.rmtree(made)


def _install(made: Path) -> None:
    venv.create(made, with_pip=True)
    path = os.pathsep.join([str(made / "bin"), os.environ["PATH"]])
    # pip is as this machine has it set up, with its cache and its proxies.
    typed = command(README, "To install the command", "pip install")
    _run(typed, CHECKOUT, {**_plain(), "PATH": path})


@contextmanager
def _users(made: Path, more: int = 1) -> Iterator[int]:
    """How many use a folder with this one more; nobody else comes or goes meanwhile."""
    with made.with_suffix(".users").open("a+") as counted:
        fcntl.flock(counted, fcntl.LOCK_EX)
        counted.seek(0)
        n = int(counted.read() or 0) + more
        yield n
        counted.truncate(0)
        counted.write(str(n))


@dataclass(frozen=True, slots=True)
class Stranger:
    """Somebody with a program or two, an empty home and a project.

    Attributes:
        base: A folder for all of it.
        stet: The folder that Stet is installed in.
    """

    base: Path
    stet: Path

    @property
    def home(self) -> Path:
        """Empty but for what programs put there."""
        return self.base / "home"

    @property
    def programs(self) -> Path:
        """The folder of the editor, on the PATH."""
        return self.base / "bin"

    @property
    def root(self) -> Path:
        """The project."""
        return self.base / "work"

    @property
    def path(self) -> str:
        """The folders that programs are found in: Stet's, the editor's, the system's."""
        return os.pathsep.join(map(str, [self.stet, self.programs, "/usr/bin", "/bin"]))

    def begin(self, files: Mapping[str, str]) -> None:
        """Make home and project."""
        for folder in (self.home, self.programs, self.root / ".git"):
            folder.mkdir(parents=True)
        for name, text in files.items():
            (self.root / name).write_bytes(text.encode())

    def has(
        self,
        name: str,
        program: Sequence[str | Path],
        environment: Mapping[str, str] | None = None,
        *,
        first: str = "",
    ) -> Path:
        """Put a program on the PATH; gives where it is.

        Args:
            name: What it is called.
            program: How it is started.
            environment: What it needs beside its user's.
            first: Lines of a shell before it is started.
        """
        given = "".join(
            f"export {name}={shlex.quote(value)}\n" for name, value in (environment or {}).items()
        )
        script = self.programs / name
        line = f'exec {shlex.join(map(str, program))} "$@"\n'
        script.write_text(f"#!/bin/sh\n{first}{given}{line}")
        script.chmod(0o755)
        return script

    def runs(self, typed: str) -> str:
        """Type a command into a shell in the home; gives all that it says, without colours.

        Raises:
            AssertionError: It fails; with what it says.
        """
        message = _run(typed, self.home, {**_plain(), **self.environment()})
        return re.sub("\x1b\\[[\\d;]*m", "", message).replace(str(self.home), "~")

    def environment(self, script: Path | None = None) -> dict[str, str]:
        """All that an editor has in its environment.

        Args:
            script: What the model says; None: there is no model.
        """
        kinds = ("CONFIG", "DATA", "STATE", "CACHE")
        return {
            "HOME": str(self.home),
            "PATH": self.path,
            "LANG": "C.UTF-8",
            **{f"XDG_{kind}_HOME": str(self.home / kind.lower()) for kind in kinds},
            **({} if script is None else {"STET_SCRIPTED_MODEL": str(script)}),
        }


def _plain() -> dict[str, str]:
    """What this machine needs to reach a registry; nothing of Python's or Stet's own."""
    return {name: value for name, value in os.environ.items() if not name.startswith(OURS)}


def _run(typed: str, folder: Path, environment: Mapping[str, str]) -> str:
    done = subprocess.run(
        typed,
        shell=True,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{typed}\n{done.stdout}"
    return done.stdout


def beside_python(name: str) -> Path:
    """A program of the `test` extra."""
    return Path(sys.executable).with_name(name)
