"""`edit_file`: propose a change of an existing file, by quoted text or by line position.

The calls of one answer that edit the same file are one edit: what they mean is found in the text
the model was shown, they are checked as a whole, and either all of them are proposed or none.
"""

import asyncio
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

from pydantic import Field, model_validator

from stet.review.edit_wish import Joined, Quote, Wish, by_position, by_text, clash, join
from stet.review.gate import admit
from stet.review.instruction import BadInstruction
from stet.review.pending_view import PendingView
from stet.review.proposal import Hunk, HunkState
from stet.review.rules import Refused
from stet.text.document import TextDocument
from stet.text.edit import OverlapError
from stet.text.match import MatchError
from stet.text.position import Range
from stet.text.seen import Seen
from stet.tools.base import Params, Together, Tool, ToolGroup, ToolKind
from stet.tools.desk import Desk
from stet.tools.errors import ToolError

_TRIES = 3


class EditFile(Params):
    """Propose a change of a file. The user reviews it; nothing is written until they accept.

    Give either `old_text` and `new_text`: `old_text` is copied exactly from the file, without line
    numbers, with enough lines to be unique; or `position` and `content`. Positions: `start`, `end`,
    `after:## Heading`, `insert:N` (before line N), `replace:N`, `replace:N-M`, `delete:N`,
    `delete:N-M`, with the line numbers you were shown; `create` makes a new file of `content`, and
    `open` shows the file to the user.
    Put all changes that touch the same lines into one call. Read the file first.
    Several calls for one file in one answer count as one edit: all of them are proposed or none.
    To change what you have proposed, quote that text as `old_text`; put the old text back to take
    it back.
    """

    file: str = Field(description="Path relative to the workspace root.")
    old_text: str | None = Field(default=None, description="The text to replace, exactly.")
    new_text: str | None = Field(default=None, description="What it becomes; empty deletes it.")
    replace_all: bool = Field(default=False, description="Replace every place, not just one.")
    position: str | None = Field(default=None, description="Where `content` goes.")
    content: str = Field(default="", description="Whole lines for `position`.")
    summary: str = Field(default="", description="One line for the user: what and why.")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        by_text = self.old_text is not None and self.new_text is not None
        if by_text == (self.position is not None):
            raise ValueError("give either old_text and new_text, or position and content")
        return self


async def run(params: EditFile, desk: Desk) -> str:
    """What was proposed.

    Raises:
        ToolError: If the place can't be found, or the gate refuses.
    """
    match (params.position or "").strip():
        case "create":
            hunk = await desk.create(params.file, params.content)
            return _told_new(params.file, hunk)
        case "open":
            await desk.open(params.file)
            return f"The user sees {params.file} now.\n"
    (outcome,) = await run_together([params], desk)
    if isinstance(outcome, ToolError):
        raise outcome
    return outcome


async def run_together(
    calls: Sequence[EditFile | ToolError], desk: Desk
) -> tuple[str | ToolError, ...]:
    """All of the calls, which edit one file, or none; what was proposed for each, or why nothing was.

    A call that could not be read is given as its error.
    """
    read = [call for call in calls if isinstance(call, EditFile)]
    if len(read) < len(calls):
        return _none(
            {n: call for n, call in enumerate(calls) if not isinstance(call, EditFile)}, calls
        )
    try:
        batch = await _batch(desk, read)
        for _ in range(_TRIES):
            await asyncio.to_thread(batch.find)
            if batch.is_current:
                break
            batch = await _batch(desk, read)
    except ToolError as error:
        return (error,) * len(calls)
    # Nothing is awaited from here on: what was found in the text is proposed for the same text. Where
    # the user was faster each time, it is looked for here.
    return batch.outcomes()


async def _batch(desk: Desk, calls: Sequence[EditFile]) -> "_Batch":
    """The calls, with the text as it is now.

    Raises:
        ToolError: If there is none that may be edited.
    """
    first = calls[0]
    try:
        return _Batch(desk, await desk.live(first.file, position=_position(first)), calls, None)
    except ToolError:
        if (new := desk.pending_file(first.file)) is None:
            raise
        return _Batch(desk, TextDocument(new.uri, new.new), calls, new)


@dataclass(frozen=True, slots=True)
class _Found:
    """What a call does.

    Attributes:
        wish: That.
        part: The same as one edit with the pending hunks that it changes.
        places: The whole lines of the text as it is that it changes.
        refused: Why it would not pass the gate alone.
    """

    wish: Wish
    part: Joined
    places: tuple[Range, ...]
    refused: Refused | None


