"""The target of a command: a location in a document, or hunks.

`resolve_location` reads `uri` or `file` with `range` or lines; without them, it returns the user's
location. `select_hunks` reads `hunk`, `group`, `proposal`, `turn`, a document or `all`.
`decide_hunks` tries a decision on each selected hunk, and `decide_in_pieces` on very many.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stet.context.context_builder import EditorLocation
from stet.lsp.arguments import CommandArguments
from stet.lsp.lsp_errors import ContentModified, InvalidParams, RequestFailed, report_as
from stet.lsp.presentation.diff_documents import DiffDocuments
from stet.review.errors import ReviewError, UnknownHunk
from stet.review.ledger import ReviewLedger
from stet.review.proposal import OPEN, Hunk, HunkState
from stet.text.document import TextDocument
from stet.text.encoding import column_from_units
from stet.text.position import Position, Range
from stet.workspace.activity import ActivitySource
from stet.workspace.paths import PathRefused
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.workspace import Workspace


def resolve_uri(arguments: CommandArguments, workspace: Workspace) -> str | None:
    """Return the document that `uri` or `file` names, or None if neither is given.

    Raises:
        InvalidParams: If the file is outside the workspace.
    """
    uri, file = arguments.text("uri"), arguments.text("file")
    if uri is not None and file is not None:
        raise InvalidParams("use either `uri` or `file`, not both")
    if file is None:
        return uri
    with report_as(InvalidParams, PathRefused):
        return workspace.snapshot().locate(file).uri


def resolve_location(
    arguments: CommandArguments, workspace: Workspace, diff_documents: DiffDocuments | None = None
) -> EditorLocation:
    """Return the location of a question; by default the active file and its selection.

    Args:
        arguments: `uri` or `file`, and `range` or lines.
        workspace: The workspace, with the user's location.
        diff_documents: If given, a location in one of these diff documents, also the user's
            location, means the location that the document shows there.

    Raises:
        InvalidParams: If the location does not exist: no such file, or a line after its end.
    """
    opened = None if diff_documents is None else _open_diff_document(arguments, diff_documents)
    uri = resolve_uri(arguments, workspace) if opened is None else None
    wire = arguments.mapping("range")
    lines = [arguments.number(name) for name in ("from", "to", "line")]
    if diff_documents is not None and opened is not None:
        shown = diff_documents.location_at(
            opened.uri, _range_argument(wire, lines, opened, workspace)
        )
        return _shown_location(shown, workspace)
    if uri is None and not (wire or any(lines)):
        return _shown_location(
            diff_documents.location_at_cursor() if diff_documents else None, workspace
        )
    if uri is None and (uri := workspace.snapshot().activity.active) is None:
        message = "a position needs its file: `uri` or `file`"
        raise arguments.missing(message, "uri", "file")
    document = open_document(uri, workspace)
    wanted_range = _range_argument(wire, lines, document, workspace)
    if wanted_range is None:
        return _selected_location(document, workspace)
    return _location_at(document, wanted_range, workspace)


def open_document(uri: str, workspace: Workspace) -> TextDocument:
    """Return the document of a file, open or not.

    Raises:
        InvalidParams: If the file does not exist or may not be read.
    """
    if (document := workspace.document(uri)) is not None:
        return document
    return stored_document(uri, workspace.snapshot())


def stored_document(uri: str, snapshot: Snapshot) -> TextDocument:
    """Return the document of a file that is not open. Block on the disk.

    Raises:
        InvalidParams: If the file does not exist or may not be read.
    """
    with report_as(InvalidParams, NotShown):
        return snapshot.asked_about(uri).document_with_blocks(uri)


def _open_diff_document(
    arguments: CommandArguments, diff_documents: DiffDocuments
) -> TextDocument | None:
    """Return the open diff document that the arguments name, or None."""
    uri, file = arguments.text("uri"), arguments.text("file")
    if uri is None and file is not None and Path(file).is_absolute():
        uri = Path(file).as_uri()
    return None if uri is None else diff_documents.open_document(uri)


def _selected_location(document: TextDocument, workspace: Workspace) -> EditorLocation:
    """Return the location of all selections in a document, with the caret."""
    selection = workspace.snapshot().activity.selection_of(document.uri)
    if selection is None:
        return EditorLocation(document.uri, None)
    return EditorLocation(document.uri, selection.ranges[0], selection.caret, selection.ranges)


def _location_at(document: TextDocument, range_: Range, workspace: Workspace) -> EditorLocation:
    """Return the location of a range, with the caret if the editor has reported it in the range."""
    selection = workspace.snapshot().activity.selection_of(document.uri)
    if selection is None or selection.source is not ActivitySource.NOTIFIED:
        return EditorLocation(document.uri, range_)
    is_in = range_ == selection.ranges[0] or range_.start <= selection.cursor < range_.end
    return EditorLocation(document.uri, range_, selection.cursor if is_in else None)


def _shown_location(shown: tuple[str, Range] | None, workspace: Workspace) -> EditorLocation:
    """Return the location that a diff document shows, clamped to the file. If there is none, or the
    file can't be read, return the active file and its selections.
    """
    if shown is not None:
        uri, stretch = shown
        with suppress(InvalidParams):
            document = open_document(uri, workspace)
            start, end = document.clamp(stretch.start), document.clamp(stretch.end)
            return EditorLocation(document.uri, Range(start, end))
    if (active := workspace.snapshot().activity.active) is None:
        return EditorLocation(None, None)
    return _selected_location(open_document(active, workspace), workspace)


def _range_argument(
    wire: Mapping[str, object] | None,
    lines: Sequence[int | None],
    document: TextDocument,
    workspace: Workspace,
) -> Range | None:
    """Return the range given with a document, if any; `lines` are `from`, `to` and `line`."""
    if wire is not None:
        return _range(wire, document, workspace)
    first, last, line = lines
    if not any(lines):
        return None
    return _lines(first or line or last or 1, last or first or line or 1, document)


def _lines(first: int, last: int, document: TextDocument) -> Range:
    """Return the range of whole lines from `first` to `last` (1-based, inclusive)."""
    first, last = min(first, last), max(first, last)
    if last > max(document.n_lines, 1):
        raise InvalidParams(f"line {last} is past the end: the file has {document.n_lines} lines")
    end = document.clamp(Position(last, 0))
    return Range(Position(first - 1, 0), end)


def _range(wire: Mapping[str, object], document: TextDocument, workspace: Workspace) -> Range:
    start, end = (_position(wire.get(name), document, workspace) for name in ("start", "end"))
    return Range(min(start, end), max(start, end))


def _position(value: object, document: TextDocument, workspace: Workspace) -> Position:
    line = value.get("line") if isinstance(value, Mapping) else None
    units = value.get("character") if isinstance(value, Mapping) else None
    if not (type(line) is int and type(units) is int and line >= 0 and units >= 0):
        raise InvalidParams(
            "`range` must be an LSP range: start and end, each with a 0-based line and character"
        )
    if line > max(document.n_lines, len(document.lines)):
        raise InvalidParams(
            f"line {line} of `range` is past the end: the file has {document.n_lines} lines"
        )
    if line >= len(document.lines):
        return document.end
    return Position(line, column_from_units(document.lines[line], units, workspace.encoding))


@dataclass(frozen=True, slots=True)
class HunkSelection:
    """The hunks that a command names.

    Attributes:
        hunks: The hunks, in order of file and place; never empty.
        is_single: Whether the command named exactly one hunk, by its id or by its line.
    """

    hunks: tuple[Hunk, ...]
    is_single: bool = False


def select_hunks(
    arguments: CommandArguments,
    ledger: ReviewLedger,
    workspace: Workspace,
    states: frozenset[HunkState] = OPEN,
    also: Callable[[str], bool] = lambda _: False,
) -> HunkSelection:
    """Return the hunks that `hunk`, `group`, `proposal`, `turn`, `uri` (or `file`) or `all` name.

    With a document and a `line`, only the hunks that are shown at the line are selected, or else
    the insertion at the line.

    Args:
        arguments: The arguments of the command.
        ledger: The ledger of all hunks.
        workspace: The workspace, which resolves a `file`.
        states: If several hunks are named, only hunks in one of these states are selected.
        also: A function that returns whether to select a hunk (by its id) in another state too.

    Raises:
        InvalidParams: If no or several names are given, a line without a document, or no hunk
            matches.
        ContentModified: If the hunk no longer has the `hash`.
    """
    names = ("hunk", "group", "proposal", "turn")
    named = {name: value for name in names if (value := arguments.text(name)) is not None}
    wanted_hash = arguments.text("hash")
    if (uri := resolve_uri(arguments, workspace)) is not None:
        named["uri"] = uri
    by_all, line = arguments.flag("all"), arguments.number("line")
    if len(named) + by_all != 1:
        message = f"specify exactly one of: {', '.join((*names, 'uri', 'all'))}"
        if named:
            raise InvalidParams(message)
        raise arguments.missing(message, *names, "uri", "file", "all")
    if line is not None and uri is None:
        raise arguments.missing("a line needs its file: `uri` or `file`", "uri", "file")
    if "hunk" in named:
        hunk = find_hunk(ledger, named["hunk"])
        if wanted_hash not in {None, hunk.hash}:
            raise ContentModified(f"{hunk.id} has changed since you selected it; review it again")
        return HunkSelection((hunk,), is_single=True)
    found = (
        hunk
        for hunk in ledger.hunks(uri=uri, turn=named.get("turn"))
        if (hunk.state in states or also(hunk.id))
        and named.get("group") in {None, hunk.group}
        and named.get("proposal") in {None, hunk.proposal}
    )
    hunks = tuple(found) if line is None else _at_line(tuple(found), line)
    if not hunks:
        what = " or ".join(sorted(states - {HunkState.CONFLICT}))
        named_by = "".join(f" for {value!r}" for value in named.values())
        named_by += "" if line is None else f" on line {line}"
        raise InvalidParams(f"no {what} hunks{named_by}")
    return HunkSelection(hunks, is_single=line is not None and len(hunks) == 1)


def _at_line(hunks: Sequence[Hunk], number: int) -> tuple[Hunk, ...]:
    """Return the hunks that are shown at a line (1-based), or else the insertion there."""
    line = Range(Position(number - 1, 0), Position(number - 1, 0))
    found = [hunk for hunk in hunks if hunk.is_on_lines_of(line)]
    return tuple(hunk for hunk in found if hunk.shown_at.touches_lines_of(line)) or tuple(found)


def find_hunk(ledger: ReviewLedger, hunk_id: str) -> Hunk:
    """Return the hunk with this id.

    Raises:
        InvalidParams: If there is no such hunk.
    """
    with report_as(InvalidParams, UnknownHunk):
        return ledger.hunk(hunk_id)


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """The result of a decision on several hunks.

    Attributes:
        hunks: The ids of the decided hunks.
        refused: The ids of the other hunks, each with the reason.
    """

    hunks: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]

    @property
    def to_json(self) -> dict[str, object]:
        """Return the result in the form of command answers."""
        refused = [{"hunk": hunk, "reason": reason} for hunk, reason in self.refused]
        return {"hunks": list(self.hunks), "refused": refused}


PIECE = 200
"""The most hunks that are decided before other messages are handled."""


def decide_in_pieces(
    selection: HunkSelection,
    decision: Callable[[Hunk], str],
    what: str,
    ledger: ReviewLedger,
    then: Callable[[DecisionResult], object] = lambda _: None,
) -> dict[str, object] | Coroutine[object, object, dict[str, object]]:
    """Try a decision on each hunk, persist the results and return them.

    More than `PIECE` hunks are decided by the returned coroutine, which lets the event loop handle
    other messages between two pieces. A hunk that such a message has changed is decided as it then
    is.

    Args:
        selection: The hunks.
        decision: The decision, as for `decide_hunks`.
        what: The participle of the action, for the error message.
        ledger: The ledger of the hunks.
        then: A function that is called with the result.

    Raises:
        RequestFailed: If a hunk that was named alone is refused.
    """

    def decide(hunks: Sequence[Hunk]) -> DecisionResult:
        with ledger.batch():
            piece = HunkSelection(tuple(hunks), is_single=selection.is_single)
            decided = decide_hunks(piece, decision, what)
        then(decided)
        return decided

    async def decide_all() -> dict[str, object]:
        done: list[str] = []
        refused: list[tuple[str, str]] = []
        for start in range(0, len(selection.hunks), PIECE):
            piece = selection.hunks[start : start + PIECE]
            decided = decide([ledger.hunk(hunk.id) for hunk in piece])
            done += decided.hunks
            refused += decided.refused
            await asyncio.sleep(0)
        return DecisionResult(tuple(done), tuple(refused)).to_json

    return decide_all() if len(selection.hunks) > PIECE else decide(selection.hunks).to_json


def decide_hunks(
    selection: HunkSelection, decision: Callable[[Hunk], str], what: str
) -> DecisionResult:
    """Try a decision on each hunk.

    Args:
        selection: The hunks.
        decision: A function that decides on a hunk, and returns the reason if it can't, else an
            empty text. It may raise the reason as a `ReviewError`.
        what: The participle of the action, for the error message.

    Raises:
        RequestFailed: If a hunk that was named alone is refused.
    """
    done, refused = [], []
    for hunk in selection.hunks:
        try:
            reason = decision(hunk)
        except ReviewError as error:
            reason = str(error)
        if reason:
            refused.append((hunk.id, reason))
        else:
            done.append(hunk.id)
    if selection.is_single and refused:
        hunk_id, reason = refused[0]
        whole = reason.startswith(f"{hunk_id} ")
        raise RequestFailed(reason if whole else f"{hunk_id} can't be {what}: {reason}")
    return DecisionResult(tuple(done), tuple(refused))
