"""The visible output of an editor in a run, compared with a recorded file.

A test records in a few words what it saw, only from the editor's screen or from the data that the
screen is drawn from. `seen/EDITOR.json` has the last recorded run; the table of `docs/editors.md`
is made from these files (`tests.editors.table`). Run the test with `STET_RENEW=1` to update a file,
and review the difference.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

FOLDER = Path(__file__).with_name("seen")
ROWS: Mapping[str, str] = MappingProxyType(
    {
        "diagnostics": "a hunk and its diff",
        "menu": "accept, reject and more as code actions",
        "accept": "accepted by",
        "lens": "code lens above a hunk",
        "hover": "diff on hover",
        "preview": "the editor's own preview of edits",
        "next": "to the next hunk, in another file, by",
        "review": "all pending hunks as one diff",
        "progress": "what a running turn does",
        "cancel": "cancelled by",
        "question": "a question of the agent's",
        "notification": "the end of a turn",
        "undo": "what was accepted is undone by",
        "status": "status always in sight",
        "chat": "the conversation",
        "selection": "cursor and selection are known",
        "search": "places found by words",
    }
)
"""What an editor may show: keys of the files and names in the table, in the table's order."""
NO = "no"
"""Searched and not found."""


@dataclass(slots=True)
class Shown:
    """The output that one test saw in one editor.

    Attributes:
        editor: The name of the editor's file: `neovim`, `helix-25.07`.
        title: The head of the table's column, with the version: `Neovim 0.11`.
        seen: The output by row, in a few words: "virtual lines", "popup", `NO`.
    """

    editor: str
    title: str
    seen: dict[str, str] = field(default_factory=dict)

    def saw(self, row: str, how: str) -> None:
        """Record how something was shown; a later value must be equal."""
        assert row in ROWS, f"{row!r} is not one of {sorted(ROWS)}"
        assert self.seen.setdefault(row, how) == how, f"{row!r} was {self.seen[row]!r}, now {how!r}"

    def check(self) -> None:
        """Compare the recorded rows with the file; other tests check the other rows.

        Raises:
            AssertionError: If the file differs.
        """
        file = FOLDER / f"{self.editor}.json"
        before: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        rows = {**before.get("rows", {}), **self.seen}
        now = {"title": self.title, "rows": {row: rows[row] for row in ROWS if row in rows}}
        if os.environ.get("STET_RENEW"):
            file.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n")
            return
        assert now == before, (
            f"{self.editor} shows other things than tests/editors/seen/{file.name} says: "
            "run this test with STET_RENEW=1 and look at the difference"
        )