class _Batch:
    """Calls that edit one file as it is now.

    Args:
        desk: Where they work.
        live: The file.
        calls: In order.
        new: The pending hunk that makes the file, if it is not there yet; `live` is its text.
    """

    def __init__(
        self, desk: Desk, live: TextDocument, calls: Sequence[EditFile], new: Hunk | None
    ) -> None:
        self._desk = desk
        self._live = live
        self._calls = calls
        self._new = new
        self._view = PendingView(live, ()) if new else desk.pending_in(live)
        # What the workspace knows is asked here, for it belongs to the event loop.
        self._seen: dict[str, Seen] = {}
        self._shown = [self._shown_to(call) for call in calls]
        self._rules = dataclasses.replace(desk.rules, ground=cache(desk.rules.ground))
        self._look = desk.rules.looking_ahead((live.uri,))
        self._found: list[_Found | MatchError | BadInstruction] | None = None

    def _shown_to(self, call: EditFile) -> TextDocument | None:
        """The text that a call is about, as the model was shown it."""
        wanted: tuple[str, ...] = ()
        if call.old_text is not None and call.new_text is not None:
            wanted = Quote(call.old_text, call.new_text).readings()
        shown = self._desk.was_shown(self._live.uri, wanted)
        if shown is not None and shown.content_hash not in self._seen:
            changes = self._desk.changes_since_shown(self._live, shown)
            self._seen[shown.content_hash] = Seen(shown.text, changes)
        return shown

    def find(self) -> None:
        """Look for all of it ahead, in a worker thread: it takes long, and asks the disk."""
        self._rules = self._look()
        self._found = self._all_found()

    @property
    def is_current(self) -> bool:
        """Whether the text is what it was when this was made."""
        if self._new is not None:
            return self._desk.pending_file(self._calls[0].file) == self._new
        return self._desk.is_current(self._live, self._view)

    def outcomes(self) -> tuple[str | ToolError, ...]:
        """What came of each call."""
        if self._found is None:
            self._found = self._all_found()
        found: list[_Found] = []
        errors: dict[int, ToolError] = {}
        for n, (call, one) in enumerate(zip(self._calls, self._found, strict=True)):
            if not isinstance(one, _Found):
                errors[n] = ToolError(f"{call.file!r}: {one}")
            elif one.refused is not None:
                refusal = one.refused.refusal
                errors[n] = self._desk.refuse(call.file, _position(call), refusal)
            else:
                found.append(one)
        if errors:
            return _none(errors, self._calls)
        wishes = [one.wish for one in found]
        try:
            return self._propose(found, join(wishes, self._view))
        except OverlapError:
            numbers = clash(wishes, self._view)
            return _none(dict.fromkeys(numbers, self._overlap(numbers)), self._calls)
        except ToolError as error:
            return _none(dict.fromkeys(range(len(wishes)), error), self._calls)

    def _all_found(self) -> list[_Found | MatchError | BadInstruction]:
        """What each call does, or why its place can't be found."""
        found: list[_Found | MatchError | BadInstruction] = []
        for call, shown in zip(self._calls, self._shown, strict=True):
            try:
                found.append(self._find(call, shown))
            except (MatchError, BadInstruction) as error:
                found.append(error)
        return found

    def _find(self, call: EditFile, shown: TextDocument | None) -> _Found:
        """What a call does.

        Raises:
            MatchError, BadInstruction: If its place can't be found.
        """
        seen = self._seen[shown.content_hash] if shown else None
        if call.position is None:
            wish = self._by_text(call, seen)
        else:
            wish = self._by_position(call, shown, seen)
        part = join([wish], self._view)
        places = tuple(place for place, _ in self._view.hunks_of(part.edit))
        refused = None
        if len(self._calls) > 1 and self._new is None:
            try:
                _ = admit(self._desk.draft(self._live, call.file, part.edit, ""), self._rules)
            except Refused as against:
                refused = against
        return _Found(wish, part, places, refused)

    def _by_text(self, call: EditFile, seen: Seen | None) -> Wish:
        assert call.old_text is not None
        assert call.new_text is not None
        quote = Quote(call.old_text, call.new_text, replace_all=call.replace_all)
        return by_text(quote, self._view, seen)

    def _by_position(self, call: EditFile, shown: TextDocument | None, seen: Seen | None) -> Wish:
        assert call.position is not None
        if shown is None or seen is None:
            raise BadInstruction(
                "You have not been shown this file, so its line numbers mean nothing yet. Read it "
                "first, or use old_text and new_text."
            )
        return by_position(call.position, call.content, self._live, shown, seen.changes)

    def _overlap(self, numbers: tuple[int, ...]) -> ToolError:
        named = [f"{n + 1} ({_position(self._calls[n])!r})" for n in numbers]
        return ToolError(
            f"{self._calls[0].file!r}: edits {' and '.join(named)} of this answer overlap; put the "
            "changes of that place into one call."
        )

    def _propose(self, found: list[_Found], whole: Joined) -> tuple[str, ...]:
        """Propose all of them as one edit, `whole`.

        Raises:
            ToolError: If the gate or the ledger refuses.
        """
        places = [one.places for one in found]
        if not any(places) and not whole.amends:
            return tuple(_nothing(call) for call in self._calls)
        offset = self._live.offset_at
        notes = tuple(
            (offset(place.start), offset(place.end), call.summary or _summary(call))
            for call, own in zip(self._calls, places, strict=True)
            for place in own
        )
        summary = "; ".join(dict.fromkeys(note for _, _, note in notes))
        call = next(
            one for one, own in zip(self._calls, places, strict=True) if own or whole.amends
        )
        if self._new is not None:
            located = self._desk.locate(call.file)
            text = whole.edit.apply(self._live.text)
            hunk = self._desk.propose_create(located, text, summary)
            return tuple(_told_new(each.file, hunk) for each in self._calls)
        draft = self._desk.draft(self._live, call.file, whole.edit, summary)
        hunks = self._desk.propose_draft(
            dataclasses.replace(draft, notes=notes),
            position=_position(call),
            amends=(*whole.amends, *self._view.repeated(whole.edit, whole.amends)),
            rules=self._rules,
        )
        return tuple(
            self._told(call, one.part.amends, [hunk for hunk in hunks if _is_of(hunk, one.places)])
            for call, one in zip(self._calls, found, strict=True)
        )

    def _told(self, call: EditFile, amends: tuple[str, ...], own: list[Hunk]) -> str:
        """What became of one call."""
        told = ""
        if own:
            places = ", ".join(
                f"{hunk.id} at line {hunk.range.start.line + 1} ({hunk.kind})" for hunk in own
            )
            told = (
                f"Proposed {places} in {call.file}. They wait for the user; the file itself is "
                "unchanged, so its line numbers stay as shown.\n"
            )
        now = [self._desk.ledger.hunk(hunk.id) for hunk in self._view.hunks]
        by = {f"replaced by {hunk.id}" for hunk in own}
        replaced = ", ".join(hunk.id for hunk in now if hunk.reason in by)
        if replaced:
            told += f"No longer proposed, because this takes its place: {replaced}.\n"
        withdrawn = [hunk.id for hunk in now if hunk.state is HunkState.WITHDRAWN]
        if taken_back := ", ".join(hunk_id for hunk_id in withdrawn if hunk_id in amends):
            told += f"No longer proposed: {taken_back}.\n"
        return told or _nothing(call)


