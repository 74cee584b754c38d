"""Which hunks a command is about: one, or all that wait of a group, proposal, turn or file."""

from collections.abc import Callable
from dataclasses import dataclass

from stet.lsp.arguments import CommandArguments
from stet.lsp.lsp_errors import ContentModified, InvalidParams, RequestFailed
from stet.lsp.presentation.command_location import resolve_uri
from stet.review.errors import UnknownHunk
from stet.review.ledger import ReviewLedger
from stet.review.proposal import OPEN, Hunk, HunkState
from stet.text.position import Position, Range
from stet.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class HunkSelection:
    """What a command names.

    Attributes:
        hunks: In order of file and place; never empty.
        is_single: Whether one hunk was named as such.
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

    With a document may come a `line`: then only what is shown there is meant.

    Args:
        arguments: Of the command.
        ledger: Of all hunks.
        workspace: Finds a `file`.
        states: What is meant by more than one: those in one of these states.
        also: Tells of the id of another whether it is meant too.

    Raises:
        InvalidParams: If none or several are given, a line without a document, or nothing is there.
        ContentModified: If the hunk is no longer the one with that `hash`.
    """
    names = ("hunk", "group", "proposal", "turn")
    named = {name: value for name in names if (value := arguments.text(name)) is not None}
    wanted_hash = arguments.text("hash")
    if (uri := resolve_uri(arguments, workspace)) is not None:
        named["uri"] = uri
    by_all, line = arguments.flag("all"), arguments.number("line")
    if len(named) + by_all != 1:
        message = f"name exactly one of: {', '.join((*names, 'uri', 'all'))}"
        raise (
            InvalidParams(message)
            if named
            else arguments.missing(message, *names, "uri", "file", "all")
        )
    if line is not None and uri is None:
        raise arguments.missing("a line needs its file: `uri` or `file`", "uri", "file")
    if "hunk" in named:
        hunk = find_hunk(ledger, named["hunk"])
        if wanted_hash not in {None, hunk.hash}:
            raise ContentModified(f"{hunk.id} is no longer what was named; look at it again")
        return HunkSelection((hunk,), is_single=True)
    hunks = tuple(
        hunk
        for hunk in ledger.hunks(uri=uri, turn=named.get("turn"))
        if (hunk.state in states or also(hunk.id))
        and named.get("group") in {None, hunk.group}
        and named.get("proposal") in {None, hunk.proposal}
        and (line is None or hunk.shown_at.touches_lines_of(_line(line)))
    )
    if not hunks:
        what = " or ".join(sorted(states - {HunkState.CONFLICT}))
        named_by = "".join(f" for {value!r}" for value in named.values())
        named_by += "" if line is None else f" in line {line}"
        raise InvalidParams(f"nothing is {what}{named_by}")
    return HunkSelection(hunks, is_single=line is not None and len(hunks) == 1)


def _line(number: int) -> Range:
    """Return the start of a line (1-based), which is where a cursor in the line is."""
    return Range(Position(number - 1, 0), Position(number - 1, 0))


def find_hunk(ledger: ReviewLedger, hunk_id: str) -> Hunk:
    """Return the hunk with that id.

    Raises:
        InvalidParams: If there is none.
    """
    try:
        return ledger.hunk(hunk_id)
    except UnknownHunk as error:
        raise InvalidParams(str(error)) from error


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """How a decision on several hunks went.

    Attributes:
        hunks: Ids of those it holds for.
        refused: Ids of the others, each with the reason.
    """

    hunks: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]

    @property
    def to_json(self) -> dict[str, object]:
        """The same, as commands answer."""
        refused = [{"hunk": hunk, "reason": reason} for hunk, reason in self.refused]
        return {"hunks": list(self.hunks), "refused": refused}


def decide_hunks(
    selection: HunkSelection, decision: Callable[[Hunk], str], what: str
) -> DecisionResult:
    """Try a decision on each hunk; it gives why it can't be, or nothing.

    Raises:
        RequestFailed: If a hunk named alone is refused; `what` says what it can't be.
    """
    done, refused = [], []
    for hunk in selection.hunks:
        if reason := decision(hunk):
            refused.append((hunk.id, reason))
        else:
            done.append(hunk.id)
    if selection.is_single and refused:
        hunk_id, reason = refused[0]
        whole = reason.startswith(f"{hunk_id} ")
        raise RequestFailed(reason if whole else f"{hunk_id} can't be {what}: {reason}")
    return DecisionResult(tuple(done), tuple(refused))
