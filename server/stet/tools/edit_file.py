"""`edit_file`: propose a change of an existing file, by quoted text or by line position."""

from typing import Self

from pydantic import Field, model_validator

from stet.review.instruction import BadInstruction, carry, parse, resolve
from stet.review.proposal import Hunk
from stet.text.document import TextDocument
from stet.text.edit import TextEdit
from stet.text.match import Seen, find_block
from stet.text.match_errors import AlreadyApplied, MatchError
from stet.tools.base import Desk, Params, Tool, ToolError, ToolGroup, ToolKind


class EditFile(Params):
    """Propose a change of a file. The user reviews it; nothing is written until they accept.

    Give either `old_text` and `new_text`: `old_text` is copied exactly from the file, without line
    numbers, with enough lines to be unique; or `position` and `content`. Positions: `start`, `end`,
    `after:## Heading`, `insert:N` (before line N), `replace:N`, `replace:N-M`, `delete:N`,
    `delete:N-M`, with the line numbers you were shown; `create` makes a new file of `content`, and
    `open` shows the file to the user.
    Put all changes that touch the same lines into one call. Read the file first.
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
            return f"Proposed {hunk.id}: the new file {params.file}. It waits for the user.\n"
        case "open":
            await desk.open(params.file)
            return f"The user sees {params.file} now.\n"
    live = await desk.live(params.file)
    # Nothing is awaited from here on: what is found in the text is proposed for the same text.
    edit = (
        _by_text(params, live, desk)
        if params.position is None
        else _by_position(params, live, desk)
    )
    if edit is None:
        return f"{params.file} already says so; nothing to do.\n"
    hunks = desk.propose(
        live, params.file, edit, params.summary or _summary(params), position=_position(params)
    )
    if not hunks:
        return f"{params.file} already says so; nothing to do.\n"
    return _told(params.file, hunks)


def _by_text(params: EditFile, live: TextDocument, desk: Desk) -> TextEdit | None:
    assert params.old_text is not None
    assert params.new_text is not None
    shown = desk.was_shown(live.uri)
    seen = Seen(shown.text, desk.changes_since_shown(live)) if shown else None
    try:
        match = find_block(
            live.text, params.old_text, params.new_text, seen, replace_all=params.replace_all
        )
    except AlreadyApplied:
        return None
    except MatchError as error:
        raise ToolError(f"{params.file!r}: {error}") from error
    return match.edit


def _by_position(params: EditFile, live: TextDocument, desk: Desk) -> TextEdit:
    assert params.position is not None
    shown = desk.was_shown(live.uri)
    if shown is None:
        raise ToolError(
            f"You have not been shown {params.file!r}, so its line numbers mean nothing yet. Read "
            "it first, or use old_text and new_text."
        )
    try:
        instruction = parse(params.position)
        if instruction.kind in ("start", "end"):
            return resolve(instruction, params.content, live)
        edit = resolve(instruction, params.content, shown)
        return carry(edit, shown, desk.changes_since_shown(live), live)
    except BadInstruction as error:
        raise ToolError(f"{params.file!r}: {error}") from error


def _position(params: EditFile) -> str:
    """Where, as the model said it: the position, or the first line of what is replaced."""
    return params.position or (params.old_text or "").strip().partition("\n")[0][:80]


def _summary(params: EditFile) -> str:
    what = params.position or "replace text"
    return f"Edit {params.file}: {what}"


def _told(file: str, hunks: tuple[Hunk, ...]) -> str:
    places = ", ".join(
        f"{hunk.id} at line {hunk.range.start.line + 1} ({hunk.kind})" for hunk in hunks
    )
    return (
        f"Proposed {places} in {file}. They wait for the user; the file itself is unchanged, so "
        "its line numbers stay as shown.\n"
    )


EDIT_FILE = Tool(
    name="edit_file", group=ToolGroup.ACTION, kind=ToolKind.WRITE, params=EditFile, run=run
)
