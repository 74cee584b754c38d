"""What is computed of a draft before the ledger takes it: this takes long, so a worker thread does it.

- The policy check is part of it: a prepared draft has passed the check.
- The hunks of a proposal in one function or section are one group for a reader (`section_key`).
- The agent reads and edits a note without the blocks of other programs, which stay in the note until the
  user decides them. Its edit is moved line by line to the text with the blocks (`rebase_onto_blocks`).
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import overload

from stet.outline.indent_outline import Outline, Style, Symbol
from stet.review.errors import BlockInTheWay
from stet.review.policy.authorization import AuthorizedDraft, Draft, authorize
from stet.review.policy.rules import EditRules, ProposalRefused
from stet.review.proposal import (
    CreateDraft,
    EditDraft,
    Hunk,
    HunkKind,
    HunkState,
    MoveDraft,
    RemoveDraft,
)
from stet.review.tracking.tracked_span import range_of
from stet.text.diff import LineHunk
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import split_lines
from stet.text.position import Range
from stet.text.reindent import indent_of
from stet.text.stripped_document import StrippedDocument
from stet.workspace.snapshot import Snapshot

_PLAIN = frozenset(
    {"", "txt", "text", "log", "csv", "tsv", "json", "jsonl", "xml", "html", "svg", "lock", "diff"}
)
_PLAIN_LANGUAGES = frozenset({"plaintext", "text", "json", "csv", "xml", "html", "diff"})


@dataclass(frozen=True, slots=True)
class PreparedEdit:
    """An edit or a new file that has passed the policy check; made by `prepare_draft` only.

    Attributes:
        draft: The authorized draft.
        authorized: The result of the policy check.
        hunks: The hunks of an edit, one for each of `authorized.hunks`, without ids and proposals; their
            group is a `section_key`.
    """

    draft: EditDraft | CreateDraft
    authorized: AuthorizedDraft
    hunks: tuple[Hunk, ...] = ()

    def with_caution(self, caution: str) -> "PreparedEdit":
        """Return the prepared edit with a sentence of caution for the user after its summary."""
        if not caution:
            return self
        summary = f"{self.draft.summary} (Caution: {caution})"
        return replace(
            self,
            draft=replace(self.draft, summary=summary),
            hunks=tuple(replace(hunk, summary=summary) for hunk in self.hunks),
        )


@dataclass(frozen=True, slots=True)
class RejectedDraft:
    """A draft that the policy check has refused, to be reported later."""

    draft: EditDraft | CreateDraft
    refused: ProposalRefused


def prepare_or_reject(
    draft: EditDraft | CreateDraft, rules: EditRules
) -> PreparedEdit | RejectedDraft:
    """Call `prepare_draft` in a worker thread; a refusal is returned, and raised by the caller."""
    try:
        return prepare_draft(draft, rules)
    except ProposalRefused as refused:
        return RejectedDraft(draft, refused)


def prepare_authorized(draft: EditDraft, authorized: AuthorizedDraft) -> PreparedEdit:
    """Return the prepared edit of an authorized draft, which may be part of a move."""
    return PreparedEdit(
        draft, authorized, tuple(_hunk(hunk, draft, authorized) for hunk in authorized.hunks)
    )


@dataclass(frozen=True, slots=True)
class PreparedMove:
    """A move that has passed the policy check with all its links; made by `prepare_draft` only.

    Attributes:
        draft: The authorized draft.
        authorized: The result of the policy check.
        links: The edits of its links.
    """

    draft: MoveDraft
    authorized: AuthorizedDraft
    links: tuple[PreparedEdit, ...]

    def with_caution(self, said: str) -> "PreparedMove":
        """Return the prepared move with a sentence of caution, as `PreparedEdit.with_caution`."""
        if not said:
            return self
        summary = f"{self.draft.summary} (Caution: {said})"
        return replace(self, draft=replace(self.draft, summary=summary))


@dataclass(frozen=True, slots=True)
class PreparedRemoval:
    """A file's removal that has passed the policy check; made by `prepare_draft` only.

    Attributes:
        draft: The authorized draft.
        authorized: The result of the policy check.
    """

    draft: RemoveDraft
    authorized: AuthorizedDraft


PreparedDraft = PreparedEdit | PreparedMove | PreparedRemoval


@overload
def prepare_draft(draft: EditDraft | CreateDraft, rules: EditRules) -> PreparedEdit: ...


@overload
def prepare_draft(draft: MoveDraft, rules: EditRules) -> PreparedMove: ...


@overload
def prepare_draft(draft: RemoveDraft, rules: EditRules) -> PreparedRemoval: ...


def prepare_draft(draft: Draft, rules: EditRules) -> PreparedDraft:
    """Check a draft and compute its hunks. It may read the disk.

    Raises:
        ProposalRefused: If a rule refuses the draft, or any part of it.
    """
    authorized = authorize(draft, rules)
    match draft:
        case EditDraft():
            return prepare_authorized(draft, authorized)
        case CreateDraft():
            return PreparedEdit(draft, authorized)
        case MoveDraft():
            pairs = zip(draft.links, authorized.links, strict=True)
            links = tuple(prepare_authorized(link, allowed) for link, allowed in pairs)
            return PreparedMove(draft, authorized, links)
        case RemoveDraft():
            return PreparedRemoval(draft, authorized)


def _hunk(hunk: LineHunk, draft: EditDraft, authorized: AuthorizedDraft) -> Hunk:
    old, new = "".join(hunk.old), "".join(hunk.new)
    document = draft.document
    place = range_of(document.lines, hunk.old_start, hunk.old_start + len(hunk.old))
    return Hunk(
        id="",
        proposal="",
        turn=draft.turn,
        chat=draft.chat,
        uri=document.uri,
        kind=_kind_of(old, new),
        state=HunkState.PENDING,
        range=place,
        old=old,
        new=new,
        base=old,
        proposed=new,
        summary=draft.summary_of(place),
        group=section_key(document, place, new),
        author=draft.author,
        protected=authorized.protected,
        reason=authorized.caution,
    )


def _kind_of(old: str, new: str) -> HunkKind:
    if not old:
        return HunkKind.ADD
    return HunkKind.REPLACE if new else HunkKind.DELETE


def rebase_onto_blocks(prepared: PreparedEdit, snapshot: Snapshot) -> PreparedEdit:
    """Return the authorized edit, rebased onto the text with its blocks.

    Raises:
        BlockInTheWay: If the edit changes lines that a block represents.
    """
    draft = prepared.draft
    if not isinstance(draft, EditDraft):
        return prepared
    real = snapshot.document(draft.document.uri) or draft.document.real
    stripped = None if real is None else snapshot.stripped(real)
    if stripped is None:
        return prepared
    document = stripped.real
    places = [
        _place(stripped, hunk.old_start, hunk.old_start + len(hunk.old))
        for hunk in prepared.authorized.hunks
    ]
    ranges = [range_of(document.lines, *place) for place in places]
    edit = TextEdit(
        tuple(
            Replacement(document.offset_at(at.start), document.offset_at(at.end), hunk.new)
            for at, hunk in zip(ranges, prepared.hunks, strict=True)
        )
    )
    hunks = tuple(replace(hunk, range=at) for hunk, at in zip(prepared.hunks, ranges, strict=True))
    line_hunks = tuple(
        replace(hunk, old_start=first)
        for hunk, (first, _) in zip(prepared.authorized.hunks, places, strict=True)
    )
    return replace(
        prepared,
        draft=replace(draft, document=document, edit=edit, notes=()),
        authorized=replace(prepared.authorized, hunks=line_hunks),
        hunks=hunks,
    )


def _place(stripped: StrippedDocument, first: int, end: int) -> tuple[int, int]:
    place = stripped.to_real_lines(first, end)
    if place is None:
        raise BlockInTheWay(first, end)
    return place


def section_key(document: TextDocument, place: Range, new: str = "") -> str:
    """Return a key for what encloses a hunk, shared by all hunks in one function or section.
    Appended to the id of their proposal, the key is their group.

    `:Shape.area` names what encloses the hunk, `@2:Shape.area` the second of that name; nothing says
    that nothing encloses it, or more than one thing: it is alone.

    Args:
        document: The text as it is.
        place: The whole lines that the hunk replaces; empty where it only adds.
        new: What it writes; its indent tells where an addition belongs.
    """
    outline = _outline(document)
    symbol = _enclosing(outline, place, new)
    if symbol is None:
        return ""
    separator = " > " if outline.style is Style.MARKDOWN else "."
    nth = outline.number(symbol)
    return f"{f'@{nth}' if nth > 1 else ''}:{separator.join(symbol.path)}"


def group_label(group: str) -> str | None:
    """Return what the hunks of a group are in, as a name for people; None if there is no name."""
    return group.partition(":")[2] or None


def style_of(document: TextDocument) -> Style:
    """How a document is laid out, by the editor's name for its language, else by its file's name."""
    if document.is_markdown:
        return Style.MARKDOWN
    language = document.language_id.lower()
    name = document.uri.rpartition("/")[2].lower()
    suffix = name.rpartition(".")[2] if "." in name else ""
    if language in _PLAIN_LANGUAGES or (not language and suffix in _PLAIN):
        return Style.PLAIN
    return Style.CODE


@lru_cache(maxsize=2)  # the hunks of one edit come together; a long page is read once for them
def _outline(document: TextDocument) -> Outline:
    return Outline(document, style_of(document))


def _enclosing(outline: Outline, place: Range, new: str) -> Symbol | None:
    first = place.start.line
    if place.is_empty:
        line = next((line for line in split_lines(new) if line.strip()), "")
        return outline.enclosing(first, indent_of(line))
    symbol = outline.enclosing(first)
    if symbol is None or place.last_line == first:
        return symbol
    return symbol if outline.enclosing(place.last_line) == symbol else None
