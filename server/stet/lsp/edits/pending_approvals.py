"""What the user has accepted and the editor has not written yet, and may still be taken back."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from stet.review.proposal import Hunk


class Approval:
    """One yes to some hunks of lines; a hunk leaves it when the user takes the yes back."""

    def __init__(self, hunks: Iterable[Hunk]) -> None:
        """`hunks` are as they were when the user accepted them."""
        self._agreed = {hunk.id: hunk for hunk in hunks}

    def __contains__(self, hunk_id: str) -> bool:
        return hunk_id in self._agreed

    def accepted_hunk(self, hunk_id: str) -> Hunk | None:
        """Return the hunk as it was accepted; None if it is not part of this approval any more."""
        return self._agreed.get(hunk_id)

    def withdraw(self, hunk_id: str) -> None:
        """Take a hunk out."""
        self._agreed.pop(hunk_id, None)


class PendingApprovals:
    """All approvals that are not settled yet. Touched on the event loop only."""

    def __init__(self) -> None:
        self._active: list[Approval] = []

    @contextmanager
    def hold(self, hunks: Iterable[Hunk]) -> Iterator[Approval]:
        """Hold an approval of `hunks` until the block is left."""
        approval = Approval(hunks)
        self._active.append(approval)
        try:
            yield approval
        finally:
            self._active.remove(approval)

    def holds(self, hunk_id: str) -> bool:
        """Return whether an approval of this hunk is not settled yet."""
        return any(hunk_id in approval for approval in self._active)

    def withdraw(self, hunk_id: str) -> bool:
        """Take a hunk out of every approval; return whether there was one."""
        approvals = self.holds(hunk_id)
        for approval in self._active:
            approval.withdraw(hunk_id)
        return approvals
