"""Files that change on the disk, for editors that tell a server of none."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from stet.workspace.uris import uri_of

log = logging.getLogger(__name__)

_STEP_MS = 30
_DEBOUNCE_MS = 200
"""Changes that come within are told together."""
_NEVER = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__"})
"""Folders whose changes are many and of no interest; what is shown is decided elsewhere."""


def watch_folders(folders: Sequence[Path], changed: Callable[[dict[str, Any]], None]) -> None:
    """Tell `changed`, as a message, what changes below `folders`, until the process ends."""
    try:
        import watchfiles  # takes long, and only some editors need it
    except ImportError as missing:
        log.warning("changes on the disk are not noticed: %s", missing)
        return
    try:
        for changes in watchfiles.watch(
            *folders,
            watch_filter=lambda _, path: _NEVER.isdisjoint(Path(path).parts),
            step=_STEP_MS,
            debounce=_DEBOUNCE_MS,
            raise_interrupt=False,
        ):
            paths = sorted({path for _, path in changes})
            changed({"do": "changed", "uris": [uri_of(Path(path)) for path in paths]})
    except (OSError, RuntimeError) as fault:
        log.warning("changes on the disk are not noticed any more: %s", fault)
