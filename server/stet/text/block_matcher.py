"""Search one text for a block: the exact and the fuzzy steps.

The rules of the steps are in `stet.text.match`. The text shown to the model is used twice: to
select one of several places, and to refuse a block that is unique only because the user has changed
the place that the model saw.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from stet.text.diff import line_edit
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import split_lines
from stet.text.match_result import (
    AmbiguousBlock,
    BlockChangedByUser,
    BlockMatch,
    BlockNotFound,
    EditAlreadyApplied,
    MatchKind,
    UnclearEdit,
)
from stet.text.normalized_text import (
    MatchedLines,
    NormalizedText,
    ShownText,
    TextSpan,
    find_fuzzy,
    normalize_text,
)
from stet.text.reindent import adopt_line_ends, check_indent, reindent_block, restore_lost_indent
from stet.text.sequence import find_occurrences

_WORD = re.compile(r"\w+")
_MAX_HOMES = 8
"""The maximum number of query lines that one word votes for."""


def closest_lines(lines: Sequence[str], query: Sequence[str]) -> tuple[int, int] | None:
    """Return the range of `lines` most similar to `query`: first line and end (0-based, half-open).

    Every word that a line shares with a query line votes for the place where the block would
    start; rare words weigh more. Return None if they share no word.
    """
    home: dict[str, list[int]] = defaultdict(list)
    for i, line in enumerate(query):
        for word in set(_WORD.findall(line)):
            home[word].append(i)
    found = ((at, home.keys() & _WORD.findall(line)) for at, line in enumerate(lines))
    shared = [(at, tuple(words)) for at, words in found if words]
    counts = Counter(word for _, words in shared for word in words)
    votes: defaultdict[int, float] = defaultdict(float)
    for at, words in shared:
        for word in words:
            for i in home[word][:_MAX_HOMES]:
                votes[max(0, at - i)] += 1 / (counts[word] * len(home[word]))
    if not votes:
        return None
    first = max(votes, key=lambda start: (votes[start], -start))
    return first, min(first + len(query), len(lines))


@dataclass(frozen=True, slots=True)
class BlockQuery:
    """The old and the new text that the model sent, in plain form (`stet.text.normalized_text`)."""

    old: str
    new: str

    def whole_lines(self) -> tuple[list[str], list[str]]:
        """Return the old and the new text as whole lines, without line ends."""
        if not self.old.endswith("\n"):
            return self.old.split("\n"), self.new.split("\n")
        new = self.new.removesuffix("\n").split("\n") if self.new else []
        return self.old[:-1].split("\n"), new


class BlockMatcher:
    """A matcher for the live text and, if known, the text that the model was shown."""

    def __init__(self, current: NormalizedText, shown_text: ShownText | None) -> None:
        self._current = current.source
        self._view = current
        self._shown = shown_text
        self._line_end = current.line_end

    def exact(self, query: BlockQuery, *, replace_all: bool) -> BlockMatch | None:
        """Match by steps 1 and 2; return None if neither the live nor the shown text has the block.

        Raises:
            AmbiguousBlock: The old text is in the live or in the shown text more than once.
            BlockChangedByUser: The old text was shown once, and the user has changed that place.
            EditAlreadyApplied: The old text was shown, and the new text is there now.
        """
        places = find_occurrences(self._view.text, query.old)
        if replace_all and places:
            places = _non_overlapping(places, len(query.old))
            spans = [self._source_span(place, query.old) for place in places]
            return self._replace(query, spans, MatchKind.EXACT)
        shown_text = self._shown
        shown = find_occurrences(shown_text.view.text, query.old) if shown_text else []
        old, _ = query.whole_lines()
        if places and shown_text and not shown and find_fuzzy(shown_text.view.line_table, old):
            return None  # the exact place is newer; the place that was shown is meant
        spans = [self._source_span(place, query.old) for place in places]
        if len(spans) > 1 and len(shown) != 1:
            raise self._ambiguous_error(spans)
        if shown_text and len(shown) == 1:
            return self._match_shown(query, spans, shown_text, shown[0])
        if len(spans) == 1:
            self._check_whole_lines(query, spans[0])
            return self._replace(query, spans, MatchKind.EXACT)
        if shown_text and shown:
            self.check_not_applied(query)
            size, now = len(query.old), self._view.document
            raise self._ambiguous_error([shown_text.map_around(at, at + size, now) for at in shown])
        return None

    def fuzzy(self, query: BlockQuery) -> BlockMatch | None:
        """Return the match of steps 3 to 5, or None if no step finds the block.

        Raises:
            AmbiguousBlock: A step finds several places in the live or in the shown text.
            BlockChangedByUser: The block was shown, and the user has changed that place.
            EditAlreadyApplied: The place has the new text already.
            UnclearEdit: A new line's indent has no counterpart in the file.
        """
        old, new = query.whole_lines()
        blocks = find_fuzzy(self._view.line_table, old)
        spans = [self._block_span(block) for block in blocks]
        if len(spans) > 1:
            chosen = self._pick_shown(old, spans)
            blocks, spans = (blocks[chosen],), [spans[chosen]]
        elif self._shown:
            self._check_shown(query, old, spans, self._shown)
        if not blocks:
            return None
        (block,), (span,) = blocks, spans
        old, new = restore_lost_indent(block.lost, old, new)
        if block.indent.added:
            check_indent(old, new)
        source = self._view.source_lines[block.first : block.first + block.n]
        text = reindent_block(source, old, new, block.indent, self._line_end)
        edit = line_edit(split_lines("".join(source)), split_lines(text), span.start)
        if not edit.replacements:
            raise EditAlreadyApplied(block.first + 1)
        torn_end = not new and source[-1] == self._view.lines[-1]
        self._check_line_ends(edit, len(new) - len(old) + torn_end)
        return BlockMatch(edit, block.kind)

    def _pick_shown(self, old: list[str], spans: list[TextSpan]) -> int:
        """Return the index of the place that was shown; the others are copies made since.

        Raises:
            AmbiguousBlock: None of the places was shown, or more than one was.
        """
        if self._shown:
            view = self._shown.view
            shown = find_fuzzy(view.line_table, old)
            if len(shown) == 1:
                place = self._shown.map_inside(*view.plain_span(shown[0]), self._view.document)
                held = [n for n, span in enumerate(spans) if span.contains(place)]
                if len(held) == 1 and place.start < place.end:
                    return held[0]
        raise self._ambiguous_error(spans)

    def check_not_applied(self, query: BlockQuery, within: TextSpan | None = None) -> None:
        """Check that the new text is not in the live text exactly once (at `within`, if given).

        Raises:
            EditAlreadyApplied: If the new text is there.
        """
        places = find_occurrences(self._view.text, query.new) if query.new.strip() else []
        if len(places) != 1:
            return
        span = self._source_span(places[0], query.new)
        if within is None or span.overlaps(within):
            raise EditAlreadyApplied(self._line_number(span.start))

    def not_found(self, query: BlockQuery) -> BlockNotFound:
        """Return the error that quotes the lines most similar to the old text."""
        found = closest_lines(self._view.line_table.lines, query.whole_lines()[0])
        if found is None:
            return BlockNotFound()
        first, end = found
        return BlockNotFound("\n".join(self._view.lines[first:end]), first + 1, end)

    def _match_shown(
        self, query: BlockQuery, spans: list[TextSpan], shown_text: ShownText, at: int
    ) -> BlockMatch:
        """Return the match of a block that was shown once, at `at`. The match is at the block's
        current place.
        """
        end, now = at + len(query.old), self._view.document
        inside, around = shown_text.map_inside(at, end, now), shown_text.map_around(at, end, now)
        chosen = [span for span in spans if span == inside]
        chosen = chosen or [span for span in spans if around.contains(span)]
        if not chosen and len(spans) == 1 and self._is_blank(around):
            chosen = spans
        if len(chosen) > 1:
            raise self._ambiguous_error(spans)
        if not chosen:
            if not spans:
                self.check_not_applied(query, around)
            raise self._changed_error(around)
        self._check_whole_lines(query, chosen[0])
        kind = MatchKind.EXACT if len(spans) == 1 else MatchKind.SEEN
        return self._replace(query, chosen, kind)

    def _check_whole_lines(self, query: BlockQuery, span: TextSpan) -> None:
        """Check a match of part of a line: almost equal whole lines may have been meant.

        Raises:
            AmbiguousBlock: If there are such lines at another place.
        """
        first, last = self._view.source_line(span.start), self._view.source_line(span.end)
        before = self._current[self._view.source_line_start(first) : span.start]
        last_start = self._view.source_line_start(last)
        after = self._current[span.end : last_start + len(self._view.source_lines[last])]
        if not before.strip() and (span.end == last_start or not after.strip()):
            return
        blocks = find_fuzzy(self._view.line_table, query.whole_lines()[0])
        others = [self._block_span(block) for block in blocks]
        others = [one for one in others if one.end <= span.start or span.end <= one.start]
        if others:
            raise self._ambiguous_error(sorted((span, *others), key=lambda one: one.start))

    def _check_shown(
        self, query: BlockQuery, old: list[str], spans: list[TextSpan], shown_text: ShownText
    ) -> None:
        """Compare the result with the result of the same steps in the shown text."""
        view, now = shown_text.view, self._view.document
        blocks = find_fuzzy(view.line_table, old)
        shown = [shown_text.map_around(*view.plain_span(block), now) for block in blocks]
        if len(shown) > 1:
            raise self._ambiguous_error(shown)
        if not shown or any(span.overlaps(shown[0]) for span in spans):
            return
        if spans and self._is_blank(shown[0]):
            return
        if not spans:
            self.check_not_applied(query, shown[0])
        raise self._changed_error(shown[0])

    def _replace(self, query: BlockQuery, spans: Sequence[TextSpan], how: MatchKind) -> BlockMatch:
        """Return the match that replaces the spans `spans` with the new text. The new text gets the
        file's line ends.
        """
        replacements, n_added = [], 0
        for span in spans:
            new = self._with_line_end(query, span)
            n_added += new.count("\n") - query.old.count("\n")
            source = self._current[span.start : span.end]
            text = adopt_line_ends(source, query.old, new, self._line_end)
            replacements.append(Replacement(span.start, span.end, text))
        edit = TextEdit(tuple(replacements))
        self._check_line_ends(edit, n_added)
        return BlockMatch(edit, how)

    def _with_line_end(self, query: BlockQuery, span: TextSpan) -> str:
        """Return the new text. If whole lines are replaced, add the last line end, which models
        often omit.

        Raises:
            UnclearEdit: Only this line end would change.
        """
        if not query.new or query.new.endswith("\n"):
            return query.new
        line_start = self._view.source_line_start(self._view.source_line(span.start))
        is_whole = query.old.strip() and query.old.endswith("\n")
        if not is_whole or self._current[line_start : span.start].strip():
            return query.new
        if query.new + "\n" == query.old:
            raise UnclearEdit(
                "The old and the new text differ by the last line end alone. To join two lines, "
                "send both."
            )
        return query.new + "\n"

    def _check_line_ends(self, edit: TextEdit, n_added: int) -> None:
        r"""Check that no `\r` is now before a `\n` of another line.

        Raises:
            UnclearEdit: If there is such a `\r`: the edit would join two lines.
        """
        if "\r" not in self._current:
            return
        n_lines = self._view.text.count("\n") + n_added
        if normalize_text(edit.apply(self._current)).count("\n") != n_lines:
            raise UnclearEdit(
                "The file mixes line ends in such a way that this edit would join two lines. "
                "Replace one line more before and after it."
            )

    def _source_span(self, place: int, text: str) -> TextSpan:
        """Return the span in the live text of `text`, found at `place` of the plain form."""
        end = place + len(text)
        return TextSpan(self._view.source_offset(place), self._view.source_offset(end))

    def _block_span(self, block: MatchedLines) -> TextSpan:
        start_of = self._view.source_line_start
        return TextSpan(start_of(block.first), start_of(block.first + block.n))

    def _is_blank(self, around: TextSpan) -> bool:
        """Return whether a place is blank now: the user has removed or moved the block."""
        return not self._current[around.start : around.end].strip()

    def _line_number(self, offset: int) -> int:
        """Return the line (1-based) of an offset of the live text."""
        return self._view.source_line(offset) + 1

    def _ambiguous_error(self, spans: Sequence[TextSpan]) -> AmbiguousBlock:
        return AmbiguousBlock(tuple(self._line_number(span.start) for span in spans))

    def _changed_error(self, around: TextSpan) -> BlockChangedByUser:
        first = self._line_number(around.start)
        last = self._line_number(max(around.start, around.end - 1))
        if self._is_blank(around):
            return BlockChangedByUser("", first, first)
        return BlockChangedByUser("\n".join(self._view.lines[first - 1 : last]), first, last)


def _non_overlapping(places: Sequence[int], length: int) -> list[int]:
    """Return the places, in order, without those that overlap the previously returned place."""
    disjoint: list[int] = []
    for place in places:
        if not disjoint or place >= disjoint[-1] + length:
            disjoint.append(place)
    return disjoint
