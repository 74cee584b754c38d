"""`copy_files`: collect the contents of files in one document, for the user to copy."""

import asyncio
from collections.abc import Sequence

from pydantic import Field

from stet.text.escape import escape_line
from stet.text.render import fence_for
from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind
from stet.workspace.names import is_absolute, last_part
from stet.workspace.paths import PathRefused
from stet.workspace.snapshot import NotShown, Snapshot

MAX_FILES = 200
MAX_CHARACTERS = 2_000_000
"""The most characters of all files together, which an editor must open."""


class CopyFiles(Params):
    """Gather the contents of files in one document, which the user is shown, ready to copy.

    Unsaved text is included. You are not shown the contents: read what you need with `read_file`.
    """

    files: list[str] = Field(
        min_length=1, max_length=MAX_FILES, description="Paths relative to the workspace root."
    )


async def run(params: CopyFiles, ctx: ToolContext) -> str:
    """Collect the files and return which files were collected and which were not.

    Raises:
        ToolError: If there is no text, too much text, or the document can't be written.
    """
    texts, refused = await asyncio.to_thread(_gather, ctx.reader.snapshot(), params.files)
    left_out = "".join(f"Left out: {reason}\n" for reason in refused)
    if not texts:
        raise ToolError(f"None of these files can be copied. `list_files` gives names.\n{left_out}")
    size = sum(map(len, texts.values()))
    if size > MAX_CHARACTERS:
        raise ToolError(
            f"These files have {size:,} characters; the maximum is {MAX_CHARACTERS:,}. Name fewer."
        )
    try:
        # The fence of each text is longer than any fence in the text.
        sections = (_section(name, text) for name, text in texts.items())
        await ctx.editor.show_document("copied", "\n".join(sections))
    except OSError as error:
        raise ToolError(f"The document can't be written: {error.strerror}.") from error
    ctx.reader.report.copied += [name for name in texts if name not in ctx.reader.report.copied]
    listed = "".join(f"{name}\n" for name in texts)
    plural = "s" if len(texts) > 1 else ""
    return f"Shown to the user, {len(texts)} file{plural}, {size} characters:\n{listed}{left_out}"


def _gather(snapshot: Snapshot, names: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the texts that may be shown, by name, and the reasons against the other files.

    Blocks on the disk.
    """
    texts: dict[str, str] = {}
    refused = []
    for name in dict.fromkeys(names):
        try:
            located = snapshot.locate(name)
            texts.setdefault(located.name, snapshot.show(located.uri).text)
        except (PathRefused, NotShown) as refusal:
            problems = last_part(name) if is_absolute(name) else name
            refused.append(str(refusal).replace(name, problems))
    return texts, refused


def _section(name: str, text: str) -> str:
    fence = fence_for(text)
    _, dot, ending = name.rpartition("/")[2].rpartition(".")
    language = ending if dot and ending.isalnum() else ""
    end = "" if not text or text.endswith(("\n", "\r")) else "\n"
    return f"## {escape_line(name)}\n\n{fence}{language}\n{text}{end}{fence}\n"


COPY_FILES = Tool("copy_files", ToolGroup.ACTION, ToolKind.READ, CopyFiles, run)
