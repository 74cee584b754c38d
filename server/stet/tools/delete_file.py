"""`delete_file`: propose that a file goes to the trash."""

import asyncio

from pydantic import Field

from stet.review.drafts import RemoveDraft
from stet.tools.base import Params, Tool, ToolGroup, ToolKind
from stet.tools.desk import Desk
from stet.tools.errors import ToolError
from stet.workspace.snapshot import NO_TEXT, NotShown, Snapshot


class DeleteFile(Params):
    """Propose that a file is deleted. The user is asked; then it goes to a trash folder."""

    file: str = Field(description="Path relative to the workspace root.")
    reason: str = Field(default="", description="One line for the user: why.")


async def run(params: DeleteFile, desk: Desk) -> str:
    """What was proposed.

    Raises:
        ToolError: If there is no such file, or it may not be deleted.
    """
    located = desk.locate_to_write(params.file, "delete")
    if located.path is None:
        raise ToolError(f"{params.file!r} has no place on the disk: there is nothing to delete.")
    text = await asyncio.to_thread(_text, desk.snapshot(), located.uri)
    why = " ".join(params.reason.split())
    draft = RemoveDraft(
        turn=desk.turn,
        chat=desk.chat,
        author=desk.author,
        uri=located.uri,
        name=located.name,
        text=text,
        summary=f"Delete {located.name}: {why}" if why else f"Delete {located.name}",
    )
    with desk.refusing(located.name, "delete"):
        hunk = desk.ledger.propose_remove(draft, desk.rules)
    return f"Proposed {hunk.id}: {located.name} goes to the trash. It waits for the user.\n"


def _text(snapshot: Snapshot, uri: str) -> str:
    """What the file holds, for the user to see; nothing where that is no text.

    Raises:
        ToolError: If there is none, or it may not be looked at.
    """
    try:
        return snapshot.show(uri).text
    except NotShown as refused:
        if refused.rule in NO_TEXT:
            return ""
        raise ToolError(str(refused)) from refused


DELETE_FILE = Tool(
    name="delete_file", group=ToolGroup.ADVANCED, kind=ToolKind.WRITE, params=DeleteFile, run=run
)
