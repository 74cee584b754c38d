"""From what the gate admitted to hunks: where each stands, and what it takes the place of."""

import dataclasses
from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import accumulate, islice, takewhile
from typing import NamedTuple

from stet.review.anchoring.anchor import Anchor
from stet.review.anchoring.line_span import overlap
from stet.review.anchoring.tracked_document import TrackedDocument
from stet.review.book import TOP, Book
from stet.review.drafts import CreateDraft, EditDraft, MoveDraft, RemoveDraft
from stet.review.errors import Overlap
from stet.review.following import catch_up
from stet.review.gate import Admitted
from stet.review.proposal import LIVE, Hunk, HunkKind, HunkState, but
from stet.review.readying import Ready, ReadyMove
from stet.text.document import TextDocument
from stet.text.line_hunk import LineHunk

_Place = tuple[int, int]


class _Part(NamedTuple):
    """The edit of one file's links, as a part of a move; and the number of its first hunk."""

    move: Hunk
    first: int


class _Room(NamedTuple):
    """What an edit finds in its file.

    Attributes:
        track: The file.
        staying: The amended hunks that it proposes once more just as they are, by place.
        fresh: What it proposes beside them.
        replaced: The hunks that it takes the place of, or takes back.
    """

    track: TrackedDocument
    staying: dict[_Place, str]
    fresh: list[LineHunk]
    replaced: dict[str, None]


def propose_lines(
    book: Book,
    draft: EditDraft,
    ready: Ready,
    *,
    amends: Collection[str] = (),
    part_of: _Part | None = None,
) -> list[str]:
    """Take an edit as pending hunks; gives their ids, and those of amended ones that stay.

    Args:
        book: Where they go.
        draft: The edit.
        ready: The same, as the gate let it through.
        amends: Pending hunks whose effect the edit includes.
        part_of: The move whose links it mends.

    Raises:
        Overlap: With a live hunk of the same turn, or one that is on its way to the editor.
    """
    document, admitted = draft.document, ready.admitted
    if not admitted.hunks and not amends:
        return []
    track, staying, fresh, replaced = _room_for(book, draft, admitted, frozenset(amends))
    first = part_of.first if part_of else _number(book, len(fresh))
    made = {_place_of(hunk): f"h{first + nth}" for nth, hunk in enumerate(fresh)}
    in_order = tuple(made.items())
    gone = [_replaced(book, track, hunk_id, in_order) for hunk_id in replaced]
    move = part_of.move if part_of else None
    proposal = move.proposal if move else book.proposal_id(draft.turn, document.uri)
    outlines = {_place_of(at): hunk for at, hunk in zip(admitted.hunks, ready.hunks, strict=True)}
    hunks = [
        but(
            (outline := outlines[place]),
            id=hunk_id,
            proposal=proposal,
            group=move.group if move else f"{proposal}{outline.group or f'@{hunk_id}'}",
        )
        for place, hunk_id in in_order
    ]
    book.enter(hunks, move.uri if move else "")
    for hunk, line_hunk in zip(hunks, fresh, strict=True):
        track.add(Anchor(hunk.id, track.lines, _place_of(line_hunk), hunk.old, hunk.new))
    book.put(*gone, *hunks, stands=document.uri)
    book.changed(document.uri)
    ids = {**made, **staying}
    return [ids[_place_of(hunk)] for hunk in admitted.hunks]


def _room_for(
    book: Book, draft: EditDraft, admitted: Admitted, amends: frozenset[str] = frozenset()
) -> _Room:
    """See that an edit can be taken; nothing is taken yet.

    Raises:
        Overlap: As `propose_lines` has it.
    """
    document = draft.document
    track = book.track_for(document)
    if document.version is None:
        # The hunks that are in the way may have to follow the disk to where they are now.
        catch_up(book, track, document.text)
    staying = _staying(track, admitted.hunks, amends)
    fresh = [hunk for hunk in admitted.hunks if _place_of(hunk) not in staying]
    replaced = _in_the_way(book, track, fresh, draft, amends)
    replaced |= dict.fromkeys(amends - set(staying.values()))
    return _Room(track, staying, fresh, replaced)


def _staying(
    track: TrackedDocument, hunks: Sequence[LineHunk], amends: Collection[str]
) -> dict[_Place, str]:
    """The hunks of `amends` that an edit proposes once more just as they are, by place."""
    if not amends:
        return {}
    known = {(one.first, one.end, one.merged): one.hunk for one in track.live if one.hunk in amends}
    same = ((_place_of(hunk), "".join(hunk.new)) for hunk in hunks)
    return {place: known[*place, text] for place, text in same if (*place, text) in known}


def _number(book: Book, n: int) -> int:
    """The number of the first of `n` hunks; 0 where there are none."""
    return book.journal.number("hunk", n) if n else 0


def _place_of(hunk: LineHunk) -> _Place:
    return hunk.old_start, hunk.old_start + len(hunk.old)


