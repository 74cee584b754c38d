"""`delete_file`: ask the user whether to delete a file, and move the file to the trash."""

import asyncio

from pydantic import Field

from stet.review.policy.authorization import authorize
from stet.review.proposal import RemoveDraft
from stet.review.resolve.prepared_edit import prepare_draft
from stet.tools.tool import Params, Tool, ToolContext, ToolGroup, ToolKind
from stet.tools.tool_errors import ToolError, UserDeclined
from stet.workspace.snapshot import NO_TEXT, NotShown, Snapshot

DELETE = "Delete"
KEEP = "Keep"
MAX_REASON = 300
"""The most characters of a reason that are shown to the user."""


class DeleteFile(Params):
    """Delete a file. The user is asked first; on their yes it goes to a trash folder at once."""

    file: str = Field(description="Path relative to the workspace root.")
    reason: str = Field(default="", description="One line for the user: why.")


async def run(params: DeleteFile, ctx: ToolContext) -> str:
    """Delete the file after the user's approval and return the outcome.

    Raises:
        UserDeclined: If the user keeps the file.
        ToolError: If there is no such file, it may not be deleted, or there is no user to ask.
    """
    draft = await _draft(params, ctx)
    rules = await ctx.proposer.inspect_rules(draft.uri)
    with ctx.proposer.reporting_refusals(draft.name, "delete"):
        # Check this first: the user must not be asked about a deletion that a rule refuses.
        caution = authorize(draft, rules).caution
    named = ctx.proposer.untrusted.explain_source((draft.name,), ctx.proposer.user_words)
    cautions = " ".join(each for each in (caution, named) if each)
    question = _question(draft.name, _reason_line(params), cautions)
    if await ctx.ask_user("delete", question, (DELETE, KEEP)) != DELETE:
        raise UserDeclined(f"The user keeps {draft.name}. Go on without it, and do not ask again.")
    # The answer may have taken hours: read the file again.
    rules = await ctx.proposer.inspect_rules(draft.uri)
    draft = await _draft(params, ctx)
    with ctx.proposer.reporting_refusals(draft.name, "delete"):
        hunk = ctx.reader.ledger.propose(prepare_draft(draft, rules))[0]
    if problem := await ctx.editor.accept_hunk(hunk.id):
        return (
            f"The user says yes, but {draft.name} is not deleted yet: {problem} It waits for the "
            f"user as {hunk.id}.\n"
        )
    return f"The user says yes: {draft.name} is in the trash ({hunk.id}); they can restore it.\n"


async def _draft(params: DeleteFile, ctx: ToolContext) -> RemoveDraft:
    """Return the draft that removes the present file.

    Raises:
        ToolError: If there is no file, or it may not be read.
    """
    located = ctx.reader.locate_to_write(params.file, "delete")
    if located.path is None:
        raise ToolError(f"{params.file!r} is not on disk: there is nothing to delete.")
    text = await asyncio.to_thread(_file_text, ctx.reader.snapshot(), located.uri)
    name, why = located.name, _reason_line(params)
    summary = f"Delete {name}: {why}" if why else f"Delete {name}"
    origin = ctx.reader.turn.origin
    return RemoveDraft(**origin, uri=located.uri, name=name, text=text, summary=summary)


def _reason_line(params: DeleteFile) -> str:
    """Return the reason, on one line."""
    return " ".join(params.reason.split())[:MAX_REASON]


def _question(name: str, why: str, caution: str) -> str:
    question = f"Delete {name}? {why}".rstrip()
    text = f"{question}\nIt moves to Stet's trash; undo with `stet.undo`."
    return f"{text}\nCaution: {caution}" if caution else text


def _file_text(snapshot: Snapshot, uri: str) -> str:
    """Return the text of the file for display to the user; "" if it is not text.

    Raises:
        ToolError: If there is no file, or it may not be read.
    """
    try:
        return snapshot.show(uri).text
    except NotShown as refused:
        if refused.rule in NO_TEXT:
            return ""
        raise ToolError(str(refused)) from refused


DELETE_FILE = Tool("delete_file", ToolGroup.ADVANCED, ToolKind.WRITE, DeleteFile, run)
