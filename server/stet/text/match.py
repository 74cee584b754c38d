r"""Finding the block that a model wants replaced: a ladder, from exact to forgiving.

Every step must find exactly one place, else the ladder refuses; nothing is ever guessed by
similarity.

1. Exact, in the text as it is.
2. Exact in the text the model was shown, followed through the changes since. It tells which of
   several places was meant, and whether the user has changed the place: then the edit is merged
   with what the user wrote there (`stet.text.merge`), or refused where the two touch.
3. Whole lines, up to white space at their ends.
4. Whole lines, shifted by one constant indent, or with tabs for spaces.
5. Whole lines, up to typographic punctuation (quotes, dashes, ellipsis, no-break space).

Line ends and a byte order mark are not the model's business: it writes `\n`, and the file keeps
what it has. Lines in results are counted from 1, offsets in code points from 0.
"""

from stet.text.block_matcher import BlockMatcher, BlockQuery
from stet.text.edit import Replacement, TextEdit
from stet.text.edit_rebase import rebase_text_edit
from stet.text.match_result import (
    AmbiguousBlock,
    BlockChangedByUser,
    BlockMatch,
    BlockNotFound,
    EditAlreadyApplied,
    MatchError,
    MatchKind,
    UnclearEdit,
)
from stet.text.normalized_text import NormalizedText, ShownText, normalize_text
from stet.text.render import check_no_line_numbers, strip_line_numbers

__all__ = [
    "AmbiguousBlock",
    "BlockChangedByUser",
    "BlockMatch",
    "BlockNotFound",
    "EditAlreadyApplied",
    "MatchError",
    "MatchKind",
    "ShownText",
    "UnclearEdit",
    "find_block",
]


def find_block(
    current: str | NormalizedText,
    old_text: str,
    new_text: str,
    shown_text: ShownText | None = None,
    *,
    replace_all: bool = False,
) -> BlockMatch:
    r"""Find `old_text` in `current`, and say what puts `new_text` in its place.

    Args:
        current: The text as it is now; a view of it, where more than one block is looked for.
        old_text: What the model wants replaced. Empty only where `live` is.
        new_text: What it wants there.
        shown_text: What it was shown, if that is known.
        replace_all: Replace every exact place, not one.

    Raises:
        BlockNotFound: It is not there (`BlockChangedByUser`: not any more).
        Ambiguous: It is there more than once.
        EditAlreadyApplied: It is not there, but the new text is, once.
        Unclear: The request cannot be carried out safely for this text.
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
        # What the user has typed before or behind it, in its lines, stays in those lines.
        return _merge_if_torn(match, view.source, shown_text, query) or match
    return match


def _merge_with_user(current: str, shown_text: ShownText, query: BlockQuery) -> BlockMatch | None:
    """Return the edit as in the text shown, merged with the user's changes since then.

    Raises:
        EditAlreadyApplied: The user has made the same change.
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
    shown = BlockMatcher(shown_text.view, None).exact(query, replace_all=False)
    if shown is None or _ends_lines(shown_text.text, shown.edit) == _ends_lines(
        current, match.edit
    ):
        return None
    return _merge_with_user(current, shown_text, query)


def _ends_lines(text: str, edit: TextEdit) -> tuple[bool, bool]:
    """Whether what an edit replaces begins at the beginning of a line, and ends at the end of one."""
    start, end = edit.replacements[0].start, edit.replacements[-1].end
    return start == 0 or text[start - 1] in "\r\n", end == len(text) or text[end] in "\r\n"


def _match_steps(matcher: BlockMatcher, query: BlockQuery, *, replace_all: bool) -> BlockMatch:
    """Find the block by the steps of the ladder.

    Raises:
        MatchError: As `find_block` has it.
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
    """All of an empty text becomes `new`."""
    if current.text:
        raise UnclearEdit(
            "The old text is empty, but the file is not. Send the lines to replace; to add text, "
            "send a line beside the place and repeat it in the new text."
        )
    end = len(current.source)
    return BlockMatch(TextEdit((Replacement(end, end, new),)), MatchKind.EXACT)
