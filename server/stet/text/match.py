r"""Find the block that a model wants to replace, in several steps, from exact to fuzzy.

Each step must find exactly one place, or the search fails; nothing is ever guessed by similarity.

1. Exact, in the text as it is.
2. Exact in the text that the model was shown, followed through the changes since then. This step
   selects one of several places, and shows whether the user has changed the place: then the edit is
   rebased, that is merged with the user's changes there (`stet.text.merge`), or refused if the two
   touch.
3. Whole lines, up to white space at their ends.
4. Whole lines, shifted by one constant indent, or with tabs for spaces.
5. Whole lines, up to typographic punctuation (quotes, dashes, ellipsis, no-break space).

A model need not know line ends and a byte order mark: it writes `\n`, and the file's do not change.
Lines in results are counted from 1, offsets in code points from 0.
"""

from stet.text.block_matcher import BlockMatcher, BlockQuery
from stet.text.diff import line_edit
from stet.text.document import TextDocument
from stet.text.edit import Bias, Replacement, TextEdit, map_position
from stet.text.lines import split_lines
from stet.text.match_result import (
    BlockChangedByUser,
    BlockMatch,
    EditAlreadyApplied,
    MatchError,
    MatchKind,
    UnclearEdit,
)
from stet.text.merge import merge
from stet.text.normalized_text import NormalizedText, ShownText, normalize_text
from stet.text.position import Position
from stet.text.render import check_no_line_numbers, strip_line_numbers


def find_block(
    current: str | NormalizedText,
    old_text: str,
    new_text: str,
    shown_text: ShownText | None = None,
    *,
    replace_all: bool = False,
) -> BlockMatch:
    r"""Find `old_text` in `current`. Return the edit that replaces it by `new_text`.

    Args:
        current: The text as it is now; its normalized form if several blocks are searched for.
        old_text: The text to replace, as the model quotes it. Empty only if `current` is empty.
        new_text: The text that replaces it.
        shown_text: The text that the model was shown, if known.
        replace_all: Whether to replace every exact place, not one.

    Raises:
        BlockNotFound: The old text is not there (`BlockChangedByUser`: no longer there).
        AmbiguousBlock: The old text is there more than once.
        EditAlreadyApplied: The old text is not there, but the new text is, once.
        UnclearEdit: The request cannot be carried out safely for this text.
    """
    view = NormalizedText(current) if isinstance(current, str) else current
    query = BlockQuery(normalize_text(old_text), normalize_text(new_text))
    _check_changes(query)
    if not query.old:
        return _fill_empty(view, query.new)
    check_no_line_numbers(query.old, query.new, view.text)
    matcher = BlockMatcher(view, shown_text)
    try:
        match = _match_steps(matcher, query, replace_all=replace_all)
    except BlockChangedByUser:
        merged = _merge_with_user(view.source, shown_text, query) if shown_text else None
        if merged is None:
            raise
        return merged
    if shown_text and match.kind in {MatchKind.EXACT, MatchKind.SEEN} and not replace_all:
        # What the user has typed before or after the block, in its lines, stays there.
        return _merge_if_torn(match, view.source, shown_text, query) or match
    return match


def _merge_with_user(current: str, shown_text: ShownText, query: BlockQuery) -> BlockMatch | None:
    """Return the edit as in the shown text, merged with the user's changes since then.

    Raises:
        EditAlreadyApplied: If the user has made the same change.
    """
    try:
        shown = _match_steps(BlockMatcher(shown_text.view, None), query, replace_all=False)
    except MatchError:
        return None
    edit = rebase_text_edit(shown.edit, shown_text, current)
    return BlockMatch(edit, MatchKind.MERGED) if edit else None


def _merge_if_torn(
    match: BlockMatch, current: str, shown_text: ShownText, query: BlockQuery
) -> BlockMatch | None:
    """Merge as `_merge_with_user` does if a block of whole lines is now only a part of lines.
    Return None otherwise.
    """
    if not shown_text.changes or all(_ends_lines(current, match.edit)):
        return None
    ends_lines = _ends_lines(current, match.edit)
    shown = BlockMatcher(shown_text.view, None).exact(query, replace_all=False)
    if shown is None or _ends_lines(shown_text.text, shown.edit) == ends_lines:
        return None
    return _merge_with_user(current, shown_text, query)


