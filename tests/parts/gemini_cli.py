"""Gemini CLI, an agent in a terminal: the package `@google/gemini-cli` of npm."""

from pathlib import Path

from tests.parts.npm import script_program

VERSION = "0.61.0"


def gemini_cli() -> tuple[Path, Path]:
    """Node, and the program that it runs.

    Raises:
        MissingPart: Where there is no Node, or npm can't fetch the package.
    """
    return script_program(f"@google/gemini-cli@{VERSION}", "gemini")
