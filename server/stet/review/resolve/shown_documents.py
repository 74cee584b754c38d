"""What the model has been shown of files in one turn: what its quotes and line numbers are about."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from stet.review.proposal import Hunk
from stet.text.block_codec import may_hold_blocks
from stet.text.change import TextChange
from stet.text.diff import changes_between
from stet.text.document import TextDocument
from stet.text.large_document import LargeDocument
from stet.text.normalized_text import normalize_text
from stet.text.stripped_document import plain_changes
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical
from stet.workspace.workspace import Workspace


class ShownDocuments(Mapping[str, TextDocument]):
    """The text of every file as it was shown last, by canonical URI; older ones can be asked for.

    Args:
        documents: What the turn began with.
    """

    def __init__(self, documents: Iterable[TextDocument] = ()) -> None:
        # The latest is the last one; the same text is kept once, by its hash.
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
        # Blocks came and went: what they stand for was there all the time.
        return changes_between(shown.text, live.text)
    return noted


def as_shown(hunk: Hunk, snapshot: Snapshot, real: TextDocument | None = None) -> Hunk:
    """`hunk` with its place in the text that is shown of its file: blocks are no part of that.

    Args:
        hunk: Any.
        snapshot: The world as it is.
        real: The text of the file with its blocks, where it is not open.
    """
    document = snapshot.document(hunk.uri) or real
    if document is None:
        return hunk
    return dataclasses.replace(hunk, range=snapshot.shown_range(document, hunk.range))
