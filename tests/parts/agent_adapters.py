"""Adapters that speak the Agent Client Protocol for Claude Code and Codex: packages of npm.

They run the programs of `tests.parts.claude_code` and `tests.parts.codex`, so the copies that they
bring are left out.
"""

from pathlib import Path

from tests.parts.npm import script_program

CLAUDE_VERSION = "0.101.0"
CODEX_VERSION = "2.6.0"


def claude_adapter() -> tuple[Path, Path]:
    """Node, and the adapter of Claude Code.

    Raises:
        MissingPart: Where there is no Node, or npm can't fetch the package.
    """
    package = f"@agentclientprotocol/claude-agent-acp@{CLAUDE_VERSION}"
    return script_program(package, "claude-agent-acp", "--omit=optional")


def codex_adapter() -> tuple[Path, Path]:
    """Node, and the adapter of Codex.

    Raises:
        MissingPart: Where there is no Node, or npm can't fetch the package.
    """
    package = f"@agentclientprotocol/codex-acp@{CODEX_VERSION}"
    return script_program(package, "codex-acp", "--omit=optional")
