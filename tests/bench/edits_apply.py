"""Apply one distorted edit like the product and by exact unique matching; judge the result."""

from collections.abc import Callable, Sequence
from enum import Enum

from stet.review.policy.rules import ProposalRefused
from stet.review.proposal import EditDraft, HunkState
from stet.review.resolve.prepared_edit import prepare_draft
from stet.text.buffer import TextBuffer
from stet.text.diff import unified_diff
from stet.text.edit import TextChange
from stet.text.match import find_block
from stet.text.match_result import MatchError
from stet.text.normalized_text import ShownText
from stet.text.position import Position, Range
from tests.bench.edits_draft import MARK, Draft, Key
from tests.support.review_harness import ReviewHarness, rules


class EditResult(Enum):
    """The result of one edit."""

    RIGHT = "right"
    """Equal to the perfect edit together with all that the user typed."""
    REFUSED = "refused"
    """Not found, ambiguous, against a rule, or a conflict; the user's text is unchanged."""
    WRONG = "WRONG"


def ours(draft: Draft) -> tuple[EditResult, str]:
    """Apply the edit like the product: resolve, propose as hunks, track, accept."""
    page = ReviewHarness(draft.shown)
    changes = tuple(page.buffer.apply(change) for change in _typed(draft.before))
    try:
        match = find_block(
            page.text, draft.old_text, draft.new_text, ShownText(draft.shown, changes)
        )
    except MatchError as error:
        return EditResult.REFUSED, f"{type(error).__name__}: {error}"
    proposal = EditDraft(
        turn="t", author="m", document=page.document, name="a.md", edit=match.edit, summary="s"
    )
    try:
        page.ledger.propose(prepare_draft(proposal, rules()))
    except ProposalRefused as error:
        return EditResult.REFUSED, error.refusal.rule
    page.apply(*_typed(_shifted(draft.after, draft.before)))
    if any(hunk.state is not HunkState.PENDING for hunk in page.hunks):
        return EditResult.REFUSED, "conflict"
    ids = [hunk.id for hunk in page.hunks]
    return _judged(draft, page.ledger.edit_of(page.document, ids).apply(page.text))


def exact(draft: Draft) -> tuple[EditResult, str]:
    """Apply the edit like the peer: the old text must occur exactly once, and is replaced."""
    buffer = TextBuffer(draft.shown)
    for change in (*_typed(draft.before), *_typed(_shifted(draft.after, draft.before))):
        buffer.apply(change)
    old, text = draft.old_text, buffer.text
    if text.count(old) != 1 or old == draft.new_text:
        return EditResult.REFUSED, ""
    return _judged(draft, text.replace(old, draft.new_text))


WAYS: dict[str, Callable[[Draft], tuple[EditResult, str]]] = {"ours": ours, "exact": exact}


def touches_typing(draft: Draft) -> bool:
    """Tell whether the user typed into a changed line: then a conflict is right too."""
    changed = range(draft.first, draft.first + draft.n)
    return any(key.text == MARK and key.line in changed for key in (*draft.before, *draft.after))


def _typed(keys: Sequence[Key]) -> list[TextChange]:
    """Turn the keys into changes, bottom to top, so that no change moves the next."""
    ordered = sorted(keys, key=lambda key: (key.line, key.column), reverse=True)
    return [_change(key, key.line) for key in ordered]


def _change(key: Key, line: int) -> TextChange:
    place = Position(line, key.column)
    return TextChange(Range(place, place), key.text)


def _shifted(keys: Sequence[Key], before: Sequence[Key]) -> list[Key]:
    """Convert keys from lines of the shown text to lines of the text after `before`.

    If both type into one line, the later key is typed at its start.
    """
    shifted = []
    for key in keys:
        above = sum(other.text.count("\n") for other in before if other.line < key.line)
        same = any(other.line == key.line for other in before)
        shifted.append(Key(key.line + above, 0 if same else key.column, key.text))
    return shifted


def _judged(draft: Draft, text: str) -> tuple[EditResult, str]:
    """Compare the text with the perfect edit plus the typed keys."""
    inside = [key for key in (*draft.before, *draft.after) if key.text == MARK]
    if inside:
        # Of two equal lines, either may be the user's.
        (key,) = inside
        wanted, line = draft.expected, draft.file[key.line]
        marked = line[: key.column] + MARK + line[key.column :]
        good = text.count(MARK) == 1 and text.replace(MARK, "") == wanted
        good = good and (touches_typing(draft) or marked in text.split(draft.end))
    else:
        wanted, shift = _with_typing(draft)
        good = _same(draft, text, wanted, shift)
    if good:
        return EditResult.RIGHT, ""
    return EditResult.WRONG, unified_diff(wanted, text, "wanted", "got", context=1)


def _with_typing(draft: Draft) -> tuple[str, int]:
    """Type the keys into the perfect edit; return the text and the number of lines typed above."""
    buffer = TextBuffer(draft.expected)
    growth = len(draft.new) - draft.n
    border = draft.first + draft.n
    shift = 0
    for keys in (draft.before, _shifted(draft.after, draft.before)):
        above = [key for key in keys if key.line < border + shift]
        below = [Key(key.line + growth, key.column, key.text) for key in keys if key not in above]
        for change in _typed([*above, *below]):
            buffer.apply(change)
        shift += sum(key.text.count("\n") for key in above if key.line < draft.first + shift)
    return buffer.text, shift


def _same(draft: Draft, text: str, expected: str, shift: int) -> bool:
    """Tell whether both are equal, except for allowed differences in lines that the edit wrote.

    A line added to or deleted from a run of equal lines may be any line of the run.
    """
    if text == expected:
        return True
    lines, wanted = text.split(draft.end), expected.split(draft.end)
    first, end = draft.first + shift, draft.first + shift + len(draft.new)
    left, right = _leeway(draft)
    first, end = first - left, end + right
    return (
        len(lines) == len(wanted)
        and lines[:first] == wanted[:first]
        and lines[end:] == wanted[end:]
        and [draft.forgives(line) for line in lines[first:end]]
        == [draft.forgives(line) for line in wanted[first:end]]
    )


def _leeway(draft: Draft) -> tuple[int, int]:
    """Return how many lines up and down a pure insertion or deletion can slide."""
    if draft.n and draft.new:
        return 0, 0
    lines = draft.file if draft.n else draft.expected_lines
    size = draft.n or len(draft.new)
    left, right = draft.first, draft.first + size
    plain = [draft.forgives(line).strip() for line in lines]
    while left > 0 and plain[left - 1] == plain[left - 1 + size]:
        left -= 1
    while right < len(plain) and plain[right] == plain[right - size]:
        right += 1
    return draft.first - left, right - draft.first - size
