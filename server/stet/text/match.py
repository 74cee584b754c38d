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

from stet.text.edit import Replacement, TextEdit
from stet.text.gutter import refuse_if_only_new, without_gutter
from stet.text.match_errors import (
    AlreadyApplied,
    Ambiguous,
    ChangedByUser,
    MatchError,
    NotFound,
    Unclear,
)
from stet.text.match_result import Match, MatchKind
from stet.text.rebase import rebased
from stet.text.search import Search, Wish
from stet.text.seen import Seen
from stet.text.view import View, plain

__all__ = [
    "AlreadyApplied",
    "Ambiguous",
    "ChangedByUser",
    "Match",
    "MatchError",
    "MatchKind",
    "NotFound",
    "Seen",
    "Unclear",
    "find_block",
]


def find_block(
    live: str | View,
    old_text: str,
    new_text: str,
    seen: Seen | None = None,
    *,
    replace_all: bool = False,
) -> Match:
    r"""Find `old_text` in `live`, and say what puts `new_text` in its place.

    Args:
        live: The text as it is now; a view of it, where more than one block is looked for.
        old_text: What the model wants replaced. Empty only where `live` is.
        new_text: What it wants there.
        seen: What it was shown, if that is known.
        replace_all: Replace every exact place, not one.

    Raises:
        NotFound: It is not there (`ChangedByUser`: not any more).
        Ambiguous: It is there more than once.
        AlreadyApplied: It is not there, but the new text is, once.
        Unclear: The request cannot be carried out safely for this text.
    """
    view = View(live) if isinstance(live, str) else live
    wish = Wish(plain(old_text), plain(new_text))
    _refuse_no_change(wish)
    if not wish.old:
        return _into_empty(view, wish.new)
    refuse_if_only_new(wish.old, wish.new, view.text)
    search = Search(view, seen)
    try:
        found = _found(search, wish, replace_all=replace_all)
    except ChangedByUser:
        merged = _merged(view.source, seen, wish) if seen else None
        if merged is None:
            raise
        return merged
    if seen and found.how in {MatchKind.EXACT, MatchKind.SEEN} and not replace_all:
        # What the user has typed before or behind it, in its lines, stays in those lines.
        return _merged_if_torn(found, view.source, seen, wish) or found
    return found


def _merged(live: str, seen: Seen, wish: Wish) -> Match | None:
    """The edit as it would be in the text shown, merged with what the user changed since.

    Raises:
        AlreadyApplied: The user has made the same change.
    """
    try:
        shown = _found(Search(seen.view, None), wish, replace_all=False)
    except MatchError:
        return None
    edit = rebased(shown.edit, seen, live)
    return Match(edit, MatchKind.MERGED) if edit else None


def _merged_if_torn(found: Match, live: str, seen: Seen, wish: Wish) -> Match | None:
    """The same as `_merged` where a block of whole lines is now only a part of them; else None."""
    if not seen.changes or all(_ends_lines(live, found.edit)):
        return None
    shown = Search(seen.view, None).exact(wish, replace_all=False)
    if shown is None or _ends_lines(seen.text, shown.edit) == _ends_lines(live, found.edit):
        return None
    return _merged(live, seen, wish)


def _ends_lines(text: str, edit: TextEdit) -> tuple[bool, bool]:
    """Whether what an edit replaces begins at the beginning of a line, and ends at the end of one."""
    start, end = edit.replacements[0].start, edit.replacements[-1].end
    return start == 0 or text[start - 1] in "\r\n", end == len(text) or text[end] in "\r\n"


def _found(search: Search, wish: Wish, *, replace_all: bool) -> Match:
    """The block, by the steps of the ladder.

    Raises:
        MatchError: As `find_block` has it.
    """
    found = search.exact(wish, replace_all=replace_all)
    if found:
        return found
    wishes = [wish]
    bare = without_gutter(wish.old, wish.new)
    if bare and bare[0].strip():
        wishes.append(Wish(*bare))
        _refuse_no_change(wishes[1])
        found = search.exact(wishes[1], replace_all=replace_all)
    for one in wishes:
        found = found or search.forgiving(one)
    if found:
        return found
    for one in wishes:
        search.refuse_if_applied(one)
    raise search.not_found(wishes[-1])


def _refuse_no_change(wish: Wish) -> None:
    if wish.old == wish.new:
        raise Unclear("The old and the new text are the same: nothing would change.")


def _into_empty(live: View, new: str) -> Match:
    """All of an empty text becomes `new`."""
    if live.text:
        raise Unclear(
            "The old text is empty, but the file is not. Send the lines to replace; to add text, "
            "send a line beside the place and repeat it in the new text."
        )
    end = len(live.source)
    return Match(TextEdit((Replacement(end, end, new),)), MatchKind.EXACT)
