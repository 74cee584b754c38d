"""Qwen Code, an agent in a terminal: the package `@qwen-code/qwen-code` of npm."""

from pathlib import Path

from tests.parts.npm import script_program

VERSION = "0.24.4"


def qwen_code() -> tuple[Path, Path]:
    """Node, and the program that it runs.

    Raises:
        MissingPart: Where there is no Node, or npm can't fetch the package.
    """
    return script_program(f"@qwen-code/qwen-code@{VERSION}", "qwen")
