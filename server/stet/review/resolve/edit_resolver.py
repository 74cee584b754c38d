"""Resolution of a model's quote or position into an edit of the current text.

A quote is searched first exactly, in the file and then in the file with the agent's pending hunks
(`stet.review.resolve.pending_view`), and only then leniently: the text of a pending hunk may differ
from the file's text only in its indentation. An edit that was made for the text that the model was
shown is moved to the current text (`rebase_edit`).
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from stet.review.resolve.edit_instruction import (
    EditInstruction,
    InvalidInstruction,
    instruction_line,
    parse_instruction,
    resolve_instruction,
)
from stet.review.resolve.pending_view import Amendment, PendingView
from stet.review.tracking.anchor import Anchor
from stet.text.diff import diff_lines
from stet.text.document import TextDocument
from stet.text.edit import OverlapError, Replacement, TextChange, TextEdit
from stet.text.lines import line_end, split_lines
from stet.text.match import find_block
from stet.text.match_result import (
    AmbiguousBlock,
    BlockMatch,
    EditAlreadyApplied,
    MatchError,
    MatchKind,
    UnclearEdit,
)
from stet.text.normalized_text import BOM, ShownText, normalize_text
from stet.text.render import strip_consistent_numbers, strip_line_numbers, strip_new_line_marks

Changes = tuple[TextChange, ...]

_EXACT = frozenset({MatchKind.EXACT, MatchKind.SEEN})
_NOTHING = TextEdit(())


@dataclass(frozen=True, slots=True)
class QuotedEdit:
    """An edit by quotation, as the model sent it.

    Attributes:
        old: The quoted text to be replaced.
        new: The replacement.
        replace_all: Whether every occurrence is replaced.
    """

    old: str
    new: str
    replace_all: bool = False

    def candidate_texts(self) -> tuple[str, ...]:
        """Return the quoted text, and the text without copied line numbers."""
        try:
            bare = strip_line_numbers(normalize_text(self.old), "")
        except UnclearEdit:
            bare = None
        return (self.old, bare[0]) if bare and bare[0].strip() else (self.old,)


@dataclass(frozen=True, slots=True)
class ResolvedEdit:
    """One resolved edit of a file.

    Attributes:
        edit: The edit of the current text.
        on_view: The edit of the text with the agent's pending hunks; one of the two is empty.
    """

    edit: TextEdit = _NOTHING
    on_view: TextEdit = _NOTHING


def resolve_quote(
    quote: QuotedEdit, view: PendingView, shown_text: ShownText | None
) -> ResolvedEdit:
    """Return the edit of the quoted text; an empty edit if the new text exists already.

    Args:
        quote: The quotation that the model sent.
        view: The current text with the agent's pending hunks.
        shown_text: The text that the model was shown, if known.

    Raises:
        MatchError: If the quotation is not in the text, or its place is ambiguous.
    """
    try:
        bare = strip_new_line_marks(normalize_text(quote.old), normalize_text(quote.new))
        if bare is not None:
            # Marks of new lines refer to pending text only.
            return ResolvedEdit(on_view=find_block(view.normalized, *bare).edit)
        return _resolve_quote(quote, view, shown_text)
    except EditAlreadyApplied:
        return ResolvedEdit()


def resolve_position(
    position: str, content: str, current: TextDocument, shown: TextDocument, changes: Changes
) -> ResolvedEdit:
    """Return the edit that a position means in the shown text, rebased onto the current text.

    Args:
        position: The position as the model wrote it.
        content: The text to be written.
        current: The current text.
        shown: The text that the model was shown.
        changes: The changes from `shown` to `current`.

    Raises:
        InvalidInstruction: If the position is invalid, or the user has changed these lines.
    """
    instruction = parse_instruction(position)
    # A byte order mark belongs to the file, not to its first line.
    n_mark = len(current.text) - len(current.text.removeprefix(BOM))
    current, shown = _without_bom(current), _without_bom(shown)
    content = _plain_content(content, instruction, shown)
    if instruction.kind in ("start", "end"):
        edit = resolve_instruction(instruction, content, current)
    else:
        edit = rebase_edit(
            resolve_instruction(instruction, content, shown), shown, changes, current
        )
    return ResolvedEdit(edit.shifted(n_mark))


def _without_bom(document: TextDocument) -> TextDocument:
    """Return the document without its byte order mark."""
    if not document.text.startswith(BOM):
        return document
    return dataclasses.replace(document, text=document.text.removeprefix(BOM))


def _plain_content(content: str, instruction: EditInstruction, shown: TextDocument) -> str:
    """Return `content` without copied line numbers and byte order mark.

    Raises:
        InvalidInstruction: If the instruction's heading does not exist.
    """
    first = instruction_line(instruction, shown)
    neighbours = shown.lines[max(first - 2, 0) : max(first, instruction.last)]
    return normalize_text(strip_consistent_numbers(normalize_text(content), first, neighbours))


def merge_edits(resolved_edits: list[ResolvedEdit], view: PendingView) -> Amendment:
    """Join resolved edits to one edit; insertions at one place keep their order.

    Raises:
        OverlapError: If two edits change the same text.
    """
    try:
        return _merge(resolved_edits, view)
    except OverlapError:
        # Models quote unchanged lines around a change: two edits may share such lines.
        bare = [
            ResolvedEdit(_minimal(one.edit, view.live.text), _minimal(one.on_view, view.text))
            for one in resolved_edits
        ]
        joined = _merge(bare, view)
        for one, other in pairwise(joined.edit.replacements):
            # The order of the two texts would be a guess.
            if one.end == other.start and (one.start == one.end or other.start == other.end):
                raise
        return joined


def first_conflict(resolved_edits: list[ResolvedEdit], view: PendingView) -> tuple[int, ...]:
    """Return the indices of the first two edits that can't be joined; else of all edits."""
    for second, resolved in enumerate(resolved_edits):
        for first in range(second):
            try:
                merge_edits([resolved_edits[first], resolved], view)
            except OverlapError:
                return first, second
    return tuple(range(len(resolved_edits)))


