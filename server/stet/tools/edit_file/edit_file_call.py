"""What a model sends to `edit_file`."""

from typing import Self

from pydantic import Field, model_validator

from stet.tools.tool import Params


class EditFile(Params):
    """Propose a change of a file. The user reviews it; nothing is written until they accept.

    Give either `old_text` and `new_text`: `old_text` is copied exactly from the file, without line
    numbers, with enough lines to be unique; or `position` and `content`. Positions: `start`, `end`,
    `after:## Heading`, `insert:N` (before line N), `replace:N`, `replace:N-M`, `delete:N`,
    `delete:N-M`, with the line numbers you were shown; `create` makes a new file of `content`, and
    `open` shows the file to the user.
    Put all changes that touch the same lines into one call. Read the file first.
    Several calls for one file in one answer count as one edit: all of them are proposed or none, but
    for those that a rule refuses.
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
