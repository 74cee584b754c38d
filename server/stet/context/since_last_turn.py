"""`<since_last_turn>`: the outcome of the conversation's proposals, and changes of known files.

The section has a line for each item, the most urgent first, with lines of files below. Lines of
files are indented and marked, and their control characters are escaped, so that no text of a file
can look like a line of Stet.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby

from stet.context.context_values import ContextSection, section, single_line
from stet.review.feedback import FeedbackDelta, FileDelta, HunkOutcome
from stet.review.proposal import Hunk, HunkState
from stet.text.diff import LineHunk
from stet.text.lines import without_end

NAME = "since_last_turn"
MAX_CHARACTERS = 4000
"""The maximum number of characters of the section, without the last lines about omissions."""
MAX_LINES = 12
"""The maximum number of lines of one text."""
MAX_LINE = 200
"""The maximum number of characters of a line, a reason or a summary."""

_OUTCOME_TEXT = {
    HunkState.CONFLICT: "conflict: the user has edited that text, so it can't be accepted",
    HunkState.REJECTED: "rejected",
    HunkState.UNDONE: "undone: it was accepted, then the user undid it",
    HunkState.SUPERSEDED: "replaced by the proposal of another conversation",
    HunkState.ACCEPTED: "accepted",
    HunkState.PENDING: "pending",
    HunkState.SENT: "accepted, being written",
}
_PENDING = frozenset({HunkState.PENDING, HunkState.SENT})
_ID = re.compile(r"([a-z]+)([0-9]+)")

_IMPORTED = (
    "Edits by another program that wait for the user's decision in the active file, as blocks that are "
    "left out of what you see (leave their lines as they are):"
)

_STATUS = "Status of your proposals (do not propose again what the user rejected, unless they ask for it):"

Truncate = Callable[[str, int], str]
"""A function that returns the beginning of a line, at most the given number of characters."""
_Item = tuple[str, ...]
"""Lines that are shown together or not at all."""


def cut_off(line: str, most: int) -> str:
    """Return the beginning of a line, unchanged."""
    return line[:most]


def since_last_turn_section(
    feedback: FeedbackDelta,
    truncate: Truncate = cut_off,
    moved: tuple[str, str] | None = None,
    imported: Sequence[Hunk] = (),
) -> ContextSection | None:
    """Return the section, or None if there is nothing to report.

    Args:
        feedback: The feedback to report.
        truncate: A function that cuts lines of files; no part of a secret may be left.
        moved: The names of the active file at the last question and now, "" for no file; None if
            the active file is the same.
        imported: Hunks that are pending in the active file as blocks of another program, with their
            places in the text that is shown.
    """
    changed = [_file_item(file, truncate) for file in feedback.files]
    opened = [] if moved is None else [(_active_file_line(*moved),)]
    parts = (
        ("The user has gone to another file since their last question:", opened),
        (_STATUS, list(_outcome_items(feedback.outcomes, truncate))),
        (_IMPORTED, [(_imported_item(hunk),) for hunk in imported]),
        ("Changed since you saw it, not by your proposals:", changed),
    )
    lines: list[str] = []
    room = MAX_CHARACTERS
    for heading, items in parts:
        if not items:
            continue
        lines.append(heading)
        for n, item in enumerate(items):
            room -= sum(len(line) + 1 for line in item)
            if room < 0:
                lines.append(f"(cut: {len(items) - n} more)")
                break
            lines += item
    return section(NAME, "\n".join(lines)) if lines else None


def _active_file_line(before: str, now: str) -> str:
    where = f"it is now {_short(now)}" if now else "no file is active now"
    return f"- the active file was {_short(before)}; {where}"


def _outcome_items(outcomes: Sequence[HunkOutcome], truncate: Truncate) -> Iterator[_Item]:
    """Yield decided outcomes, which are reported only once, then pending ones, which are reported
    every time.

    Decided outcomes without further details share an item.
    """
    pending = [outcome for outcome in outcomes if outcome.state in _PENDING]
    plain: dict[tuple[HunkState, str, str], list[str]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.state in _PENDING:
            continue
        if outcome.reason or outcome.diff or outcome.theirs is not None:
            yield _outcome_item(outcome, truncate)
        else:
            plain[outcome.state, outcome.file, outcome.new_file].append(outcome.hunk)
    for (state, file, new_file), ids in plain.items():
        place = f" in {_short(file)}" if file else ""
        moved = f", the file is now {_short(new_file)}" if new_file else ""
        yield (f"- {', '.join(_id_ranges(ids))}{place}: {_OUTCOME_TEXT[state]}{moved}",)
    yield from (_outcome_item(outcome, truncate) for outcome in pending)


def _outcome_item(outcome: HunkOutcome, truncate: Truncate) -> _Item:
    text = _OUTCOME_TEXT[outcome.state]
    if outcome.is_changed:
        text += ", as the user changed it" if outcome.diff else ", changed by the user"
    if outcome.inline and outcome.state is HunkState.PENDING:
        text += ", as a block in the text itself"
    place = f" {_short(outcome.file)}" if outcome.file else ""
    if outcome.line:
        place += f" line {outcome.line}"
    summary = f" ({_short(outcome.summary)})" if outcome.summary else ""
    lines = [f"- {outcome.hunk}{place}{summary}: {text}"]
    if outcome.reason:
        lines.append(f"    The user says: {_short(outcome.reason)}")
    if outcome.diff:
        lines.append("    From yours (-) to theirs (+):")
        changes = (_change_lines(change, truncate) for change in outcome.diff)
        lines += _cap_lines(list(chain.from_iterable(changes)))
    if outcome.theirs is not None:
        lines.append("    There now:" if outcome.theirs else "    There now: nothing")
        lines += _cap_lines([f"    | {_short(line, truncate)}" for line in outcome.theirs])
    return tuple(lines)


def _imported_item(hunk: Hunk) -> str:
    first, last = hunk.range.start.line + 1, hunk.range.line_after
    if not hunk.old:
        return f"- {hunk.id}: adds lines before line {first}"
    lines = f"line {first}" if last <= first else f"lines {first}-{last}"
    return f"- {hunk.id}: {'replaces' if hunk.new else 'takes out'} {lines}"


def _file_item(file: FileDelta, truncate: Truncate) -> _Item:
    if file.is_gone:
        return (f"- {_short(file.file)}: this file no longer exists",)
    lines: list[str] = []
    for change in file.changes:
        lines += [f"    line {change.new_start + 1}:", *_change_lines(change, truncate)]
    return (f"- {_short(file.file)}:", *_cap_lines(lines))


def _change_lines(change: LineHunk, truncate: Truncate) -> list[str]:
    old = [f"    - {_short(line, truncate)}" for line in change.old if line]
    return old + [f"    + {_short(line, truncate)}" for line in change.new if line]


def _cap_lines(lines: list[str]) -> list[str]:
    """Return the first `MAX_LINES` lines, with a line that counts the others."""
    if len(lines) <= MAX_LINES:
        return lines
    return [*lines[:MAX_LINES], f"    (cut: {len(lines) - MAX_LINES} more lines)"]


def _short(text: str, truncate: Truncate = cut_off) -> str:
    """Return a line without its end, or the start of the line if the line is long."""
    line = without_end(text)
    cut = len(line) - MAX_LINE
    if cut <= 0:
        return single_line(line)
    return f"{single_line(truncate(line, MAX_LINE))} (cut: {cut} more characters)"


def _id_ranges(ids: Iterable[str]) -> Iterator[str]:
    """Yield `h1, h2, h3, h7` as `h1-h3` and `h7`."""

    def run_of(numbered: tuple[int, str]) -> tuple[str, int]:
        letters, number = _id_parts(numbered[1])
        return letters, number - numbered[0]

    for _, run in groupby(enumerate(sorted(ids, key=_id_parts)), run_of):
        first, *others = (hunk for _, hunk in run)
        yield f"{first}-{others[-1]}" if others else first


def _id_parts(hunk: str) -> tuple[str, int]:
    """Return an id in parts, for sorting."""
    match = _ID.fullmatch(hunk)
    return (match[1], int(match[2])) if match else (hunk, 0)
