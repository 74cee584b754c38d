"""Errors of the ledger.

ReviewError
├── UnknownHunk
├── HunkOverlap
├── BlockInTheWay
├── WrongHunkState
│   └── EditInFlight
└── UndoConflict
"""

import difflib

from stet.review.proposal import Hunk


class ReviewError(Exception):
    """The base of the errors; the message is a sentence for the user or the model."""


class UnknownHunk(ReviewError):
    """No hunk has this id."""

    def __init__(self, hunk_id: str, known: tuple[str, ...]) -> None:
        near = difflib.get_close_matches(hunk_id, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "; list them with `stet.proposals`"
        super().__init__(f"there is no hunk {hunk_id!r}{hint}")


class HunkOverlap(ReviewError):
    """A new hunk would share its place with a hunk that can't be replaced."""

    def __init__(self, hunk: Hunk) -> None:
        first, last = hunk.range.start.line + 1, hunk.range.last_line + 1
        self.hunk = hunk
        super().__init__(
            f"lines {first}-{last} already have a pending hunk ({hunk.id}: {hunk.summary}); put "
            "both changes of that place into one edit"
        )


class BlockInTheWay(ReviewError):
    """A new hunk would change the lines that a block in the file represents."""

    def __init__(self, first: int, end: int) -> None:
        lines = f"line {first + 1}" if end <= first + 1 else f"lines {first + 1}-{end}"
        super().__init__(
            f"{lines}: there the file holds an edit as an `ai-edit` block, which waits for the user's "
            "decision. Leave these lines as they are, or ask the user to decide it first"
        )


class WrongHunkState(ReviewError):
    """The requested action is not possible in the current state of the hunk."""


class EditInFlight(WrongHunkState):
    """An edit of the hunk was sent, and the editor must first report its text."""

    def __init__(self, hunk_id: str) -> None:
        super().__init__(f"{hunk_id} is being applied: try again in a moment")


class UndoConflict(ReviewError):
    """The user has changed the text of an accepted hunk since."""

    def __init__(self, hunk_id: str) -> None:
        super().__init__(
            f"{hunk_id} can't be undone: you have edited these lines since. Your editor's own "
            "undo still works."
        )
