"""The texts that a model refers to: a file with the agent's own pending hunks, and shown texts.

An agent treats its proposals as written. It may quote proposed text to change the text again. Such
an edit is an edit of the present file: the hunks that it touches and the change become one edit
(`Amendment`), and the ledger replaces the earlier hunks by the hunks of this edit.

The model's quotations and line numbers refer to the texts that the model was shown in the turn
(`ShownDocuments`).
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from stet.review.proposal import WHOLE_FILE, Hunk, HunkKind, HunkState
from stet.review.tracking.tracked_span import range_of
from stet.text.block_codec import may_hold_blocks
from stet.text.diff import changes_between, diff_lines
from stet.text.document import TextDocument
from stet.text.edit import OverlapError, Replacement, TextChange, TextEdit
from stet.text.large_document import LargeDocument
from stet.text.lines import whole_lines
from stet.text.normalized_text import NormalizedText, normalize_text
from stet.text.position import Range
from stet.text.render import mark_lines, number_lines
from stet.text.stripped_document import plain_changes
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace

MAX_CHARACTERS = 20_000
"""How much pending text is shown with the lines of a file."""


@dataclass(frozen=True, slots=True)
class Amendment:
    """An edit of the live text that takes the place of pending hunks, if it contains any.

    Attributes:
        edit: From the live text to what is wanted; the hunks are in it.
        hunks: Their ids, in order of place.
    """

    edit: TextEdit
    hunks: tuple[str, ...]


@dataclass(frozen=True)  # without slots: what is computed once is kept in the instance
class PendingView:
    """A document as it would read if some pending hunks were accepted.

    Offsets are code points; those of the *view* count in `text`, others in the live document.

    Attributes:
        live: The document as it is.
        hunks: Pending hunks of lines, in order of place.
    """

    live: TextDocument
    hunks: tuple[Hunk, ...]

    @classmethod
    def build(cls, live: TextDocument, hunks: Iterable[Hunk], chat: str) -> "PendingView":
        """Return the view of the hunks that `chat` has pending in `live`.

        Left out are hunks that the user is deciding or has written over.
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
        """From the live text to `text`."""
        return TextEdit(tuple(self._written(hunk) for hunk in self.hunks))

    @cached_property
    def text(self) -> str:
        """The text with the hunks in it."""
        return self.edit.apply(self.live.text)

    @cached_property
    def normalized_live(self) -> NormalizedText:
        """The live text, to look for what a model quotes."""
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

    def touched(self, view_edit: TextEdit) -> tuple[Hunk, ...]:
        """Return the hunks that `view_edit`, an edit of the view, changes or adjoins."""
        return tuple(
            hunk
            for hunk, span in zip(self.hunks, self._spans, strict=True)
            if any(_touches(replacement, span) for replacement in view_edit.replacements)
        )

    def amended(self, view_edit: TextEdit) -> Amendment:
        """Return `view_edit`, an edit of the view, as one of the live text, with the hunks it
        touches in it.

        Cut into hunks anew, equal lines may end up on the other side of a hunk that it does not
        touch. Then all hunks are in it.
        """
        touched = self.touched(view_edit)
        ids = tuple(hunk.id for hunk in touched)
        first = TextEdit(tuple(self._written(hunk) for hunk in touched))
        then = TextEdit(tuple(self._without_others(one, ids) for one in view_edit.replacements))
        found = Amendment(first.compose(then), ids)
        if self._with_others(found) == view_edit.apply(self.text):
            return found
        return Amendment(self.edit.compose(view_edit), tuple(hunk.id for hunk in self.hunks))

    def hunks_of(self, edit: TextEdit) -> list[tuple[Range, str]]:
        """Return places and new texts of the hunks that an edit of the live text is cut into."""
        lines = self.live.lines
        after = TextDocument(self.live.uri, edit.apply(self.live.text))
        return [
            (range_of(lines, hunk.old_start, hunk.old_end), "".join(hunk.new))
            for hunk in diff_lines(lines, after.lines)
        ]

    def _with_others(self, amendment: Amendment) -> str | None:
        """Return how the view would read with an amendment cut into hunks; None if some would
        overlap.
        """
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
        """Return the ids of the hunks of `turn`, but for `amends`, that `edit` proposes once more.

        What an earlier turn has proposed is not among them: proposed again, it becomes this turn's, so
        that who accepts the turn accepts it.

        Args:
            edit: An edit of the live text.
            turn: The turn that proposes it.
            amends: Hunks that are in it already.
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
        """Return a replacement in the view, moved to its place with only the hunks `touched` in the
        view.
        """
        before_start = before_end = 0
        for hunk, (start, end) in zip(self.hunks, self._spans, strict=True):
            if hunk.id in touched:
                continue
            written = self._written(hunk)
            grown = end - start - (written.end - written.start)
            # Of lines that a hunk removes, an end there is before them and a start after them.
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
    """Return whether a replacement changes text in `span`, spans an empty `span`, or adds to it."""
    start, end = span
    if replacement.start == replacement.end:
        return start <= replacement.start <= end
    if start == end:
        return replacement.start < start < replacement.end
    return replacement.start < end and start < replacement.end


def pending_file(hunks: Iterable[Hunk], chat: str) -> Hunk | None:
    """Return the new file that `chat` has pending among the hunks of a file, if there is one."""
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
    """Return a description of what a hunk does, in a few words; lines are counted from 1."""
    if start == stop_line:
        return f"{hunk.id} adds its lines before line {start + 1}"
    lines = f"line {stop_line}" if stop_line == start + 1 else f"lines {start + 1}-{stop_line}"
    return f"{hunk.id} replaces {lines}" if hunk.new else f"{hunk.id} takes out {lines}"


class ShownDocuments(Mapping[str, TextDocument]):
    """The text of every file as it was shown last, by canonical URI; older ones can be asked for.

    Args:
        documents: What the turn began with.
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
        """Record a text that the model sees now."""
        texts = self._texts.setdefault(canonical(document.uri), {})
        texts.pop(document.content_hash, None)
        texts[document.content_hash] = document

    def last(self, uri: str, queries: Sequence[str] = ()) -> TextDocument | None:
        """Return the text of a file as it was last shown; None if the file was never shown.

        Of several texts the latest that holds any of `queries`, if one does.
        """
        return latest_with(self.texts_of(uri), queries)

    def texts_of(self, uri: str) -> tuple[TextDocument, ...]:
        """Return the texts of a file as they were shown, the latest first."""
        return tuple(reversed(self._texts.get(canonical(uri), {}).values()))


def latest_with(texts: Sequence[TextDocument], queries: Sequence[str]) -> TextDocument | None:
    """Return the first of `texts` that contains one of `queries`, else the first; None if there are no texts.

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
    """Return the recorded changes since the model was shown a text; None if they are no longer known.

    Args:
        live: The current text.
        shown: The text that the model was shown.
        workspace: Where the changes are recorded.
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
        # Blocks were added and removed: the text that they represent was there all the time.
        return changes_between(shown.text, live.text)
    return noted


def as_shown(hunk: Hunk, snapshot: Snapshot, real: TextDocument | None = None) -> Hunk:
    """Return `hunk` with its place in the text that is shown of its file: blocks are no part of
    that.

    Args:
        hunk: Any.
        snapshot: The world as it is.
        real: The text of the file with its blocks, where it is not open.
    """
    document = snapshot.document(hunk.uri) or real
    if document is None:
        return hunk
    return dataclasses.replace(hunk, range=snapshot.shown_range(document, hunk.range))
