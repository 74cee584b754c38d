"""An open document with a session of another agent.

page = SharedPage("one\\ntwo\\n")
page.change("two", "zwei")
await page.view.write(A, "one\\ntwo\\n", "one\\n2\\n")
"""

from itertools import count

from stet.bridges.session_view import SessionView
from stet.review.ledger import ReviewLedger
from stet.settings.values import Settings
from stet.text.diff import changes_between
from stet.text.edit import TextChange
from stet.workspace.workspace import Modification, ModificationKind, WireEdit
from tests.support.review_harness import ReviewHarness
from tests.support.workspaces import make_workspace

PATH = "/ws/a.txt"
A = f"file://{PATH}"
TEXT = "one\ntwo\nthree\nfour\n"


class SharedPage(ReviewHarness):
    """An open document in a workspace, with a session of another agent."""

    def __init__(
        self,
        text: str = TEXT,
        settings: Settings | None = None,
        ledger: ReviewLedger | None = None,
    ) -> None:
        super().__init__(text, A)
        self.ledger = ledger or self.ledger
        self.workspace = make_workspace({PATH: text}, opened={PATH: text}, settings=settings)
        self._turns = count(1)
        self.view = self.session("claude-1")

    def session(self, chat: str) -> SessionView:
        agent = chat.partition("-")[0]
        return SessionView(self.workspace, self.ledger, lambda: next(self._turns), agent, chat)

    def follow(self, *changes: TextChange) -> None:
        edits = tuple(
            WireEdit(
                one.range.start.line, one.range.start.character,
                one.range.end.line, one.range.end.character, one.text,
            )
            for one in changes
        )  # fmt: skip
        version = (self.workspace.version(A) or 0) + 1
        self.workspace.apply(Modification(ModificationKind.CHANGED, A, version, edits=edits))
        super().follow(*changes)

    def change(self, old: str, new: str) -> None:
        """Replace text as the user; `old` occurs once."""
        assert self.text.count(old) == 1
        self.apply(*changes_between(self.text, self.text.replace(old, new)))

    async def write(self, old: str, new: str, *, read: str = TEXT) -> list[str]:
        """Replace text that the session has read; return the states of the hunks."""
        hunks = await self.view.write(A, read, read.replace(old, new))
        return [str(hunk.state) for hunk in hunks]


def states_by_id(page: SharedPage) -> list[str]:
    """Return the states of the hunks in the order in which they were made."""
    return [str(hunk.state) for hunk in sorted(page.hunks, key=lambda one: one.number)]
