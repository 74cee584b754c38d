"""The texts to which a model refers: files with the agent's pending hunks, and shown texts.

An agent treats its proposals as written. It may quote proposed text to change the text again. Such
an edit becomes an edit of the current file: the edit and the hunks that it touches are joined to
one edit (`Amendment`), and the ledger replaces the earlier hunks by the hunks of this edit.

The model's quotations and line numbers refer to the texts that the model was shown in the turn
(`ShownDocuments`).
"""

import dataclasses
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from stet.review.proposal import WHOLE_FILE, Hunk, HunkKind, HunkState
from stet.review.tracking.tracked_span import range_of
from stet.text.block_codec import may_hold_blocks
from stet.text.diff import changes_between, diff_lines
from stet.text.document import TextDocument
from stet.text.edit import OverlapError, Replacement, TextChange, TextEdit
from stet.text.large_document import LargeDocument
from stet.text.lines import split_lines, whole_lines
from stet.text.normalized_text import NormalizedText, normalize_text
from stet.text.position import Range
from stet.text.render import mark_lines, number_lines
from stet.text.stripped_document import plain_changes
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

MAX_CHARACTERS = 20_000
"""The most code points of pending text that are shown with the lines of a file."""


@dataclass(frozen=True, slots=True)
class Amendment:
    """An edit of the live text that replaces the pending hunks that it contains.

    Attributes:
        edit: The edit of the live text, including the changes of the hunks.
        hunks: The ids of the hunks, in order of place.
    """

    edit: TextEdit
    hunks: tuple[str, ...]


