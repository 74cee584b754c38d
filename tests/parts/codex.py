"""Codex, an agent in a terminal: the package `@openai/codex` of npm."""

from pathlib import Path

from tests.parts.npm import native_program

VERSION = "0.171.0"


def codex() -> Path:
    """The program, which needs no Node.

    Raises:
        MissingPart: Where there is no npm, or it can't fetch the package, or none is made for this
            platform.
    """
    return native_program(f"@openai/codex@{VERSION}", "@openai/codex-{platform}/vendor/*/bin/codex")
