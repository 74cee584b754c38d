"""`stet search`: a question to the search index, through a real session, as an editor asks it."""

import asyncio
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from stet.cli.index_command import IndexSession
from stet.cli.terminal import CliError, Terminal
from stet.lsp.headless.headless_client import CommandFailed, ServerFailed
from stet.text.escape import escape, escape_line

INDENT = "    "
INVALID = -32602
"""JSON-RPC's code for arguments that are wrong."""

Hit = Mapping[str, Any]
"""One entry of the answer of `stet.search`."""
NamedHit = tuple[str, Hit]
"""What a file is called, and what was found in it."""


@dataclass(frozen=True, slots=True)
class CliSearch:
    """What is looked for, where, and how it is shown."""

    text: str
    root: Path
    folder: str = ""
    limit: int = 20
    as_json: bool = False


def run(request: CliSearch) -> int:
    """Search and show what is found; 1 if nothing is.

    Raises:
        CliError: If it can't be done, with a sentence that says why.
    """
    session = IndexSession(request.root, Terminal(), [])
    try:
        hits = asyncio.run(_search(session, request))
    except CommandFailed as error:
        raise CliError(str(error), code=2 if error.code == INVALID else 1) from error
    except ServerFailed as error:
        raise CliError(str(error)) from error
    session.show_warnings()
    if request.as_json:
        session.terminal.out.file.write(f"{json.dumps([hit for _, hit in hits])}\n")
    else:
        _show(session.terminal, request, hits)
    return int(not hits)


async def _search(session: IndexSession, request: CliSearch) -> Sequence[NamedHit]:
    client = session.client()
    async with client.session(request.root):
        await session.wait_ready(client)
        arguments = {"query": request.text, "limit": request.limit, "folder": request.folder}
        hits: list[Hit] = await client.command("stet.search", arguments)
        return [(client.documents.name(hit["uri"], request.root), hit) for hit in hits]


def _show(terminal: Terminal, request: CliSearch, hits: Sequence[NamedHit]) -> None:
    if not hits:
        where = f" below {request.folder!r}" if request.folder else ""
        terminal.say(f"Nothing is found for {request.text!r}{where}.")
    for name, hit in hits:
        place = f"{escape_line(name)}:{hit['range']['start']['line'] + 1}"
        title = f"  {escape_line(hit['title'])}" if hit["title"] else ""
        terminal.show(Text.assemble((place, "bold"), title))
        excerpt = textwrap.dedent(escape(hit["excerpt"]))
        terminal.show(Text(textwrap.indent(excerpt, INDENT)))
        if hit["why"]:
            terminal.show(Text(f"{INDENT}{escape_line(hit['why'])}", "dim"))
