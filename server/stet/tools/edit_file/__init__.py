"""`edit_file`: propose a change of an existing file, by quoted text or by line position.

The calls of one answer that edit the same file are one edit: they are resolved in the text that the
model was shown, checked as a whole, and proposed all or none, except for calls that a rule refuses.
In the last round, when the model can't send calls again, the valid calls are proposed.

Marks of redacted secrets in the model's text for a file are replaced by the secrets. Only a secret
of the same file is restored, so an edit can keep or move a key that the model has never seen, but
can't copy it to another file. All later steps use the real text, so a quotation with a mark is
matched as leniently as any other.
"""

import asyncio
from collections.abc import Mapping, Sequence

from stet.privacy.redactor import MARK_PREFIX, Redactor, UnknownMark
from stet.review.policy.rules import MAX_LINES, MAX_TEXT
from stet.text.document import TextDocument
from stet.text.lines import n_breaks
from stet.tools.edit_file.edit_batch import EditBatch, EditFile, describe_new, fail_all, position_of
from stet.tools.file_reader import pending_file_or_raise
from stet.tools.tool import (
    BatchHandler,
    ShortForm,
    Tool,
    ToolContext,
    ToolError,
    ToolGroup,
    ToolKind,
)


def has_marks(call: EditFile) -> bool:
    """Return whether a text of the call has something that looks like a mark."""
    return any(MARK_PREFIX in text for text in (call.old_text, call.new_text, call.content) if text)


def restore_secrets(call: EditFile, file: str, redactor: Redactor) -> EditFile:
    """Return the call with the secrets in place of their marks.

    Args:
        call: The model's call.
        file: The texts whose secrets may be restored: the present text, without and with pending
            hunks.
        redactor: The redactor that made the marks.

    Raises:
        ToolError: If a mark represents no secret in this file.
    """
    sent = {"old_text": call.old_text, "new_text": call.new_text, "content": call.content}
    try:
        real = {key: redactor.restore(text, file) for key, text in sent.items() if text is not None}
    except UnknownMark as error:
        raise ToolError(f"{call.file!r}: {error}") from error
    return call.model_copy(update=real)


__all__ = ["EDIT_FILE", "EditFile", "run", "run_batch"]

_MAX_TRIES = 3


async def run(params: EditFile, ctx: ToolContext) -> str:
    """Run the call and return what was proposed.

    Raises:
        ToolError: If the call can't be resolved, or the edit is refused.
    """
    match (params.position or "").strip():
        case "create":
            hunk = await ctx.proposer.create(params.file, params.content)
            return describe_new(params.file, hunk)
        case "open":
            await ctx.proposer.open(params.file)
            return f"The user sees {params.file} now.\n"
    (outcome,) = await run_batch([params], ctx)
    if isinstance(outcome, ToolError):
        raise outcome
    return outcome


async def run_batch(
    calls: Sequence[EditFile | ToolError], ctx: ToolContext
) -> tuple[str | ToolError, ...]:
    """Propose the calls, which edit one file, as one edit.

    An invalid call is given as its error.

    Returns:
        For each call the report on its proposal, or its error.
    """
    read = {n: call for n, call in enumerate(calls) if isinstance(call, EditFile)}
    errors = {n: call for n, call in enumerate(calls) if isinstance(call, ToolError)}
    errors |= {n: _too_large_error(call) for n, call in read.items() if _is_too_large(call)}
    if errors and not ctx.is_last_round:
        return fail_all(errors, calls)
    good = {n: call for n, call in read.items() if n not in errors}
    outcomes: dict[int, str | ToolError] = {**errors}
    if good:
        try:
            batch = await _resolve_batch(ctx, list(good.values()))
        except ToolError as error:
            outcomes |= dict.fromkeys(good, error)
        else:
            # No await from here on: matches found in the text are proposed for the same text.
            outcomes |= zip(good, batch.outcomes(), strict=True)
    return tuple(outcomes[n] for n in range(len(calls)))


async def _resolve_batch(ctx: ToolContext, calls: Sequence[EditFile]) -> EditBatch:
    """Return the calls, resolved against the current text.

    Raises:
        ToolError: If there is no file that may be edited, or a large file changes during every
            attempt.
    """
    batch = await _create_batch(ctx, calls)
    for _ in range(_MAX_TRIES):
        await asyncio.to_thread(batch.inspect_and_resolve)
        if batch.is_current or batch.rebase():
            return batch
        batch = await _create_batch(ctx, calls)
    if batch.is_large:
        raise ToolError(
            f"{calls[0].file!r} is being changed by the user, and too large to follow. Go on with "
            "something else, and try again later."
        )
    # The text changed each time: resolve on the event loop, where it can't change.
    batch.resolve()
    return batch


def _is_too_large(call: EditFile) -> bool:
    """Return whether a text of the call is too long: searching for it would take long."""
    texts = (call.old_text or "", call.new_text or "", call.content)
    return any(len(text) > MAX_TEXT or n_breaks(text) > MAX_LINES for text in texts)


def _too_large_error(call: EditFile) -> ToolError:
    return ToolError(
        f"{call.file!r}: a text of this call has more than {MAX_TEXT:,} characters or {MAX_LINES:,} "
        "lines. Quote less of the file, and change it part by part."
    )


async def _create_batch(ctx: ToolContext, calls: Sequence[EditFile]) -> EditBatch:
    """Return the calls, with the current text.

    Raises:
        ToolError: If there is no file that may be edited.
    """
    first = calls[0]
    new = None
    try:
        document = await ctx.reader.document_to_edit(first.file, position=position_of(first))
        text = ""
        if any(map(has_marks, calls)):
            text = f"{document.text}\n{ctx.reader.pending_view(document).text}"
    except ToolError as error:
        new = await pending_file_or_raise(error, first.file, ctx.reader)
        document, text = TextDocument(new.uri, new.new), new.new
    redactor = ctx.reader.workspace.redactor
    return EditBatch(ctx, document, [restore_secrets(call, text, redactor) for call in calls], new)


def _batched_file(arguments: Mapping[str, object]) -> str | None:
    """Return the file whose text a call changes, by the arguments of the call."""
    file, position = arguments.get("file"), arguments.get("position")
    alone = isinstance(position, str) and position.strip() in ("create", "open")
    return file if isinstance(file, str) and not alone else None


_BATCHES = BatchHandler(_batched_file, run_batch)
EDIT_FILE = Tool(
    "edit_file",
    ToolGroup.ACTION,
    ToolKind.WRITE,
    EditFile,
    run,
    _BATCHES,
    short=ShortForm(
        "Propose a change of a file: `old_text`, copied exactly from the file, becomes `new_text`.",
        ("file", "old_text", "new_text"),
    ),
)
