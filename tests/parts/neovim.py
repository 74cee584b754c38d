"""Neovim 0.12 as Debian has it: the first with inline completions. The `test` extra has 0.11."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from tests.parts.debian import unpacked


@dataclass(frozen=True, slots=True)
class Neovim:
    """A Neovim that can be run.

    Attributes:
        command: Begins its command line.
        environment: What it needs in its environment.
        version: For example `0.12.4`.
    """

    command: list[str]
    environment: dict[str, str]
    version: str

    def write_script(self, path: Path) -> Path:
        """Write a shell script that runs it, and return its path."""
        path.parent.mkdir(parents=True, exist_ok=True)
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        line = shlex.join(["exec", "env", *variables, *self.command])
        path.write_text(f'#!/bin/sh\n{line} "$@"\n')
        path.chmod(0o755)
        return path


def ensure() -> Neovim:
    """Neovim of Debian's unstable suite.

    Raises:
        MissingPart: It can't be had on this machine.
    """
    # The names of its libraries change with their versions.
    part = unpacked("neovim", "sid", ("neovim",), dependencies=True)
    return Neovim(
        command=part.command("usr/bin/nvim"),
        environment={"VIMRUNTIME": str(part.root / "usr/share/nvim/runtime")},
        version=part.version.partition("-")[0],
    )