@dataclass(frozen=True)  # without slots, for the cached properties
class PendingView:
    """A document as it would read if some pending hunks were accepted.

    Offsets are in code points: of the *view* in `text`, others in the live document.

    Attributes:
        live: The current document.
        hunks: The pending hunks of lines, in order of place.
    """

    live: TextDocument
    hunks: tuple[Hunk, ...]

    @classmethod
    def build(cls, live: TextDocument, hunks: Iterable[Hunk], chat: str) -> "PendingView":
        """Return the view of the pending hunks of `chat` in `live`.

        Hunks that the user is deciding or has changed are left out.
        """
        pending = (
            hunk
            for hunk in hunks
            if hunk.chat == chat
            and hunk.state is HunkState.PENDING
            and hunk.kind not in WHOLE_FILE
            and live.text_in(hunk.range) == hunk.old
        )
        return cls(live, tuple(sorted(pending, key=lambda hunk: hunk.range)))

    @cached_property
    def edit(self) -> TextEdit:
        """The edit from the live text to `text`."""
        return TextEdit(tuple(self._written(hunk) for hunk in self.hunks))

    @cached_property
    def text(self) -> str:
        """The text with the hunks."""
        return self.edit.apply(self.live.text)

    @cached_property
    def normalized_live(self) -> NormalizedText:
        """The normalized live text, in which quotations are searched."""
        return NormalizedText(self.live.text)

    @cached_property
    def normalized(self) -> NormalizedText:
        """The normalized text with the hunks."""
        return NormalizedText(self.text)

    @cached_property
    def _spans(self) -> tuple[tuple[int, int], ...]:
        """The span of each hunk's new text in the view."""
        spans, grown = [], 0
        for hunk in self.hunks:
            written = self._written(hunk)
            start = written.start + grown
            spans.append((start, start + len(hunk.new)))
            grown += len(hunk.new) - (written.end - written.start)
        return tuple(spans)

    @property
    def line_spans(self) -> tuple[tuple[int, int], ...]:
        """The lines of each hunk's new text in the view, 0-based and half-open."""
        starts = list(accumulate(map(len, split_lines(self.text)), initial=0))
        return tuple(
            (bisect_left(starts, first), bisect_left(starts, end)) for first, end in self._spans
        )

    def touched(self, view_edit: TextEdit) -> tuple[Hunk, ...]:
        """Return the hunks that `view_edit`, an edit of the view, changes or adjoins."""
        return tuple(
            hunk
            for hunk, span in zip(self.hunks, self._spans, strict=True)
            if any(_touches(replacement, span) for replacement in view_edit.replacements)
        )

    def amended(self, view_edit: TextEdit) -> Amendment:
        """Return `view_edit`, an edit of the view, and the touched hunks as one live edit.

        If the edit is cut into hunks again, equal lines may end up on the other side of another
        hunk. Then the edit includes all hunks.
        """
        touched = self.touched(view_edit)
        ids = tuple(hunk.id for hunk in touched)
        first = TextEdit(tuple(self._written(hunk) for hunk in touched))
        then = TextEdit(tuple(self._without_others(one, ids) for one in view_edit.replacements))
        found = Amendment(first.compose(then), ids)
        if self._with_others(found) == view_edit.apply(self.text):
            return found
        return Amendment(self.edit.compose(view_edit), tuple(hunk.id for hunk in self.hunks))

    def live_place(self, first: int, end: int) -> tuple[int, int] | None:
        """Return lines of the view (0-based, half-open) as lines of the live text.

        None if the view shows a hunk there, or if the text has blocks of other programs.
        """
        starts = [0, *accumulate(map(len, split_lines(self.text)))]
        place = Replacement(starts[first], starts[end], "")
        if self.live.real is not None or self.touched(TextEdit((place,))):
            return None
        found = self._without_others(place, ())
        start, last = (self.live.position_at(at) for at in (found.start, found.end))
        return start.line + (start.character > 0), last.line + (last.character > 0)

    def hunks_of(self, edit: TextEdit) -> list[tuple[Range, str]]:
        """Return the places and new texts of the hunks of an edit of the live text."""
        lines = self.live.lines
        after = TextDocument(self.live.uri, edit.apply(self.live.text))
        return [
            (range_of(lines, hunk.old_start, hunk.old_end), "".join(hunk.new))
            for hunk in diff_lines(lines, after.lines)
        ]

    def _with_others(self, amendment: Amendment) -> str | None:
        """Return the view's text with an amendment cut into hunks; None if hunks would overlap."""
        others = [hunk for hunk in self.hunks if hunk.id not in amendment.hunks]
        if not others:
            return amendment.edit.apply(self.live.text)
        cut = [self._replaced(place, new) for place, new in self.hunks_of(amendment.edit)]
        places = {one.start for one in cut if one.start == one.end}
        written = [self._written(hunk) for hunk in others]
        if any(one.start == one.end and one.start in places for one in written):
            return None
        try:
            return TextEdit((*cut, *written)).apply(self.live.text)
        except OverlapError:
            return None

    def repeated(self, edit: TextEdit, turn: str, amends: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the ids of the hunks of `turn`, except `amends`, that `edit` proposes again.

        Hunks of earlier turns are not included: if proposed again, they become hunks of this turn,
        so that accepting the turn accepts them.

        Args:
            edit: An edit of the live text.
            turn: The turn that proposes the edit.
            amends: The hunks that the edit includes.
        """
        if not any(hunk.turn == turn for hunk in self.hunks):
            return ()
        again = self.hunks_of(edit)
        return tuple(
            hunk.id
            for hunk in self.hunks
            if hunk.turn == turn and (hunk.range, hunk.new) in again and hunk.id not in amends
        )

    def _without_others(self, replacement: Replacement, touched: tuple[str, ...]) -> Replacement:
        """Return a replacement in the view, moved to the view with only the hunks `touched`."""
        before_start = before_end = 0
        for hunk, (start, end) in zip(self.hunks, self._spans, strict=True):
            if hunk.id in touched:
                continue
            written = self._written(hunk)
            grown = end - start - (written.end - written.start)
            # At lines that a hunk removes, an end is before the lines and a start after them.
            if end <= replacement.start:
                before_start += grown
            if start < replacement.end or replacement.start == replacement.end == end:
                before_end += grown
        return Replacement(
            replacement.start - before_start, replacement.end - before_end, replacement.text
        )

    def _written(self, hunk: Hunk) -> Replacement:
        return self._replaced(hunk.range, hunk.new)

    def _replaced(self, place: Range, new: str) -> Replacement:
        return Replacement(self.live.offset_at(place.start), self.live.offset_at(place.end), new)


def _touches(replacement: Replacement, span: tuple[int, int]) -> bool:
    """Return whether a replacement changes text in `span`, includes an empty one, or adjoins it."""
    start, end = span
    if replacement.start == replacement.end:
        return start <= replacement.start <= end
    if start == end:
        return replacement.start < start < replacement.end
    return replacement.start < end and start < replacement.end


def pending_file(hunks: Iterable[Hunk], chat: str) -> Hunk | None:
    """Return the pending new file of `chat` among the hunks of a file, if any."""
    return next(
        (
            hunk
            for hunk in hunks
            if hunk.chat == chat
            and hunk.state is HunkState.PENDING
            and hunk.kind is HunkKind.CREATE
        ),
        None,
    )


def render_listing(view: PendingView, first: int, end: int) -> str:
    """Return lines `first` to `end` (0-based, half-open), numbered, with the pending hunks.

    The numbers are those of the present text. A pending line has the id of its hunk and a `+`
    instead of a number, and is after the lines that it replaces; a legend at the end lists these
    lines.
    """
    lines = view.live.lines
    shown: list[str] = []
    legend: list[str] = []
    done, room = first, MAX_CHARACTERS
    for hunk in view.hunks:
        start, stop_line = hunk.range.start.line, hunk.range.line_after
        if not (start < end and stop_line > first) and not (
            start == stop_line and first <= start <= end
        ):
            continue
        stop = max(done, min(stop_line, end))
        shown.append(number_lines(lines[done:stop], first=done + 1))
        room -= len(hunk.new)
        shown.append(mark_lines(whole_lines(hunk.new), hunk.id) if room >= 0 else "")
        legend.append(_describe_hunk(hunk, start, stop_line) + ("" if room >= 0 else " (cut)"))
        done = stop
    shown.append(number_lines(lines[done:end], first=done + 1))
    if legend:
        shown.append(
            "(Your pending proposals, not in the file and without line numbers: "
            f"{'; '.join(legend)}.)\n"
        )
    return "".join(shown)


def _describe_hunk(hunk: Hunk, start: int, stop_line: int) -> str:
    """Return a short description of a hunk, with 1-based lines."""
    if start == stop_line:
        return f"{hunk.id} adds its lines before line {start + 1}"
    lines = f"line {stop_line}" if stop_line == start + 1 else f"lines {start + 1}-{stop_line}"
    return f"{hunk.id} replaces {lines}" if hunk.new else f"{hunk.id} takes out {lines}"


class ShownDocuments(Mapping[str, TextDocument]):
    """The last shown text of each file, by canonical URI; older texts by `texts_of`.

    Args:
        documents: The texts at the start of the turn.
    """

    def __init__(self, documents: Iterable[TextDocument] = ()) -> None:
        # The latest text is last; the same text is stored once, by its hash.
        self._texts: dict[str, dict[str, TextDocument]] = {}
        for document in documents:
            self.record(document)

    def __getitem__(self, key: str) -> TextDocument:
        return next(reversed(self._texts[key].values()))

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def record(self, document: TextDocument) -> None:
        """Record a text that the model is shown."""
        texts = self._texts.setdefault(canonical(document.uri), {})
        texts.pop(document.content_hash, None)
        texts[document.content_hash] = document

    def last(self, uri: str, queries: Sequence[str] = ()) -> TextDocument | None:
        """Return the last shown text of a file; None if the file was never shown.

        If there are several texts, prefer the latest that contains one of `queries`.
        """
        return latest_with(self.texts_of(uri), queries)

    def texts_of(self, uri: str) -> tuple[TextDocument, ...]:
        """Return the shown texts of a file, the latest first."""
        return tuple(reversed(self._texts.get(canonical(uri), {}).values()))


def latest_with(texts: Sequence[TextDocument], queries: Sequence[str]) -> TextDocument | None:
    """Return the first of `texts` that contains one of `queries`, else the first, else None.

    For long texts call it in a worker thread.
    """
    if len(texts) > 1:
        quoted = [normalize_text(text) for text in queries]
        for document in texts if quoted else ():
            text = normalize_text(document.text)
            if any(one in text for one in quoted):
                return document
    return texts[0] if texts else None


def noted_since(
    live: TextDocument, shown: TextDocument, workspace: Workspace
) -> tuple[TextChange, ...] | None:
    """Return the recorded changes since a text was shown; None if no longer known.

    Args:
        live: The current text.
        shown: The text that the model was shown.
        workspace: The workspace that records the changes.
    """
    if not isinstance(live, LargeDocument) or not isinstance(shown, LargeDocument):
        return workspace.changes_since(live.uri, shown.revision)
    noted = workspace.changes_since(live.uri, (shown.real or shown).revision)
    return None if noted is None else plain_changes(noted, shown.left_out, live.left_out)


def changes_since_text(
    live: TextDocument, shown: TextDocument, noted: tuple[TextChange, ...] | None
) -> tuple[TextChange, ...]:
    """Return the changes that lead from a text that the model was shown to the current text.

    For long texts call it in a worker thread.

    Args:
        live: The current text.
        shown: The text that the model was shown.
        noted: The recorded changes in between; None if they are no longer known.
    """
    if shown.content_hash == live.content_hash or shown.text == live.text:
        return ()
    if noted is None or any(may_hold_blocks(change.text) for change in noted):
        # Blocks were added or removed, but the text that they represent has not changed.
        return changes_between(shown.text, live.text)
    return noted


def as_shown(hunk: Hunk, snapshot: Snapshot, real: TextDocument | None = None) -> Hunk:
    """Return `hunk` with its place in the text without blocks, which is shown of its file.

    Args:
        hunk: The hunk, of any kind.
        snapshot: The current state of the workspace.
        real: The text of the file with its blocks, used if the file is not open.
    """
    document = snapshot.document(hunk.uri) or real
    if document is None:
        return hunk
    return dataclasses.replace(hunk, range=snapshot.shown_range(document, hunk.range))
