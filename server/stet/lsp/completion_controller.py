"""Inline completions in the editor: their registration, and the one request that is in progress.

The request ends with the next change of its document, with a newer request, and if the editor
cancels it: its connection to the model's server is then closed.
"""

from collections.abc import Callable

from stet.completion.inline_completer import CursorPlace, InlineCompleter
from stet.lsp.editor_client import Client
from stet.lsp.tasks import LatestRequest, Spawn
from stet.system.system import System
from stet.text.position import Range
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace


class CompletionController:
    """The inline completions of one editor; used on the event loop only.

    Attributes:
        completing: The canonical URI of the document of the latest request, until it is changed.
    """

    def __init__(
        self,
        workspace: Workspace,
        client: Client,
        system: System,
        spawn: Spawn[str],
        tracer: Callable[[], Callable[[str], None] | None],
    ) -> None:
        """Create the controller; nothing is sent yet. See `InlineCompleter` for the `tracer`."""
        self._workspace = workspace
        self._client = client
        self._completer = InlineCompleter(system, workspace.request_log, client.warn, tracer)
        self._latest: LatestRequest[str] = LatestRequest(spawn, "an inline completion")
        self.completing: set[str] = set()
        self._is_registered = False

    async def complete(self, uri: str, replaced: Range, inserted: str, *, delay: bool) -> str:
        """Return the text to insert at the cursor; "" for nothing to offer.

        Args:
            uri: The URI of the document.
            replaced: The text before the cursor, on its line, that `inserted` replaces.
            inserted: A text that is inserted before the completion.
            delay: Whether to wait for another keystroke first.
        """
        self._latest.stop()
        if not self._workspace.settings.completion.enabled:
            return ""
        self.completing.clear()
        self.completing.add(canonical(uri))
        place = CursorPlace(uri, replaced, inserted)
        snapshot = self._workspace.snapshot()
        return await self._latest.run(self._completer.complete(snapshot, place, delay=delay), "")

    def edited(self) -> None:
        """End the request in progress, as its document was changed; called at a keystroke."""
        self.completing.clear()
        self._latest.stop()

    def settings_changed(self) -> None:
        """Register for completions, or end the registration, as the settings want it."""
        is_wanted = self._workspace.settings.completion.enabled
        if not is_wanted:
            self._latest.stop()
        if not self._client.capabilities.inline_completion_dynamic:
            return
        if is_wanted and not self._is_registered:
            self._client.register_inline_completion()
        elif self._is_registered and not is_wanted:
            self._client.unregister_inline_completion()
        self._is_registered = is_wanted

    def to_json(self) -> dict[str, object]:
        """Return the state for `stet.status`."""
        settings, problem = self._workspace.settings.completion, self._completer.problem
        state = "off" if not settings.enabled else "failed" if problem else "on"
        return {"state": state, "why": problem or None}

    async def close(self) -> None:
        """Close the connections to the model's server."""
        self._latest.stop()
        await self._completer.close()
