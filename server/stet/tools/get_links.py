"""`get_links`: the links in a file, and the links to it."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Literal

from pydantic import Field

from stet.links.dead_links import DeadLinkChecker, LinkLocations, is_local
from stet.links.link import Edge
from stet.links.link_scan import LinkCache, LinkGraph, scan_links
from stet.text.escape import escape_line
from stet.text.render import counted, join_bounded
from stet.tools.tool import Params, Tool, ToolContext, ToolGroup, ToolKind
from stet.tools.tool_errors import refusals_as_errors
from stet.workspace.safe_excerpt import redactor_of, safe_line
from stet.workspace.snapshot import Snapshot
from stet.workspace.uris import canonical

MAX_LINES = 2000
"""The most lines of a report: more would not be shown, and notes may have millions of links."""

_CONTINUE_HINT = "ask for one direction, a smaller depth, or one of the files named here"


class GetLinks(Params):
    """Show what a file links to and what links to it, with the lines the links stand in.

    Links are wikilinks, Markdown links, imports and includes. `depth` 2 or 3 also follows the files
    found.
    """

    file: str = Field(description="Path relative to the workspace root.")
    direction: Literal["out", "back", "both"] = Field(
        default="both", description="Links in the file, links to it, or both."
    )
    depth: int = Field(default=1, ge=1, le=3, description="How many steps to follow.")


async def run(params: GetLinks, ctx: ToolContext) -> str:
    """Return the links, file by file, the nearest file first.

    Raises:
        ToolError: If there is no such file or it may not be shown.
    """
    uri = ctx.reader.locate(params.file).uri
    # Take the snapshot here: the workspace belongs to the event loop.
    lines = await asyncio.to_thread(_report, ctx.reader.snapshot(), ctx.links, uri, params)
    return join_bounded(lines, _CONTINUE_HINT)


def _report(snapshot: Snapshot, cache: LinkCache, uri: str, params: GetLinks) -> list[str]:
    with refusals_as_errors("`list_files` gives the names there are."):
        snapshot.show(uri)
    scan = scan_links(snapshot, cache)
    dead = DeadLinkChecker(snapshot, scan)
    report = _LinkReport(snapshot, scan, LinkLocations(snapshot), dead, params.direction)
    lines: list[str] = []
    seen = {canonical(uri)}
    ring = [uri]
    for step in range(params.depth):
        neighbors: dict[str, str] = {}
        for each in ring:
            if len(lines) >= MAX_LINES:
                return [*lines, f"(There is more: {_CONTINUE_HINT}.)"]
            lines += islice(report.link_lines(each, step), MAX_LINES)
            neighbors |= {canonical(neighbor): neighbor for neighbor in report.neighbors(each)}
        ring = [neighbors[key] for key in sorted(neighbors.keys() - seen)]
        seen |= neighbors.keys()
    if scan.is_cut:
        lines.append("(The workspace is too large to look through: other files may link here too.)")
    return lines


@dataclass(frozen=True, slots=True)
class _LinkReport:
    """The text about the links of files."""

    snapshot: Snapshot
    scan: LinkGraph
    places: LinkLocations
    dead: DeadLinkChecker
    direction: Literal["out", "back", "both"]

    def neighbors(self, uri: str) -> Iterator[str]:
        """Yield the files one step away; a file may be repeated."""
        for edge in self._outgoing(uri):
            yield from edge.targets
        for edge in self._incoming(uri):
            yield edge.source

    def link_lines(self, uri: str, step: int) -> Iterator[str]:
        """Yield the links of one file, one line for each link."""
        name = self._name(uri)
        away = f" ({counted(step, 'step')} away)" if step else ""
        out, back = self._outgoing(uri), self._incoming(uri)
        if self.direction != "back":
            lines = [edge for edge in out if edge.targets or is_local(edge)]
            yield f"{name}{away} links to:" if lines else f"{name}{away} links to no file."
            for line, edges in groupby(lines, self._format_edge):
                yield f"  {line} -> {'; '.join(map(self._format_target, edges))}"
            if n_others := len(out) - len(lines):
                yield f"  ({n_others} imports of what is not in the workspace)"
        if self.direction != "out":
            yield f"Links to {name}{away}:" if back else f"No file links to {name}{away}."
            yield from (f"  {self._name(edge.source)}:{self._format_edge(edge)}" for edge in back)

    def _outgoing(self, uri: str) -> tuple[Edge, ...]:
        return () if self.direction == "back" else self.scan.outgoing(uri)

    def _incoming(self, uri: str) -> tuple[Edge, ...]:
        return () if self.direction == "out" else self.scan.backlinks(uri)

    def _format_edge(self, edge: Edge) -> str:
        found = self.places.place_of(edge)
        if found is None:
            return self._quoted(edge.link.written)
        place, line = found
        return f"{place.line + 1}: {self._quoted(line)}"

    def _format_target(self, edge: Edge) -> str:
        if edge.targets:
            return ", ".join(map(self._name, edge.targets))
        note = "no file" if self.dead.is_dead(edge) else "a file without text, or one not shown"
        return f"'{self._quoted(edge.link.written)}' ({note})"

    def _quoted(self, text: str) -> str:
        return safe_line(text, redactor_of(self.snapshot))

    def _name(self, uri: str) -> str:
        return escape_line(self.snapshot.name_of(uri))


GET_LINKS = Tool("get_links", ToolGroup.WORKSPACE, ToolKind.READ, GetLinks, run)
