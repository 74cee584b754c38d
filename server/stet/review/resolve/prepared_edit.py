"""Preparation of drafts for the ledger: it takes long, so a worker thread does it.

- The policy check is part of it: a prepared draft has passed the check.
- The hunks of a proposal in one function or section are one group (`section_key`).
- The agent reads and edits a note without the blocks of other programs, which remain in the note
  until the user decides them. The edit is moved line by line to the text with blocks
  (`rebase_onto_blocks`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from stet.outline.indent_outline import Outline, Style, Symbol
from stet.review.errors import BlockInTheWay
from stet.review.policy.authorization import AuthorizedDraft, authorize
from stet.review.policy.rules import EditRules, ProposalRefused
from stet.review.proposal import Draft, EditDraft, Hunk, MoveDraft, new_hunk, replace_hunk
from stet.review.tracking.tracked_span import range_of
from stet.text.diff import LineHunk
from stet.text.document import TextDocument
from stet.text.edit import Replacement, TextEdit
from stet.text.lines import split_lines
from stet.text.position import Range
from stet.text.reindent import indent_of
from stet.workspace.snapshot import Snapshot

_PLAIN = frozenset(
    {"", "txt", "text", "log", "csv", "tsv", "json", "jsonl", "xml", "html", "svg", "lock", "diff"}
)
_PLAIN_LANGUAGES = frozenset({"plaintext", "text", "json", "csv", "xml", "html", "diff"})


@dataclass(frozen=True, slots=True)
class PreparedDraft:
    """A draft that has passed the policy check; created by `prepare_draft` only.

    Attributes:
        draft: The authorized draft.
        authorized: The result of the policy check.
        hunks: The hunks of an edit, one for each of `authorized.hunks`, without ids and proposals;
            their group is a `section_key`.
        links: The edits of links for a move.
    """

    draft: Draft
    authorized: AuthorizedDraft
    hunks: tuple[Hunk, ...] = ()
    links: tuple["PreparedDraft", ...] = ()

    def with_caution(self, caution: str) -> "PreparedDraft":
        """Return the prepared draft with a caution for the user added to its summary."""
        if not caution:
            return self
        summary = f"{self.draft.summary} (Caution: {caution})"
        hunks = tuple(replace_hunk(hunk, summary=summary) for hunk in self.hunks)
        return replace(self, draft=replace(self.draft, summary=summary), hunks=hunks)

    def moved_to(self, document: TextDocument, firsts: Iterable[int]) -> "PreparedDraft":
        """Return a prepared edit moved to `document`, its hunks at the lines `firsts` (0-based)."""
        assert isinstance(self.draft, EditDraft), "only an edit has lines"
        line_hunks = tuple(
            hunk.slid(first - hunk.old_start)
            for hunk, first in zip(self.authorized.hunks, firsts, strict=True)
        )
        ranges = [range_of(document.lines, one.old_start, one.old_end) for one in line_hunks]
        hunks = tuple(
            replace_hunk(one, range=at) for one, at in zip(self.hunks, ranges, strict=True)
        )
        replacements = [
            Replacement(document.offset_at(at.start), document.offset_at(at.end), hunk.new)
            for at, hunk in zip(ranges, hunks, strict=True)
        ]
        return replace(
            self,
            draft=replace(
                self.draft, document=document, edit=TextEdit(tuple(replacements)), notes=()
            ),
            authorized=replace(self.authorized, hunks=line_hunks),
            hunks=hunks,
        )


@dataclass(frozen=True, slots=True)
class RejectedDraft:
    """A draft that the policy check has refused, to be reported later."""

    draft: Draft
    refused: ProposalRefused


def prepare_or_reject(draft: Draft, rules: EditRules) -> PreparedDraft | RejectedDraft:
    """Call `prepare_draft`; return a refusal instead of raising it, for a worker thread."""
    try:
        return prepare_draft(draft, rules)
    except ProposalRefused as refused:
        return RejectedDraft(draft, refused)


def prepare_draft(draft: Draft, rules: EditRules) -> PreparedDraft:
    """Check a draft and compute its hunks. It may read the disk.

    Raises:
        ProposalRefused: If a rule refuses the draft, or any part of it.
    """
    return _prepared(draft, authorize(draft, rules))


def _prepared(draft: Draft, authorized: AuthorizedDraft) -> PreparedDraft:
    """Return the prepared draft of an authorized draft."""
    if isinstance(draft, EditDraft):
        hunks = tuple(_hunk(hunk, draft, authorized.caution) for hunk in authorized.hunks)
        return PreparedDraft(draft, authorized, hunks)
    links = draft.links if isinstance(draft, MoveDraft) else ()
    return PreparedDraft(draft, authorized, links=tuple(map(_prepared, links, authorized.links)))


def _hunk(hunk: LineHunk, draft: EditDraft, caution: str) -> Hunk:
    document, new = draft.document, "".join(hunk.new)
    place = range_of(document.lines, hunk.old_start, hunk.old_end)
    return replace_hunk(
        new_hunk(draft, place, "".join(hunk.old), new, caution),
        summary=draft.summary_of(place),
        group=section_key(document, place, new),
    )


def rebase_onto_blocks(prepared: PreparedDraft, snapshot: Snapshot) -> PreparedDraft:
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
    firsts = []
    for hunk in prepared.authorized.hunks:
        if (place := stripped.to_real_lines(hunk.old_start, hunk.old_end)) is None:
            raise BlockInTheWay(hunk.old_start, hunk.old_end)
        firsts.append(place[0])
    return prepared.moved_to(stripped.real, firsts)


def section_key(document: TextDocument, place: Range, new: str = "") -> str:
    """Return a key for the function or section of a hunk, shared by all hunks in it.

    Appended to the id of their proposal, the key is their group. `:Shape.area` names the function
    or section, `@2:Shape.area` the second one of that name; the key is empty if nothing encloses
    the hunk, or if it is in more than one.

    Args:
        document: The current text.
        place: The whole lines that the hunk replaces; empty for an insertion.
        new: The new text, whose indentation determines what encloses an insertion.
    """
    outline = _outline(document)
    symbol = _enclosing(outline, place, new)
    if symbol is None:
        return ""
    separator = " > " if outline.style is Style.MARKDOWN else "."
    nth = outline.number(symbol)
    return f"{f'@{nth}' if nth > 1 else ''}:{separator.join(symbol.path)}"


def group_label(group: str) -> str | None:
    """Return the displayed name of a group's function or section; None if there is none."""
    return group.partition(":")[2] or None


def style_of(document: TextDocument) -> Style:
    """Return the layout of a document, by its language in the editor, else by its file name."""
    if document.is_markdown:
        return Style.MARKDOWN
    language = document.language_id.lower()
    name = document.uri.rpartition("/")[2].lower()
    suffix = name.rpartition(".")[2] if "." in name else ""
    if language in _PLAIN_LANGUAGES or (not language and suffix in _PLAIN):
        return Style.PLAIN
    return Style.CODE


@lru_cache(maxsize=2)  # the hunks of one edit are computed together, with one outline
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
