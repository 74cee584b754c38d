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
        is_wanted = wanted_below(folders)
        for changes in watchfiles.watch(
            *folders,
            watch_filter=lambda _, path: is_wanted(path),
            step=_STEP_MS,
            debounce=_DEBOUNCE_MS,
            raise_interrupt=False,
        ):
            paths = sorted({path for _, path in changes})
            changed({"do": "changed", "uris": [uri_of(Path(path)) for path in paths]})
    except (OSError, RuntimeError) as fault:
        log.warning("changes on the disk are not noticed any more: %s", fault)


def wanted_below(folders: Sequence[Path]) -> Callable[[str], bool]:
    """Tells of a path whether a change there is of interest to one of `folders`.

    What lies above a folder does not count: somebody may work on a package where it is installed.
    """
    # Some systems tell of a change by the path that no link is part of.
    roots = {each for folder in folders for each in (folder, folder.resolve())}

    def is_wanted(path: str) -> bool:
        changed = Path(path)
        return any(
            changed.is_relative_to(root) and _NEVER.isdisjoint(changed.relative_to(root).parts)
            for root in roots
        )

    return is_wanted
