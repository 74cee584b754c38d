"""Helix, in the two versions that Debian has: one without arguments for a server's commands, one
with.
"""

from dataclasses import dataclass

from tests.parts.debian import unpacked

SUITES = {"25.01": "trixie", "25.07": "sid"}
"""The suite that has each version, by its first two numbers."""


@dataclass(frozen=True, slots=True)
class Helix:
    """A Helix that can be run.

    Attributes:
        command: Begins its command line.
        environment: What it needs in its environment.
        version: For example `25.01.1`.
    """

    command: list[str]
    environment: dict[str, str]
    version: str


def ensure(series: str) -> Helix:
    """Helix of a series, `25.01` or `25.07`, or what came after it in its suite.

    Raises:
        MissingPart: It can't be had on this machine.
    """
    part = unpacked("helix", SUITES[series], ("hx", "libc6", "libgcc-s1"))
    return Helix(
        command=part.command("usr/bin/hx"),
        environment={"HELIX_RUNTIME": str(part.root / "usr/lib/hx/runtime")},
        version=part.version.partition("+")[0].partition("-")[0],
    )
