"""The views of all sessions of other agents: each session has one, whichever way it reaches Stet.

A session of Claude Code may call hooks, go on in an overlay of `stet run`, and call hooks again. It
is the same session, and is sent each decision of the user once.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from stet.review.ledger import ReviewLedger
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.bridges.session_view import SessionView

MAX_VIEWS = 128
"""The most views; the one opened longest ago is closed, and its session begins anew."""


class SessionViews:
    """The owner of the views; used on the event loop only."""

    def __init__(
        self, workspace: Workspace, ledger: ReviewLedger, number: Callable[[], int]
    ) -> None:
        """Have no view yet.

        Args:
            workspace: The open documents and the files.
            ledger: The proposals.
            number: Returns the number of a new turn; it blocks.
        """
        self._workspace = workspace
        self._ledger = ledger
        self._number = number
        self._views: dict[tuple[str, str], SessionView] = {}

    def open(self, agent: str, chat: str) -> "SessionView":
        """Return the view of a session, which is created at the first call.

        Args:
            agent: The name of the agent, the author of its hunks.
            chat: The id of the session.
        """
        from stet.bridges.session_view import SessionView  # late: needed by other agents only

        key = agent, chat
        view = self._views.pop(key, None)
        if view is None:
            view = SessionView(self._workspace, self._ledger, self._number, agent, chat)
        self._views[key] = view  # the latest one last
        if len(self._views) > MAX_VIEWS:
            del self._views[next(iter(self._views))]
        return view

    def close(self, view: "SessionView") -> None:
        """Forget the view of a session that has ended and can't go on."""
        self._views.pop((view.agent, view.chat), None)