def _ends_lines(text: str, edit: TextEdit) -> tuple[bool, bool]:
    """Return whether the replaced text begins at the start of a line, and whether it ends at the
    end of a line.
    """
    start, end = edit.replacements[0].start, edit.replacements[-1].end
    return start == 0 or text[start - 1] in "\r\n", end == len(text) or text[end] in "\r\n"


def _match_steps(matcher: BlockMatcher, query: BlockQuery, *, replace_all: bool) -> BlockMatch:
    """Find the block by the steps of this module, in order.

    Raises:
        MatchError: As `find_block` does.
    """
    match = matcher.exact(query, replace_all=replace_all)
    if match:
        return match
    queries = [query]
    bare = strip_line_numbers(query.old, query.new)
    if bare and bare[0].strip():
        queries.append(BlockQuery(*bare))
        _check_changes(queries[1])
        match = matcher.exact(queries[1], replace_all=replace_all)
    for one in queries:
        match = match or matcher.fuzzy(one)
    if match:
        return match
    for one in queries:
        matcher.check_not_applied(one)
    raise matcher.not_found(queries[-1])


def _check_changes(query: BlockQuery) -> None:
    if query.old == query.new:
        raise UnclearEdit("The old and the new text are the same: nothing would change.")


def _fill_empty(current: NormalizedText, new: str) -> BlockMatch:
    """Return the edit that inserts `new` into an empty text."""
    if current.text:
        raise UnclearEdit(
            "The old text is empty, but the file is not. Send the lines to replace; to add text, "
            "send a line beside the place and repeat it in the new text."
        )
    end = len(current.source)
    return BlockMatch(TextEdit((Replacement(end, end, new),)), MatchKind.EXACT)


def rebase_text_edit(edit: TextEdit, shown_text: ShownText, current: str) -> TextEdit | None:
    """Return `edit`, which was made for the shown text, as an edit of `current`.

    The lines that the edit touches, with one more on either side, are followed to their present
    place, and merged by `stet.text.merge`.

    Args:
        edit: An edit of `shown_text.text`; with at least one replacement.
        shown_text: The shown text, and the changes since.
        current: The text as it is now.

    Returns:
        The edit; None if the edit and the changes conflict.

    Raises:
        EditAlreadyApplied: If the user has made the same change.
    """
    then, now = TextDocument("", shown_text.text), TextDocument("", current)
    first, end = _lines_of(edit, then)
    old_start = then.offset_at(Position(first, 0))
    old_end = then.offset_at(Position(end, 0))  # after the last line, the end of the text
    start, stop = _map_lines(shown_text, Position(first, 0), end, then, now)
    base, ours = shown_text.text[old_start:old_end], current[start:stop]
    theirs = edit.shifted(-old_start).apply(base)
    merged = merge(base, ours, theirs)
    if merged is None:
        return None
    if merged == ours:
        raise EditAlreadyApplied(now.position_at(start).line + 1)
    old, new = split_lines(ours), split_lines(merged)
    made = line_edit(old, new, start)
    n_lines = len(now.lines) + len(new) - len(old)
    if "\r" in current and len(split_lines(made.apply(current))) != n_lines:
        return None  # a `\r` is now before a `\n` of another line
    return made


def _lines_of(edit: TextEdit, document: TextDocument) -> tuple[int, int]:
    """Return the lines that `edit` touches and one line on either side, half-open."""
    start = document.position_at(edit.replacements[0].start)
    end = document.position_at(max(replacement.end for replacement in edit.replacements))
    stop = end.line + 2 if end.character else end.line + 1
    return max(0, start.line - 1), min(stop, len(document.lines))


def _map_lines(
    shown_text: ShownText, start: Position, end_line: int, then: TextDocument, now: TextDocument
) -> tuple[int, int]:
    """Return the present offsets of whole lines, without lines inserted at their edges."""
    end = then.clamp(Position(end_line, 0))
    for change in shown_text.changes:
        start = map_position(start, change, Bias.RIGHT)
        end = map_position(end, change, Bias.LEFT)
    first = now.offset_at(Position(start.line, 0))
    last = now.offset_at(Position(end.line + (end.character > 0), 0))
    return first, max(first, last)
