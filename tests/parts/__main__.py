"""`python -m tests.parts` has every part before the tests run, so that none of them waits for a
download. With `--long` it has the parts of the long tests instead.

A part that can't be had is told; it is a failure under `CI`, else its tests are skipped. A part of
the long tests that can't be had is no failure: it belongs to strangers.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

from tests.parts import (
    agent_adapters,
    chromium,
    claude_code,
    code_server,
    codex,
    copilot_cli,
    emacs,
    gemini_cli,
    helix,
    human_eval,
    mcp_programs,
    mcp_servers,
    medium_model,
    neovim,
    opencode,
    qwen_code,
    tmux,
    vscode_extension,
)
from tests.parts.kept import MissingPart, cache

PARTS: dict[str, Callable[[], object]] = {
    "tmux": tmux.ensure,
    **{f"Helix {series}": partial(helix.ensure, series) for series in helix.SUITES},
    "Emacs": emacs.ensure,
    "Neovim 0.12": neovim.ensure,
    "Chromium": chromium.ensure,
    "code-server": code_server.ensure,
    "the extension for VS Code": vscode_extension.ensure,
    "OpenCode": opencode.opencode,
    "Claude Code": claude_code.claude_code,
    "Codex": codex.codex,
    "Copilot CLI": copilot_cli.copilot_cache,
    "the conformance tests of MCP": mcp_programs.conformance,
    "MCP Inspector": mcp_programs.inspector,
    "the adapter of Claude Code": agent_adapters.claude_adapter,
    "the adapter of Codex": agent_adapters.codex_adapter,
    "Gemini CLI": gemini_cli.gemini_cli,
    "Qwen Code": qwen_code.qwen_code,
    "MCP servers of npm": mcp_servers.mcp_servers,
    "HumanEval": human_eval.ensure,
}
LONG_PARTS: dict[str, Callable[[], object]] = {"the local model `medium`": medium_model.ensure}


def main(arguments: Sequence[str]) -> int:
    """Have them all; the exit code."""
    is_long = list(arguments) == ["--long"]
    missing = 0
    for name, ensure in (LONG_PARTS if is_long else PARTS).items():
        begun = time.monotonic()
        try:
            ensure()
        except MissingPart as reason:
            missing += 1
            sys.stderr.write(f"{name} is missing: {reason}\n")
        else:
            if (took := time.monotonic() - begun) > 1:
                sys.stdout.write(f"{name} is in {cache()} ({took:.0f} s)\n")
    return 1 if missing and os.environ.get("CI") and not is_long else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
