"""Claude Code, an agent in a terminal: the package `@anthropic-ai/claude-code` of npm."""

from pathlib import Path

from tests.parts.npm import native_program

VERSION = "2.1.332"


def claude_code() -> Path:
    """The program, which needs no Node.

    Raises:
        MissingPart: Where there is no npm, or it can't fetch the package, or none is made for this
            platform.
    """
    return native_program(
        f"@anthropic-ai/claude-code@{VERSION}", "@anthropic-ai/claude-code-{platform}/claude"
    )