def _resolve_quote(
    quote: QuotedEdit, view: PendingView, shown_text: ShownText | None
) -> ResolvedEdit:
    """Resolve the quoted text in the file, or in the file with pending hunks.

    Raises:
        MatchError: If the quotation is in neither text, or ambiguous.
    """
    text = view.normalized_live.text
    is_present = any(normalize_text(reading) in text for reading in quote.candidate_texts())
    pending = _match_pending(quote, view) if view.hunks and not is_present else None
    if pending and pending.kind in _EXACT:
        return ResolvedEdit(on_view=pending.edit)
    try:
        found = find_block(
            view.normalized_live, quote.old, quote.new, shown_text, replace_all=quote.replace_all
        )
    except (AmbiguousBlock, UnclearEdit):
        raise
    except MatchError:
        if pending:
            return ResolvedEdit(on_view=pending.edit)
        raise
    return ResolvedEdit(found.edit)


def _match_pending(quote: QuotedEdit, view: PendingView) -> BlockMatch | None:
    """Return the quotation's match in the file with pending hunks, if the match touches a hunk.

    Raises:
        AmbiguousBlock: If there is more than one match.
    """
    try:
        found = find_block(view.normalized, quote.old, quote.new, replace_all=quote.replace_all)
    except AmbiguousBlock:
        raise
    except MatchError:
        return None
    return found if view.touched(found.edit) else None


def _merge(resolved_edits: list[ResolvedEdit], view: PendingView) -> Amendment:
    plain = [one for resolved in resolved_edits for one in resolved.edit.replacements]
    pending = [one for resolved in resolved_edits for one in resolved.on_view.replacements]
    amendment = view.amended(TextEdit(tuple(pending))) if pending else Amendment(_NOTHING, ())
    if len(resolved_edits) > 1:
        _check_last_line([*plain, *amendment.edit.replacements], view.live)
    edit = TextEdit((*plain, *amendment.edit.replacements))
    return Amendment(edit, amendment.hunks)


