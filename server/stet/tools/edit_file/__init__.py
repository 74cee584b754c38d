"""`edit_file`: propose a change of an existing file, by quoted text or by line position.

The calls of one answer that edit the same file are one edit: what they mean is found in the text
the model was shown, they are checked as a whole, and either all of them are proposed or none, but for
those that a rule refuses. In the last round, when nothing can be sent again, what is valid is proposed.
"""

import asyncio
from collections.abc import Mapping, Sequence

from stet.review.rules import MAX_LINES, MAX_TEXT
from stet.text.document import TextDocument
from stet.text.lines import n_breaks
from stet.tools.base import Together, Tool, ToolGroup, ToolKind
from stet.tools.desk import Desk
from stet.tools.edit_file.batch import Batch, none_of, position_of, told_new
from stet.tools.edit_file.call import EditFile
from stet.tools.edit_file.marks import has_marks, restored
from stet.tools.errors import ToolError
from stet.tools.near_names import with_near_names

__all__ = ["EDIT_FILE", "EditFile", "run", "run_together"]

_TRIES = 3


async def run(params: EditFile, desk: Desk) -> str:
    """What was proposed.

    Raises:
        ToolError: If the place can't be found, or the gate refuses.
    """
    match (params.position or "").strip():
        case "create":
            hunk = await desk.create(params.file, params.content)
            return told_new(params.file, hunk)
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
    """Propose the calls, which edit one file, as one edit.

    A call that could not be read is given as its error.

    Returns:
        For each call what was proposed, or why nothing was.
    """
    read = {n: call for n, call in enumerate(calls) if isinstance(call, EditFile)}
    errors = {n: call for n, call in enumerate(calls) if isinstance(call, ToolError)}
    errors |= {n: _too_large(call) for n, call in read.items() if _is_too_large(call)}
    if errors and not desk.is_last_round:
        return none_of(errors, calls)
    good = {n: call for n, call in read.items() if n not in errors}
    outcomes: dict[int, str | ToolError] = {**errors}
    if good:
        outcomes |= zip(good, await _proposed(desk, list(good.values())), strict=True)
    return tuple(outcomes[n] for n in range(len(calls)))


async def _proposed(desk: Desk, calls: Sequence[EditFile]) -> tuple[str | ToolError, ...]:
    """What came of each call."""
    try:
        batch = await _found(desk, calls)
    except ToolError as error:
        return (error,) * len(calls)
    # Nothing is awaited from here on: what was found in the text is proposed for the same text. Where
    # the user was faster each time, it is looked for here.
    return batch.outcomes()


async def _found(desk: Desk, calls: Sequence[EditFile]) -> Batch:
    """The calls, looked for in the text as it is now.

    Raises:
        ToolError: If there is none that may be edited, or a large one is changed all the time.
    """
    batch = await _batch(desk, calls)
    for _ in range(_TRIES):
        await asyncio.to_thread(batch.find)
        if batch.is_current or batch.carry():
            return batch
        batch = await _batch(desk, calls)
    if batch.is_large:
        raise ToolError(
            f"{calls[0].file!r} is being changed by the user, and too large to follow. Go on with "
            "something else, and try again later."
        )
    return batch


def _is_too_large(call: EditFile) -> bool:
    """Whether it can't be an honest quote: looking for one takes long."""
    texts = (call.old_text or "", call.new_text or "", call.content)
    return any(len(text) > MAX_TEXT or n_breaks(text) > MAX_LINES for text in texts)


def _too_large(call: EditFile) -> ToolError:
    return ToolError(
        f"{call.file!r}: a text of this call has more than {MAX_TEXT:,} characters or {MAX_LINES:,} "
        "lines. Quote less of the file, and change it part by part."
    )


async def _batch(desk: Desk, calls: Sequence[EditFile]) -> Batch:
    """The calls, with the text as it is now.

    Raises:
        ToolError: If there is none that may be edited.
    """
    first = calls[0]
    new = None
    try:
        live = await desk.live(first.file, position=position_of(first))
        text = ""
        if any(map(has_marks, calls)):
            text = f"{live.text}\n{desk.pending_in(live).text}"
    except ToolError as error:
        if (new := desk.pending_file(first.file)) is None:
            raise await with_near_names(error, first.file, desk) from error
        live, text = TextDocument(new.uri, new.new), new.new
    redactor = desk.workspace.redactor
    return Batch(desk, live, [restored(call, text, redactor) for call in calls], new)


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
