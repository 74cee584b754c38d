"""OpenCode, an agent in a terminal with an HTTP server: the package `opencode-ai` of npm."""

from pathlib import Path

from tests.parts.npm import native_program

VERSION = "1.18.33"


def opencode() -> Path:
    """The program, which needs no Node.

    Raises:
        MissingPart: Where there is no npm, or it can't fetch the package, or none is made for this
            platform.
    """
    return native_program(f"opencode-ai@{VERSION}", "opencode-{platform}/bin/opencode")