def _check_last_line(replacements: list[Replacement], current: TextDocument) -> None:
    """Check that no edit adds a line after a removed last line without a line end.

    Raises:
        OverlapError: If there is such an edit: each of the two edits would be written for the line
            end that the other adds or removes.
    """
    end, last = len(current.text), current.lines[-1].removeprefix(BOM)
    if not last:
        return
    last_line = end - len(last)
    gone = any(one.start <= last_line and one.end == end and not one.text for one in replacements)
    added = any(one.start == one.end == end for one in replacements)
    if gone and added:
        raise OverlapError("one takes the last line, another adds text after it")


def _minimal(edit: TextEdit, text: str) -> TextEdit:
    """Return an edit of `text` reduced to the lines that it changes."""
    return TextEdit(tuple(_minimal_replacement(one, text) for one in edit.replacements))


def _minimal_replacement(replacement: Replacement, text: str) -> Replacement:
    """Return the replacement without the common whole lines at its start and end."""
    old, new = split_lines(text[replacement.start : replacement.end]), split_lines(replacement.text)
    head = 0
    while head < min(len(old), len(new)) - 1 and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-tail - 1] == new[-tail - 1]:
        tail += 1
    start = replacement.start + sum(map(len, old[:head]))
    replaced, changed = old[head : len(old) - tail], new[head : len(new) - tail]
    return Replacement(start, start + sum(map(len, replaced)), "".join(changed))


@dataclass(frozen=True, slots=True)
class _RebasedLines:
    """Whole lines of the text that was shown, and their replacement.

    Attributes:
        first: The first line, 0-based.
        end: The line after the last line.
        new: The replacement.
        is_after: Whether the replacement is the old lines with text after them.
    """

    first: int
    end: int
    new: str
    is_after: bool = False


def rebase_edit(
    edit: TextEdit, shown: TextDocument, changes: tuple[TextChange, ...], current: TextDocument
) -> TextEdit:
    """Return `edit`, which was made for the shown text, moved to the current text.

    Raises:
        InvalidInstruction: If the user has changed the same lines since.
    """
    pieces = [piece for one in edit.replacements for piece in _changed_lines(one, shown)]
    anchors = [_anchor(piece, shown) for piece in pieces]
    for anchor in anchors:
        for change in changes:
            for effect in change.effects:
                _ = anchor.apply_change(effect)
        _ = anchor.refresh(current.lines)
    found = zip(pieces, anchors, strict=True)
    return TextEdit(tuple(_replacement(piece, anchor, current) for piece, anchor in found))


def _changed_lines(one: Replacement, shown: TextDocument) -> Iterator[_RebasedLines]:
    """Yield the lines that a replacement changes; the user may change other lines."""
    # Among lines that read alike, a difference might report an insertion at another place, on the
    # other side of the user's insertions there.
    place, is_insertion = shown.position_at(one.start), one.start == one.end
    if is_insertion and place.character == 0 and line_end(one.text):
        yield _RebasedLines(place.line, place.line, one.text)
    elif is_insertion and one.start == len(shown.text) and one.text[:1] in ("\r", "\n"):
        new = shown.lines[place.line] + one.text
        yield _RebasedLines(place.line, place.line + 1, new, is_after=True)
    else:
        after = split_lines(TextEdit((one,)).apply(shown.text))
        for hunk in diff_lines(shown.lines, after):
            yield _RebasedLines(hunk.old_start, hunk.old_end, "".join(hunk.new))


def _anchor(piece: _RebasedLines, shown: TextDocument) -> Anchor:
    old = "".join(shown.lines[piece.first : piece.end])
    return Anchor("", shown.lines, (piece.first, piece.end), old, piece.new)


def _replacement(piece: _RebasedLines, anchor: Anchor, current: TextDocument) -> Replacement:
    if anchor.merged is None:
        raise InvalidInstruction(
            "The user has changed these lines since you were shown them. Read the file again."
        )
    one = anchor.replacement(current, anchor.merged)
    replaced = current.text[one.start : one.end]
    if piece.is_after and one.text.startswith(replaced):
        # Other edits may change the last line itself.
        return Replacement(one.end, one.end, one.text.removeprefix(replaced))
    return one
