"""Changes of an editor that sends them out of order: each waits until those before it are there.

Helix up to 25.01 gives every notification to a task of its own, so keys that arrive at once (a paste,
a macro, a key held down) are told as versions 9, 10, 14, 11, 12, 13, 15. Its versions count by one.
So a change whose version leaves a gap waits, and all are taken by their versions. What does not come
within a moment is not on its way: Helix also counts changes that it takes back and tells nobody of.
"""

import asyncio
import logging
from collections.abc import Callable

from stet.workspace.modification import Modification
from stet.workspace.uris import canonical

log = logging.getLogger(__name__)

HOLD_SECONDS = 0.4
"""How long a change waits for those before it; what was overtaken comes within milliseconds."""
MAX_WAITING = 1000
"""Changes of one document; more are no burst of keys."""


class ReorderBuffer:
    """What arrives of each open document, in the order of its versions. Touched on the loop only."""

    def __init__(self, apply: Callable[[Modification], None]) -> None:
        """`apply` is given every change, once, when its turn has come."""
        self._apply = apply
        self._last: dict[str, int] = {}
        self._held: dict[str, dict[int, Modification]] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def opened(self, uri: str, version: int) -> None:
        """Start the document at `version`. Waiting changes belong to the earlier text and are
        applied first.
        """
        key = canonical(uri)
        self._flush(key)
        self._last[key] = version

    def closed(self, uri: str) -> None:
        """End the document; apply its waiting changes first."""
        key = canonical(uri)
        self._flush(key)
        self._last.pop(key, None)

    def change(self, modification: Modification) -> None:
        """Take a change now, or when those before it are there."""
        key, version = canonical(modification.uri), modification.version
        last = self._last.get(key)
        if last is None or version is None or version <= last:
            if last is not None and version is not None and version < last:
                log.warning("%r: version %d came behind %d", modification.uri, version, last)
            self._apply(modification)
            return
        waiting = self._held.get(key)
        if version == last + 1:
            self._last[key] = version
            self._apply(modification)
            if waiting:
                self._apply_next(key, waiting)
            return
        if waiting is None:
            waiting = self._held[key] = {}
            loop = asyncio.get_running_loop()
            self._timers[key] = loop.call_later(HOLD_SECONDS, self._flush, key)
        if version in waiting:
            # Two of one version are in no order but that in which they came.
            self._flush(key)
            self._apply(modification)
            return
        waiting[version] = modification
        if len(waiting) > MAX_WAITING:
            self._flush(key)

    def _apply_next(self, key: str, waiting: dict[int, Modification]) -> None:
        """Take what has waited for nothing else."""
        while (following := waiting.pop(self._last[key] + 1, None)) is not None:
            self._last[key] += 1
            self._apply(following)
        if not waiting:
            self._forget(key)

    def _flush(self, key: str) -> None:
        """Take all that waits, by its versions: what is missing will not come."""
        waiting = self._held.get(key)
        if waiting is None:
            return
        self._forget(key)
        self._last[key] = max(waiting)
        for version in sorted(waiting):
            self._apply(waiting[version])

    def _forget(self, key: str) -> None:
        del self._held[key]
        self._timers.pop(key).cancel()
