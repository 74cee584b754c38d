"""`<since_last_turn>`: what became of the conversation's proposals, and of the files it knows.

A line for each thing, the most urgent first, and under it lines of files. Those are indented and
marked, and control characters in them are written as escapes, so that no text of a file can look
like a line of ours.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from stet.context.tags import element, on_one_line
from stet.context.values import Section
from stet.review.feedback import FeedbackDelta, FileDelta, HunkOutcome, OutcomeKind
from stet.review.proposal import Hunk
from stet.text.line_hunk import LineHunk
from stet.text.lines import without_end

NAME = "since_last_turn"
MAX_CHARACTERS = 4000
"""How much the section holds, but for its last lines, which say what was left out."""
MAX_LINES = 12
"""How many lines of one text are shown."""
MAX_LINE = 200
"""How many characters of a line, a reason or a summary are shown."""

_SAID = {
    OutcomeKind.CONFLICT: "conflict: the user has written over the place, so it can't be accepted",
    OutcomeKind.REJECTED: "rejected",
    OutcomeKind.UNDONE: "undone: it was accepted, and the user has taken it back",
    OutcomeKind.REPLACED: "replaced by the proposal of another conversation",
    OutcomeKind.ACCEPTED: "accepted",
    OutcomeKind.PENDING: "pending",
    OutcomeKind.SENT: "accepted, being written",
}
_WAITING = frozenset({OutcomeKind.PENDING, OutcomeKind.SENT})
_ID = re.compile(r"([a-z]+)([0-9]+)")

_IMPORTED = (
    "Edits by another program that wait for the user's decision in the active file, as blocks that are "
    "left out of what you see (leave their lines as they are):"
)

Beginning = Callable[[str, int], str]
"""The first so many characters of a line, as they may be told."""
_Item = tuple[str, ...]
"""Lines that are shown together or not at all."""


def unchanged(line: str, most: int) -> str:
    """The beginning of a line as it is."""
    return line[:most]


def since_last_turn(
    news: FeedbackDelta,
    beginning: Beginning = unchanged,
    moved: tuple[str, str] | None = None,
    imported: Sequence[Hunk] = (),
) -> Section | None:
    """The section; None where there is nothing to tell.

    Args:
        news: What is told.
        beginning: Cuts lines of files: what is left of a secret is none by its look.
        moved: The names of the active file at the last question and now, "" for none; None where it is
            the same.
        imported: Hunks that wait in the active file as blocks of another program, with their places in
            the text that is shown.
    """
    changed = [_file(file, beginning) for file in news.files]
    opened = [] if moved is None else [(_active(*moved),)]
    parts = (
        ("The user has gone to another file since their last question:", opened),
        ("What became of your proposals:", list(_verdicts(news.outcomes, beginning))),
        (_IMPORTED, [(_waits(hunk),) for hunk in imported]),
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
    return Section(NAME, element(NAME, "\n".join(lines))) if lines else None


def _active(before: str, now: str) -> str:
    where = f"it is {_short(now)} now" if now else "no file is active now"
    return f"- the active file was {_short(before)}; {where}"


def _verdicts(verdicts: Sequence[HunkOutcome], beginning: Beginning) -> Iterator[_Item]:
    """What was decided first: it is told only once, and what waits every time.

    Decided ones that have nothing more to say share an item.
    """
    waiting = [verdict for verdict in verdicts if verdict.kind in _WAITING]
    plain: dict[tuple[OutcomeKind, str, str], list[str]] = {}
    for verdict in verdicts:
        if verdict.kind in _WAITING:
            continue
        if verdict.reason or verdict.diff or verdict.theirs is not None:
            yield _one(verdict, beginning)
        else:
            alike = (verdict.kind, verdict.file, verdict.new_file)
            plain.setdefault(alike, []).append(verdict.hunk)
    for (fate, file, new_file), ids in plain.items():
        place = f" in {_short(file)}" if file else ""
        moved = f", the file is {_short(new_file)} now" if new_file else ""
        yield (f"- {', '.join(_runs(ids))}{place}: {_SAID[fate]}{moved}",)
    yield from (_one(verdict, beginning) for verdict in waiting)


def _one(verdict: HunkOutcome, beginning: Beginning) -> _Item:
    said = _SAID[verdict.kind]
    if verdict.is_changed:
        said += ", as the user changed it" if verdict.diff else ", changed by the user"
    if verdict.inline and verdict.kind is OutcomeKind.PENDING:
        said += ", as a block in the text itself"
    place = f" {_short(verdict.file)}" if verdict.file else ""
    if verdict.line:
        place += f" line {verdict.line}"
    summary = f" ({_short(verdict.summary)})" if verdict.summary else ""
    lines = [f"- {verdict.hunk}{place}{summary}: {said}"]
    if verdict.reason:
        lines.append(f"    The user says: {_short(verdict.reason)}")
    if verdict.diff:
        lines.append("    From yours (-) to what they made of it (+):")
        lines += _capped([mark for one in verdict.diff for mark in _changes(one, beginning)])
    if verdict.theirs is not None:
        lines.append("    There now:" if verdict.theirs else "    There now: nothing")
        lines += _capped([f"    | {_short(line, beginning)}" for line in verdict.theirs])
    return tuple(lines)


def _waits(hunk: Hunk) -> str:
    first, behind = hunk.range.start.line + 1, hunk.range.line_after
    if not hunk.old:
        return f"- {hunk.id}: adds lines before line {first}"
    lines = f"line {first}" if behind <= first else f"lines {first}-{behind}"
    return f"- {hunk.id}: {'replaces' if hunk.new else 'takes out'} {lines}"


def _file(file: FileDelta, beginning: Beginning) -> _Item:
    if file.is_gone:
        return (f"- {_short(file.file)}: there is no such file any more",)
    lines: list[str] = []
    for one in file.changes:
        lines += [f"    line {one.new_start + 1}:", *_changes(one, beginning)]
    return (f"- {_short(file.file)}:", *_capped(lines))


def _changes(one: LineHunk, beginning: Beginning) -> list[str]:
    old = [f"    - {_short(line, beginning)}" for line in one.old if line]
    return old + [f"    + {_short(line, beginning)}" for line in one.new if line]


def _capped(lines: list[str]) -> list[str]:
    """The first of `lines`, and how many more there are."""
    if len(lines) <= MAX_LINES:
        return lines
    return [*lines[:MAX_LINES], f"    (cut: {len(lines) - MAX_LINES} more lines)"]


def _short(text: str, beginning: Beginning = unchanged) -> str:
    """A line without its end, its start where it is long."""
    line = without_end(text)
    cut = len(line) - MAX_LINE
    if cut <= 0:
        return on_one_line(line)
    return f"{on_one_line(beginning(line, MAX_LINE))} (cut: {cut} more characters)"


def _runs(ids: Iterable[str]) -> Iterator[str]:
    """`h1, h2, h3, h7` as `h1-h3` and `h7`."""
    run: list[str] = []
    for one in sorted(ids, key=_number):
        if run and _number(one) != (_number(run[-1])[0], _number(run[-1])[1] + 1):
            yield _run(run)
            run = []
        run.append(one)
    if run:
        yield _run(run)


def _run(run: list[str]) -> str:
    return run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}"


def _number(hunk: str) -> tuple[str, int]:
    """An id in parts, for its order."""
    found = _ID.fullmatch(hunk)
    return (found[1], int(found[2])) if found else (hunk, 0)
