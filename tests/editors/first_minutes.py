"""A new user's first steps: the commands and keys of the README, in an empty home.

Only the pages of the checkout are used: Stet is installed from a wheel into a new environment, and
editors find it and the output of `stet config` as on any user's machine.
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
"""Prefixes of environment variables that a new user does not have."""


def spans(page: Path, line: str) -> list[str]:
    """Return the pieces of code in the only line of a page that begins with `line`."""
    found = [one for one in page.read_text().splitlines() if one.startswith(line)]
    assert len(found) == 1, f"{page.name} has {len(found)} lines that begin with {line!r}"
    return re.findall(r"`([^`]+)`", found[0])


def command(page: Path, line: str, begins: str) -> str:
    """Return the command in that line that begins with these words."""
    found = [span for span in spans(page, line) if span.startswith(begins)]
    assert found, f"{page.name} names no command {begins!r} in the line {line!r}"
    return found[0]


def config_command(editor: str) -> str:
    """Return the command that the README's table lists for an editor's configuration."""
    return command(README, f"| **{editor}**", "stet config")


def key(editor: str, does: str) -> str:
    """Return the first key in a page's table for the action that begins with these words."""
    page = (PAGES / editor / "README.md").read_text()
    rows = [row.strip("|").split("|") for row in page.splitlines() if row.startswith("| `")]
    found = [row[0].split("`")[1] for row in rows if row[-1].strip().startswith(does)]
    assert len(found) == 1, f"the page of {editor} has {len(found)} keys that {does!r}"
    return found[0]


@contextmanager
def installed(shared: Path) -> Iterator[Path]:
    """Yield the folder with `stet`, installed as the README says; users of `shared` share it.

    The last user removes the folder, which is too large to keep with the tests' output.

    Raises:
        AssertionError: If pip fails; with its output.
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
    # pip uses this machine's configuration, with its cache and proxies.
    typed = command(README, "To install the command", "pip install")
    _run(typed, CHECKOUT, {**_plain(), "PATH": path})


@contextmanager
def _users(made: Path, more: int = 1) -> Iterator[int]:
    """Count the users of a folder, including `more` new ones, under a lock."""
    with made.with_suffix(".users").open("a+") as counted:
        fcntl.flock(counted, fcntl.LOCK_EX)
        counted.seek(0)
        n = int(counted.read() or 0) + more
        yield n
        counted.truncate(0)
        counted.write(str(n))


@dataclass(frozen=True, slots=True)
class Stranger:
    """A new user with a few programs, an empty home and a project.

    Attributes:
        base: The folder for everything.
        stet: The folder in which Stet is installed.
    """

    base: Path
    stet: Path

    @property
    def home(self) -> Path:
        """Return the home folder, which only programs fill."""
        return self.base / "home"

    @property
    def programs(self) -> Path:
        """Return the folder of the editor, on the PATH."""
        return self.base / "bin"

    @property
    def root(self) -> Path:
        """Return the project's folder."""
        return self.base / "work"

    @property
    def path(self) -> str:
        """Return the search path: the folders of Stet, the editor and the system."""
        return os.pathsep.join(map(str, [self.stet, self.programs, "/usr/bin", "/bin"]))

    def begin(self, files: Mapping[str, str]) -> None:
        """Make the home and the project."""
        for folder in (self.home, self.programs, self.root / ".git"):
            folder.mkdir(parents=True)
        # As installers do: a login shell finds Stet, so configurations have its name.
        (self.home / ".profile").write_text(f"PATH='{self.stet}':$PATH\n")
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
        """Put a program on the PATH; return its path.

        Args:
            name: The name of the program.
            program: The command that starts it.
            environment: Variables in addition to its user's.
            first: Lines of shell to run before the start.
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
        """Run a command in a shell in the home; return its output without colours.

        Raises:
            AssertionError: If the command fails; with its output.
        """
        message = _run(typed, self.home, {**_plain(), **self.environment()})
        return re.sub("\x1b\\[[\\d;]*m", "", message).replace(str(self.home), "~")

    def environment(self, script: Path | None = None) -> dict[str, str]:
        """Return the whole environment of an editor.

        Args:
            script: The model script; None: there is no model.
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
    """Return the variables needed to reach a registry; none of Python's or Stet's."""
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
    """Return the path of a program of the `test` extra."""
    return Path(sys.executable).with_name(name)