def _none(
    errors: Mapping[int, ToolError], calls: Sequence[EditFile | ToolError]
) -> tuple[ToolError, ...]:
    """Nothing was proposed, because of `errors` by the number of the call, from 0."""
    if len(calls) == 1:
        return tuple(errors.values())
    n, error = min(errors.items())
    reason = str(error).partition("\n")[0]
    again = f"None of the {len(calls)} edits of this file in this answer was proposed; send all of them again."
    return tuple(
        ToolError(f"{errors[k]} {again}")
        if k in errors
        else ToolError(f"Edit {n + 1} of this file failed: {reason} {again}")
        for k in range(len(calls))
    )


def _is_of(hunk: Hunk, places: Sequence[Range]) -> bool:
    """Whether a hunk is what an edit that changes these whole lines became, alone or with others."""
    return any(place.start <= hunk.range.end and hunk.range.start <= place.end for place in places)


def _nothing(call: EditFile) -> str:
    return f"{call.file} already says so; nothing to do.\n"


def _position(params: EditFile) -> str:
    """Where, as the model said it: the position, or the first line of what is replaced."""
    return params.position or (params.old_text or "").strip().partition("\n")[0][:80]


def _summary(params: EditFile) -> str:
    what = params.position or "replace text"
    return f"Edit {params.file}: {what}"


def _told_new(file: str, hunk: Hunk) -> str:
    return f"Proposed {hunk.id}: the new file {file}. It waits for the user.\n"


def _file(arguments: Mapping[str, object]) -> str | None:
    """The file whose text a call changes, by its arguments."""
    file, position = arguments.get("file"), arguments.get("position")
    alone = isinstance(position, str) and position.strip() in ("create", "open")
    return file if isinstance(file, str) and not alone else None


EDIT_FILE = Tool(
    name="edit_file",
    group=ToolGroup.ACTION,
    kind=ToolKind.WRITE,
    params=EditFile,
    run=run,
    together=Together(_file, run_together),
)
