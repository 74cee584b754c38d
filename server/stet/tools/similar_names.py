"""The names of files that are like one that is not there, for a model that has misremembered it."""

import asyncio
import difflib
from itertools import islice

from stet.tools.tool_context import ToolContext
from stet.tools.tool_errors import ToolError
from stet.workspace.snapshot import NotShown, Snapshot

MAX_FILES = 10_000
"""How many files of the workspace are looked through."""
MAX_NAMES = 5
_MAX_LENGTH = 200
"""Characters of a name that is looked for: comparing takes long with very long ones."""
_CUTOFF = 0.7


async def with_suggestions(error: ToolError, name: str, ctx: ToolContext) -> ToolError:
    """Give the error for a file that is not there, with the names that are like its own.

    Only files that may be shown are named. Any other error is given back as it is.
    """
    cause = error.__cause__
    if not isinstance(cause, NotShown) or cause.rule != "missing":
        return error
    suggestions = await asyncio.to_thread(similar_names, name, ctx.snapshot())
    hint = "Did you mean " + " or ".join(map(repr, suggestions)) + "?" if suggestions else ""
    hint = hint or "`list_files` gives the names."
    return ToolError(f"{error} {hint}")


def similar_names(name: str, snapshot: Snapshot) -> list[str]:
    """Names of files that are like a name, the most like first: those of the same last part, then those
    whose last part is spelt nearly so. Asks the disk.
    """
    path = name.strip().replace("\\", "/").casefold()[-_MAX_LENGTH:]
    last = path.rpartition("/")[2]
    by_last: dict[str, list[str]] = {}
    for located in islice(snapshot.walk(), MAX_FILES):
        by_last.setdefault(located.name.rpartition("/")[2].casefold(), []).append(located.name)
    like = difflib.get_close_matches(last, by_last, MAX_NAMES, _CUTOFF)
    names: list[str] = []
    for last_part in dict.fromkeys((last, *like)):
        names += sorted(
            by_last.get(last_part, ()),
            key=lambda each: -difflib.SequenceMatcher(None, path, each.casefold()).ratio(),
        )
    return names[:MAX_NAMES]
