"""What an editor visibly showed in a run, held against what is written down beside the tests.

A test notes what it saw, in a few words and only what the editor itself had on its screen, or in what
its screen is drawn from. `seen/EDITOR.json` says what it was when it was last looked at; the
table of `docs/editors.md` is made from these files (`tests.editors.table`). Renewed by running the test with
`STET_RENEW=1`; whoever does so reads the difference.
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
        "review": "all that waits as one diff",
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
"""What can be shown: the key in the files, and what the table calls it. Its order is the table's."""
NO = "no"
"""Looked for and not there."""


@dataclass(slots=True)
class Shown:
    """What one test saw in one editor.

    Attributes:
        editor: The name of its file: `neovim`, `helix-25.07`.
        title: The head of its column, with the version that matters: `Neovim 0.11`.
        seen: By row, in a few words: "virtual lines", "popup", `NO`.
    """

    editor: str
    title: str
    seen: dict[str, str] = field(default_factory=dict)

    def saw(self, row: str, how: str) -> None:
        """Note how something was shown; a row once noted is not seen otherwise."""
        assert row in ROWS, f"{row!r} is none of {sorted(ROWS)}"
        assert self.seen.setdefault(row, how) == how, f"{row!r} was {self.seen[row]!r}, now {how!r}"

    def check(self) -> None:
        """Hold what was seen against the file; other rows are other tests'.

        Raises:
            AssertionError: If it was seen otherwise then.
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
