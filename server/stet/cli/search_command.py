"""`stet index` and `stet search`: build and query the search index without an editor."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
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
from stet.search.word_stems import PART, query_stems, stem
from stet.system.system import System
from stet.text.escape import escape, escape_line

LOOK_SECONDS = 0.1
"""Seconds between two requests for the progress."""
BUILDING = frozenset({"starting", "building"})


INDENT = "    "
_WORDS = re.compile(r"[^\W_]+")
INVALID = -32602
"""The JSON-RPC error code for invalid parameters."""

Hit = Mapping[str, Any]
"""One result of `stet.search`."""
NamedHit = tuple[str, Hit]
"""The name of a file, and a hit in the file."""


def run_index(root: Path, *, rebuild: bool) -> int:
    """Update the index, show its size and return the exit code.

    Raises:
        CliError: If there is no index; the message gives the reason.
    """
    terminal = Terminal()
    index, _ = _run_session(root, terminal, rebuild=rebuild)
    if index["state"] != "ready":
        raise CliError(f"there is no search index: {index['message'] or index['state']}")
    size = f"{index['files']:,} files, {index['chunks']:,} passages"
    terminal.show(f"{root}: {size}")
    return 0


def run_search(query: str, root: Path, folder: str, limit: int, *, as_json: bool) -> int:
    """Search and show the hits; return 1 if there are none.

    Args:
        query: The words to search for.
        root: The workspace folder.
        folder: The folder, relative to the workspace, that is searched; empty for the whole
            workspace.
        limit: The maximum number of hits.
        as_json: Whether the hits are printed as one JSON array.

    Raises:
        CliError: If the search fails; the message gives the reason.
    """
    terminal = Terminal()
    search = {"query": query, "limit": limit, "folder": folder}
    _, hits = _run_session(root, terminal, search=search)
    if as_json:
        terminal.out.file.write(f"{json.dumps([hit for _, hit in hits])}\n")
        return int(not hits)
    if not hits:
        where = f" in {folder!r}" if folder else ""
        terminal.say(f"No results for {query!r}{where}.")
    for number, (name, hit) in enumerate(hits):
        terminal.show(hit_text(name, hit, query, is_first=number == 0))
    return int(not hits)


def _run_session(
    root: Path,
    terminal: Terminal,
    *,
    rebuild: bool = False,
    search: Mapping[str, object] | None = None,
) -> tuple[Mapping[str, Any], Sequence[NamedHit]]:
    """Update the index; return the part `index` of `stet.status` and the hits of `search`.

    The server's warnings are shown, each once.

    Raises:
        CliError: If there is nothing to index, the search is refused or the server fails.
    """
    warnings: dict[str, None] = {}

    def note(event: Event) -> None:
        if isinstance(event, MessageShown) and event.kind in ("error", "warning"):
            warnings[event.message] = None

    async def work() -> tuple[Mapping[str, Any], Sequence[NamedHit]]:
        client = HeadlessClient(System(), on_event=note)
        async with client.session(root):
            index = await _wait_ready(client, terminal, rebuild=rebuild)
            hits = [] if search is None else await client.command("stet.search", search)
            return index, [(client.documents.name(hit["uri"], root), hit) for hit in hits]

    try:
        found = asyncio.run(work())
    except CommandFailed as error:
        raise CliError(str(error), code=2 if error.code == INVALID else 1) from error
    except ServerFailed as error:
        raise CliError(str(error)) from error
    for warning in warnings:
        terminal.say(warning, "yellow")
    return found


async def _wait_ready(
    client: HeadlessClient, terminal: Terminal, *, rebuild: bool
) -> Mapping[str, Any]:
    """Wait until the index is up to date; return the part `index` of `stet.status`."""
    await client.command("stet.reindex", {"rebuild": rebuild})
    with terminal.counting("indexing") as show:
        while True:
            status = await client.command("stet.status")
            index: Mapping[str, Any] = status["index"]
            if index["state"] not in BUILDING:
                return index
            show(index["files"], index["total"])
            await asyncio.sleep(LOOK_SECONDS)


def hit_text(name: str, hit: Hit, query: str, *, is_first: bool) -> Text:
    """Return a hit as lines `path:line: text`, with the words of the query highlighted.

    The reason for the hit is below; a blank line separates a hit from the one before.
    """
    wanted = frozenset(query_stems(query))
    text = Text("" if is_first else "\n")
    lines = escape(hit["excerpt"]).split("\n")
    for number, line in enumerate(lines, start=hit["excerptLine"] + 1):
        if line.strip():
            text.append(f"{escape_line(name)}", "magenta").append(":")
            text.append(str(number), "green").append(": ")
            text.append(_highlighted(line, wanted)).append("\n")
    text.append(f"{INDENT}{escape_line(hit['why'])}" if hit["why"] else "", "dim")
    text.rstrip()
    return text


def _highlighted(line: str, wanted: frozenset[str]) -> Text:
    """Return a line whose words have a style if their stems are in `wanted`."""
    text = Text(line)
    for match in _WORDS.finditer(line):
        parts = PART.findall(match[0]) or [match[0]]
        if any(stem(part.lower()) in wanted for part in parts):
            text.stylize("bold red", *match.span())
    return text
