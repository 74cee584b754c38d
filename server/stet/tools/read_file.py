"""`read_file`: show a file to the model, or some lines of it."""

from collections.abc import Sequence
from itertools import accumulate

from pydantic import Field

from stet.review.resolve.pending_view import PendingView, render_listing
from stet.text.document import TextDocument
from stet.tools.file_reader import pending_file_or_raise
from stet.tools.tool import Params, ShortForm, Tool, ToolContext, ToolError, ToolGroup, ToolKind

MAX_LINES = 1000
MAX_CHARACTERS = 60_000


class ReadFile(Params):
    """Read a text file of the workspace.

    Lines come back numbered from 1. Unsaved changes in the editor are included.
    A long file is cut; the answer then says how to read on. What you have proposed and the user has
    not decided yet stands between the lines, marked with its id instead of a number.
    """

    file: str = Field(description="Path relative to the workspace root, such as `src/app.py`.")
    start_line: int = Field(default=1, ge=1, description="First line to show, from 1.")
    end_line: int | None = Field(default=None, ge=1, description="Last line to show, included.")


async def run(params: ReadFile, ctx: ToolContext) -> str:
    """Return numbered lines, or a note that there are none.

    Raises:
        ToolError: If the file can't be shown or has no such lines.
    """
    head = ""
    try:
        document = await ctx.reader.read(params.file)
        view = ctx.reader.pending_view(document)
    except ToolError as error:
        new = await pending_file_or_raise(error, params.file, ctx.reader)
        document = TextDocument(new.uri, new.new)
        ctx.reader.shown.record(document)
        view = PendingView(document, ())
        head = f"({params.file} does not exist yet: this is your pending proposal {new.id}.)\n"
    if document.n_lines == 0:
        return head + render_listing(view, 0, 0) + f"{params.file} is empty.\n"
    if params.start_line > document.n_lines:
        raise ToolError(
            f"{params.file!r} has {document.n_lines} lines; start_line {params.start_line} is past "
            "the end."
        )
    last = min(params.end_line or document.n_lines, document.n_lines)
    if last < params.start_line:
        raise ToolError(f"end_line {last} is before start_line {params.start_line}.")
    first = params.start_line - 1
    # At most one line more than can be shown, which is quick for a very long text.
    lines = document.lines[first : min(last, first + 1 + MAX_LINES)]
    end = first + _fitting(lines)
    await ctx.reader.learn_around(document, first, end)
    text = head + render_listing(view, first, end)
    if end == first:
        more = f"; read on with start_line={first + 2}" if len(lines) > 1 else ""
        return f"(Line {first + 1} alone is longer than {MAX_CHARACTERS} characters{more}.)\n"
    if end == last:
        return text
    n_more = document.n_lines - end
    return f"{text}(cut: {n_more} more lines; read on with start_line={end + 1})\n"


def _fitting(lines: Sequence[str]) -> int:
    """Return how many of `lines` fit into one answer."""
    sizes = accumulate(map(len, lines[:MAX_LINES]))
    return sum(size <= MAX_CHARACTERS for size in sizes)


READ_FILE = Tool(
    "read_file",
    ToolGroup.WORKSPACE,
    ToolKind.READ,
    ReadFile,
    run,
    short=ShortForm("Read a file. Its lines come back numbered.", ("file",), ("start_line",)),
)