def _in_the_way(
    book: Book,
    track: TrackedDocument,
    fresh: list[LineHunk],
    draft: EditDraft,
    amends: Collection[str],
) -> dict[str, None]:
    """Live hunks of other turns that share a place with the new ones.

    Raises:
        Overlap: If one of them has to stay, and is no insertion beside which another can stand.
    """
    found: dict[str, None] = {}
    for hunk in fresh:
        for anchor in track.overlapping(_place_of(hunk)):
            if anchor.hunk in amends:
                continue
            other = book.now(book[anchor.hunk])
            # In conflict it can't be accepted anyway: the turn may look again and do better.
            mine = other.turn == draft.turn and other.state is not HunkState.CONFLICT
            on_way = book.is_on_its_way(other.id)
            if mine and anchor.is_gap and not hunk.old and not on_way:
                continue  # both go in, in the order of the turn's rounds
            if mine or other.state is HunkState.SENT or on_way:
                raise Overlap(other)
            found[anchor.hunk] = None
    return found


def _replaced(
    book: Book, track: TrackedDocument, hunk_id: str, made: Sequence[tuple[_Place, str]]
) -> Hunk:
    """A hunk that a new one takes the place of, or that is taken back where none does."""
    anchor = track.anchor(hunk_id)
    place = (anchor.first, anchor.end) if anchor else (0, 0)
    # They are in order of place, and none touches another.
    near = islice(made, bisect_left(made, place[0], key=lambda one: one[0][1]), None)
    touching = list(takewhile(lambda one: one[0][0] <= place[1], near))
    if touching:
        other = next((new for at, new in touching if overlap(at, place)), touching[0][1])
        return book.closed(book[hunk_id], HunkState.SUPERSEDED, f"replaced by {other}")
    return book.closed(book[hunk_id], HunkState.WITHDRAWN, "the agent has taken it back")


# -- whole files ---------------------------------------------------------------------------------


def propose_create(book: Book, draft: CreateDraft, admitted: Admitted) -> str:
    """Take a new file as one pending hunk; gives its id.

    Raises:
        Overlap: With one that is on its way to the editor.
    """
    hunk = _whole(book, draft, HunkKind.CREATE, admitted)
    hunk = dataclasses.replace(hunk, new=draft.text, proposed=draft.text)
    gone = _earlier(book, hunk)
    track = book.track_for(TextDocument(draft.uri, ""))
    track.add(Anchor(hunk.id, track.lines, (0, 0), "", draft.text))
    _enter(book, hunk, gone, stands=hunk.uri)
    return hunk.id


def propose_move(book: Book, ready: ReadyMove) -> list[str]:
    """Take a move and the edits of its links; gives their ids, the move's first.

    Raises:
        Overlap: With a live hunk of the same turn, or one on its way to the editor.
    """
    draft, links = ready.draft, list(zip(ready.draft.links, ready.links, strict=True))
    for link, one in links:
        if one.hunks:
            _ = _room_for(book, link, one.admitted)  # before anything is taken: all or nothing
    hunk = _whole(book, draft, HunkKind.MOVE, ready.admitted)
    hunk = dataclasses.replace(hunk, new_uri=draft.new_uri)
    gone = _earlier(book, hunk)
    made = [hunk.id]
    n_lines = [len(one.hunks) for one in ready.links]
    firsts = accumulate(n_lines, initial=_number(book, sum(n_lines)))
    with book.together():
        _enter(book, hunk, gone)
        for (link, one), number in zip(links, firsts, strict=False):
            made += propose_lines(book, link, one, part_of=_Part(hunk, number))
    return made


def propose_remove(book: Book, draft: RemoveDraft, admitted: Admitted) -> str:
    """Take a file's removal as one pending hunk; gives its id.

    Raises:
        Overlap: With one that is on its way to the editor.
    """
    hunk = _whole(book, draft, HunkKind.REMOVE, admitted)
    hunk = dataclasses.replace(hunk, old=draft.text, base=draft.text)
    _enter(book, hunk, _earlier(book, hunk))
    return hunk.id


def _enter(book: Book, hunk: Hunk, gone: list[Hunk], stands: str | None = None) -> None:
    book.enter([hunk])
    book.put(*gone, hunk, stands=stands)
    book.changed(hunk.uri)


def _earlier(book: Book, hunk: Hunk) -> list[Hunk]:
    """Live hunks of the same kind for the same file, taken out of play."""
    live = [h for h in book.of_file(hunk.uri) if h.kind is hunk.kind and h.state in LIVE]
    for other in live:
        if other.state is HunkState.SENT:
            raise Overlap(book.now(other))
    return [book.closed(h, HunkState.SUPERSEDED, f"replaced by {hunk.id}") for h in live]


def _whole(
    book: Book, draft: CreateDraft | MoveDraft | RemoveDraft, kind: HunkKind, admitted: Admitted
) -> Hunk:
    """A hunk about a file as such."""
    proposal = book.proposal_id(draft.turn, draft.uri)
    return Hunk(
        id=f"h{book.journal.number('hunk')}",
        proposal=proposal,
        turn=draft.turn,
        chat=draft.chat,
        uri=draft.uri,
        kind=kind,
        state=HunkState.PENDING,
        range=TOP,
        old="",
        new="",
        base="",
        proposed="",
        summary=draft.summary,
        group=proposal,
        author=draft.author,
        protected=admitted.protected,
        reason=admitted.caution,
    )
