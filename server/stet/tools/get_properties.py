"""`get_properties`: the YAML front matter of a note."""

import asyncio
import json

from pydantic import Field

from stet.notes.note_properties import InvalidYaml, read_properties
from stet.text.document import NOTES, TextDocument, ending_of
from stet.text.escape import escape_line
from stet.text.render import join_bounded
from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind

_BARE = frozenset({"int", "float", "bool", "timestamp"})


class GetProperties(Params):
    """Show the properties of a note: the YAML front matter at its top, as JSON values.

    `update_properties` changes them.
    """

    file: str = Field(description="Path relative to the workspace root.")


async def run(params: GetProperties, ctx: ToolContext) -> str:
    """Return one property per line.

    Raises:
        ToolError: If there is no such note or its front matter can't be read.
    """
    document = await ctx.reader.read(params.file)
    lines = await asyncio.to_thread(_lines, params.file, document)
    if not lines:
        return f"{escape_line(params.file)} has no properties. `update_properties` can set some.\n"
    return join_bounded(lines, f"`read_file` shows the text of {params.file!r}")


def _lines(file: str, document: TextDocument) -> list[str]:
    try:
        found = read_properties(document.text)
    except InvalidYaml as error:
        raise ToolError(f"{file!r}, {error} `read_file` shows the text.") from error
    if not found and not document.is_markdown and ending_of(file) not in NOTES:
        raise ToolError(f"{file!r} is not a Markdown note and has no front matter: `read_file` it.")
    return [escape_line(f"{name}: {_to_json(value)}") for name, value in found.items()]


def _to_json(value: object) -> str:
    """Return a value as JSON; dates and numbers stay as written."""
    if isinstance(value, list):
        return f"[{', '.join(map(_to_json, value))}]"
    if isinstance(value, dict):
        items = (f"{_quoted(name)}: {_to_json(each)}" for name, each in value.items())
        return f"{{{', '.join(items)}}}"
    assert isinstance(value, tuple)  # nothing else comes from `read_properties`
    kind, written = value
    if kind == "null":
        return "null"
    return str(written) if kind in _BARE else _quoted(written)


def _quoted(text: object) -> str:
    return json.dumps(str(text), ensure_ascii=False)


GET_PROPERTIES = Tool("get_properties", ToolGroup.WORKSPACE, ToolKind.READ, GetProperties, run)
