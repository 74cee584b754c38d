"""What Stet has captured of each real agent in the shared scenario, by version.

A test compares what it saw with the recorded file in `captured/` (`STET_RENEW=1` records it anew).
`python -m tests.agents.captured_edits --write` writes the table of docs/agents.md from the files.
"""

import json
import os
import sys
from pathlib import Path

from tests.parts import (
    agent_adapters,
    claude_code,
    codex,
    copilot_cli,
    gemini_cli,
    opencode,
    qwen_code,
)

FOLDER = Path(__file__).with_name("captured")
PAGE = Path(__file__).parents[2] / "docs" / "agents.md"
BEGIN, END = "<!-- captured -->", "<!-- /captured -->"
TITLES = {
    "claude": "Claude Code",
    "codex": "Codex",
    "copilot": "Copilot CLI",
    "gemini": "Gemini CLI",
    "opencode": "OpenCode",
    "qwen": "Qwen Code",
}
VERSIONS = {
    "claude": claude_code.VERSION,
    "codex": codex.VERSION,
    "copilot": copilot_cli.VERSION,
    "gemini": gemini_cli.VERSION,
    "opencode": opencode.VERSION,
    "qwen": qwen_code.VERSION,
}
ADAPTERS = {"claude": agent_adapters.CLAUDE_VERSION, "codex": agent_adapters.CODEX_VERSION}
"""The versions of the programs by which these agents speak ACP."""
WAYS = {
    "terminal": "in a terminal",
    "chat": "in the chat",
    "isolated": "in the chat, isolated, without hooks",
}
COLUMNS = ("agent", "where", "the unsaved text is in", "hunks", "disk before accept", "next prompt")


def record(agent: str, way: str, seen: dict[str, str]) -> None:
    """Compare what a test saw of an agent with the recorded file, or write the file.

    Raises:
        AssertionError: If they differ.
    """
    path = FOLDER / f"{agent}-{way}.json"
    row = {"version": version_of(agent, way), **seen}
    if os.environ.get("STET_RENEW"):
        path.write_text(json.dumps(row, indent=2) + "\n")
    recorded = json.loads(path.read_text()) if path.exists() else None
    assert row == recorded, "run this test with STET_RENEW=1 and look at the difference"


def version_of(agent: str, way: str) -> str:
    """Return the tested version of an agent."""
    adapter = ADAPTERS.get(agent, "") if way != "terminal" else ""
    return f"{VERSIONS[agent]}, adapter {adapter}" if adapter else VERSIONS[agent]


def table() -> str:
    """Return the table of all recorded files."""
    rows = [COLUMNS, tuple("---" for _ in COLUMNS)]
    for agent, title in TITLES.items():
        for way, where in WAYS.items():
            path = FOLDER / f"{agent}-{way}.json"
            if not path.exists():
                continue
            row = json.loads(path.read_text())
            name = f"{title} {row['version']}"
            cells = (row["unsaved"], row["hunks"], row["disk"], row["prompt"])
            rows.append((name, where, *cells))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def with_table(page: str) -> str:
    """Return a page with the table between its marks."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{table()}\n{END}{tail}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(with_table(PAGE.read_text()))
    else:
        _ = sys.stdout.write(table())
