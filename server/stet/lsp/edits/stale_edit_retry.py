"""Edits that the user has outrun: refused because the text had another version by then.

The text moves on while the editor has yet to look at an edit, so the edit is made anew for the text as
it is then. Editors differ in when they tell of that text: most before they answer; Emacs and editors
that collect changes only when the user pauses.
"""

import asyncio
import re

from stet.lsp.edits.edit_errors import EditError, EditMisapplied, EditRefused, EditUnanswered
from stet.text.document import TextDocument
from stet.workspace.workspace import Workspace

NAMED_SECONDS = 30.0
"""How long newer text is waited for when the editor says that the version was the reason."""
UNNAMED_SECONDS = 0.7
"""The same when it gives no such reason: editors collect changes for half a second at most."""
PAUSE_SECONDS = 0.3
"""How long the text must stay as it is before an editor that checks no versions is asked again."""
POLL_SECONDS = 0.02

_NAMES_VERSION = re.compile(
    r"version|outdated|out of date|stale|has changed|been changed|been modified|newer",
    re.IGNORECASE,
)


class StaleEditRetry:
    """Tells whether a refused edit can be made anew for newer text."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def wait_for_newer_text(self, document: TextDocument, refused: EditError) -> bool:
        """Wait for a text that is newer than the one that a refused edit was made for.

        Args:
            document: What the edit was made for.
            refused: Why it was not applied.

        Returns:
            False if the edit was refused for another reason, or may still be applied.
        """
        if document.version is None or isinstance(refused, EditUnanswered):
            return False
        if self._is_newer(document):
            if isinstance(refused, EditMisapplied):
                await self._wait_for_pause(document.uri)
            return True
        if not isinstance(refused, EditRefused):
            return False
        named = _NAMES_VERSION.search(str(refused))
        return await self._wait_for_newer(document, NAMED_SECONDS if named else UNNAMED_SECONDS)

    def _is_newer(self, document: TextDocument) -> bool:
        now = self._workspace.document(document.uri)
        # Of a file that was closed meanwhile the disk has the text.
        return now is None or now.version != document.version

    async def _wait_for_newer(self, document: TextDocument, seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not self._is_newer(document):
            if loop.time() >= end:
                return False
            await asyncio.sleep(POLL_SECONDS)
        return True

    async def _wait_for_pause(self, uri: str) -> None:
        """Wait until the user does not type: what is sent earlier would be misplaced again."""
        loop = asyncio.get_running_loop()
        revision, since = self._workspace.revision(uri), loop.time()
        while loop.time() - since < PAUSE_SECONDS:
            await asyncio.sleep(POLL_SECONDS)
            if (now := self._workspace.revision(uri)) != revision:
                revision, since = now, loop.time()
