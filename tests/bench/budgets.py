"""The rows that the benchmarks must yield, so that a missing row is reported.

Rows that only explain another row (`in_detail`) are not listed.
"""

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

ROWS: Mapping[str, tuple[str, ...]] = {
    "didchange": (
        "didChange, 10,000 lines",
        "didChange, 10,000 lines, ours alone",
        "didChange, 100,000 lines",
        "didChange, 100,000 lines, ours alone",
        "a change at 100,000 lines",
    ),
    "keystrokes": (
        "keystroke to the next answer, p99, busy",
        "keystroke to the next answer, p99, idle",
    ),
    "initialize": ("start to the answer of `initialize`",),
    "memory": ("memory, idle", "memory, * files indexed"),
    "hunks": ("1,000 pending hunks: the most they add to a keystroke",),
    "search": (
        "* files, cold, to be found",
        "a saved file is found",
        "a hybrid query over * passages, p50",
        "a hybrid query over * passages, p99",
    ),
    "links": ("link graph, one file changed", "link graph, depth 3 walk"),
    "model_round": ("a model round: own overhead",),
    "prefix": ("bytes of a prompt kept between rounds", "bytes of a prompt kept between turns"),
    "cancel": ("cancel until no more effects, p99",),
    "chat": (
        "an answer in a chat of 20 MB: longest silence",
        "an answer in a chat of 20 MB: memory it adds, peak",
        "a key in a chat of 100,000 lines while an answer comes",
    ),
    "large": (
        "a question about an open file of 20 MB",
        "a question about an open file of 20 MB: longest silence",
        "a question about an open file of 20 MB: memory it adds",
        "an edit in an open file of 20 MB",
        "an edit in an open file of 20 MB: longest silence",
        "an edit in an open file of 20 MB: memory it adds, peak",
        "accepted in an open file of 20 MB: longest silence",
        "a question about an open file of 200 MB",
        "a question about an open file of 200 MB: longest silence",
        "a question about an open file of 200 MB: memory it adds",
    ),
    "retrieval": (
        "docstring to function, by tests/eval/scores.md",
        "commit message to files, by tests/eval/scores.md",
    ),
    "edits": (
        "edits applied right, history",
        "edits applied wrong, history",
        "edits applied right, rich",
        "edits applied wrong, rich",
        "edits applied right, pydantic",
        "edits applied wrong, pydantic",
    ),
    "hostile_bodies": (
        "an answer of 4 GB, compressed: peak memory",
        "an answer of 4 GB, compressed: longest silence",
    ),
}
"""The rows by benchmark; a `*` stands for a number that is counted during the run."""
NAMED_ROWS: Mapping[str, tuple[str, ...]] = {
    "rewrite": (
        "a rewrite of 20 lines: first token",
        "a rewrite of 20 lines: first token, ours alone",
        "a rewrite of 20 lines: the whole",
        "a rewrite of 20 lines: the whole, ours alone",
    ),
}
"""The rows of benchmarks that are run by name only."""


def amiss(found: Collection[str], names: Collection[str] = tuple(ROWS)) -> list[str]:
    """List the rows that a table lacks and the rows that no benchmark measures, a sentence each.

    Args:
        found: The names of the table's rows; a row beside several peers may occur several times.
        names: The benchmarks whose rows are expected.
    """
    wanted = [row for name in names for row in {**ROWS, **NAMED_ROWS}[name]]
    lacking = [row for row in wanted if not any(fnmatchcase(one, row) for one in found)]
    strange = [one for one in found if not any(fnmatchcase(one, row) for row in wanted)]
    return [
        *(f"there is no row {row!r}" for row in lacking),
        *(f"no benchmark yields the row {one!r}" for one in dict.fromkeys(strange)),
    ]
