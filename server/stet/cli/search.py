"""`stet search`: a question to the search index, through a real session, as an editor asks it."""

import asyncio
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from stet.cli.index import IndexSession
from stet.cli.terminal import CliError, Terminal
from stet.lsp.headless.headless_client import CommandFailed, ServerFailed
from stet.text.escape import escape, escape_line

INDENT = "    "
INVALID = -32602
"""JSON-RPC's code for arguments that are wrong."""

Hit = Mapping[str, Any]
"""One entry of the answer of `stet.search`."""
Named = tuple[str, Hit]
"""What a file is called, and what was found in it."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for, where, and how it is shown."""

    text: str
    root: Path
    folder: str = ""
    limit: int = 20
    as_json: bool = False


def run(question: Question) -> int:
    """Search and show what is found; 1 if nothing is.

    Raises:
        CliError: If it can't be done, with a sentence that says why.
    """
    session = IndexSession(question.root, Terminal(), [])
    try:
        hits = asyncio.run(_found(session, question))
    except CommandFailed as error:
        raise CliError(str(error), code=2 if error.code == INVALID else 1) from error
    except ServerFailed as error:
        raise CliError(str(error)) from error
    session.show_warnings()
    if question.as_json:
        session.terminal.out.file.write(f"{json.dumps([hit for _, hit in hits])}\n")
    else:
        _show(session.terminal, question, hits)
    return int(not hits)


async def _found(session: IndexSession, question: Question) -> Sequence[Named]:
    client = session.client()
    async with client.session(question.root):
        await session.ready(client)
        arguments = {"query": question.text, "limit": question.limit, "folder": question.folder}
        hits: list[Hit] = await client.command("stet.search", arguments)
        return [(client.documents.name(hit["uri"], question.root), hit) for hit in hits]


def _show(terminal: Terminal, question: Question, hits: Sequence[Named]) -> None:
    if not hits:
        where = f" below {question.folder!r}" if question.folder else ""
        terminal.say(f"Nothing is found for {question.text!r}{where}.")
    for name, hit in hits:
        place = f"{escape_line(name)}:{hit['range']['start']['line'] + 1}"
        title = f"  {escape_line(hit['title'])}" if hit["title"] else ""
        terminal.show(Text.assemble((place, "bold"), title))
        excerpt = textwrap.dedent(escape(hit["excerpt"]))
        terminal.show(Text(textwrap.indent(excerpt, INDENT)))
        if hit["why"]:
            terminal.show(Text(f"{INDENT}{escape_line(hit['why'])}", "dim"))
