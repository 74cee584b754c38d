"""`stet index` and `stet search`: build and query the search index in a session of their own, as an editor does."""

import asyncio
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from stet.cli.terminal import CliError, Terminal
from stet.lsp.headless.headless_client import (
    CommandFailed,
    Event,
    HeadlessClient,
    MessageShown,
    ServerFailed,
)
from stet.system.system import System
from stet.text.escape import escape, escape_line

LOOK_SECONDS = 0.1
"""Between two looks at how far it is."""
BUILDING = frozenset({"starting", "building"})


@dataclass(slots=True)
class IndexSession:
    """One run of a command that needs the index.

    Attributes:
        root: The workspace folder.
        terminal: Where progress is shown.
        warnings: What the server had to say.
    """

    root: Path
    terminal: Terminal
    warnings: list[str]

    def client(self) -> HeadlessClient:
        """Return an editor client without a screen, for the session."""
        return HeadlessClient(System(), on_event=self._event)

    async def wait_ready(
        self, client: HeadlessClient, *, rebuild: bool = False
    ) -> Mapping[str, Any]:
        """Wait until the index is up to the files; the part `index` of `stet.status` then.

        Raises:
            CommandFailed: If there is nothing to index.
            ServerFailed: If the server goes away.
        """
        await client.command("stet.reindex", {"rebuild": rebuild})
        with self.terminal.counting("indexing") as show:
            while True:
                status = await client.command("stet.status")
                index: Mapping[str, Any] = status["index"]
                if index["state"] not in BUILDING:
                    return index
                show(index["files"], index["total"])
                await asyncio.sleep(LOOK_SECONDS)

    def show_warnings(self) -> None:
        """Say what the server had to say, once."""
        for warning in dict.fromkeys(self.warnings):
            self.terminal.say(warning, "yellow")

    def _event(self, event: Event) -> None:
        if isinstance(event, MessageShown) and event.kind in ("error", "warning"):
            self.warnings.append(event.message)


def run_index(root: Path, *, rebuild: bool) -> int:
    """Do it and show what there is; 1 if there is no index.

    Raises:
        CliError: If it can't be done, with a sentence that says why.
    """
    session = IndexSession(root, Terminal(), [])
    try:
        index = asyncio.run(_indexed(session, rebuild=rebuild))
    except (ServerFailed, CommandFailed) as error:
        raise CliError(str(error)) from error
    session.show_warnings()
    if index["state"] != "ready":
        raise CliError(f"there is no search index: {index['message'] or index['state']}")
    counted = f"{index['files']:,} files, {index['chunks']:,} passages"
    session.terminal.show(f"{root}: {counted}")
    return 0


async def _indexed(session: IndexSession, *, rebuild: bool) -> Mapping[str, Any]:
    client = session.client()
    async with client.session(session.root):
        return await session.wait_ready(client, rebuild=rebuild)


INDENT = "    "
INVALID = -32602
"""JSON-RPC's code for arguments that are wrong."""

Hit = Mapping[str, Any]
"""One entry of the answer of `stet.search`."""
NamedHit = tuple[str, Hit]
"""The name of a file, and a hit in it."""


@dataclass(frozen=True, slots=True)
class CliSearch:
    """What is looked for, where, and how it is shown."""

    text: str
    root: Path
    folder: str = ""
    limit: int = 20
    as_json: bool = False


def run_search(request: CliSearch) -> int:
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
