"""The code in other files that the function of a request uses.

A small model has no tool to read files, and writes what it is not shown from imagination.
"""

import asyncio
from collections.abc import Sequence

from stet.agent.small.edit_target import (
    IDENTIFIER,
    Lines,
    fits,
    is_short,
    named_lines,
    outline_of,
)
from stet.links.link_scan import LinkGraph, scan_links
from stet.links.links import find_links
from stet.text.document import TextDocument
from stet.tools.tool import ToolContext, ToolError

MAX_CHARACTERS = 3_000
"""The most characters that are shown of other files: about 800 tokens to read."""
MAX_STEPS = 2
"""The most imports between the file of the question and a file that is shown."""
MAX_FILES = 3
"""The most other files that are shown."""
MAX_IMPORTS = 16
"""The most imports of one file that are followed."""


class RelatedCode:
    """The lines of other files that the code of a request uses, by the name of the file.

    Args:
        ctx: The context of the turn. What is found is read, so that the model may change it.
    """

    def __init__(self, ctx: ToolContext) -> None:
        self._ctx = ctx
        self._n_left = MAX_CHARACTERS
        self.lines: dict[str, Lines] = {}

    async def find_used(self, document: TextDocument, lines: Lines) -> None:
        """Find the definitions that lines of a document use, through the imports of the file."""
        if not await asyncio.to_thread(find_links, document.text, document.uri):
            return
        snapshot = self._ctx.reader.snapshot()
        graph = await asyncio.to_thread(scan_links, snapshot, self._ctx.links)
        seen, ring = {document.uri}, [(document, lines)]
        for _ in range(MAX_STEPS):
            found: list[tuple[TextDocument, Lines]] = []
            for source, shown in ring:
                words = " ".join(_identifiers(source, shown))
                for uri in _imported(graph, source.uri):
                    if uri not in seen and (one := await self._definitions(uri, words)):
                        seen.add(uri)
                        found.append(one)
            ring = found

    async def _definitions(self, uri: str, words: str) -> tuple[TextDocument, Lines] | None:
        """Show the definitions of a file that have one of the names in `words`."""
        try:
            document = await self._ctx.reader.peek(self._ctx.reader.snapshot().name_of(uri))
        except ToolError:
            return None  # removed since, or may not be shown
        if document.is_large:
            return None
        outline = await asyncio.to_thread(outline_of, document)
        lines = named_lines(document, outline, words, None)
        if lines is not None and is_short(document):  # with its constants
            lines = 0, document.n_lines
        return (document, lines) if lines and await self._show(document, lines) else None

    async def _show(self, document: TextDocument, lines: Lines) -> bool:
        """Show lines of a file if they fit; return whether they do."""
        name = self._ctx.reader.snapshot().name_of(document.uri)
        size = sum(map(len, document.lines[lines[0] : lines[1]]))
        if name in self.lines:
            return True
        if len(self.lines) >= MAX_FILES or size > self._n_left or not fits(document, lines):
            return False
        try:
            await self._ctx.reader.read(name)
        except ToolError:
            return False
        self.lines[name] = lines
        self._n_left -= size
        return True


def _identifiers(document: TextDocument, lines: Lines) -> dict[str, None]:
    text = "".join(document.lines[lines[0] : lines[1]])
    return dict.fromkeys(IDENTIFIER.findall(text))


def _imported(graph: LinkGraph, uri: str) -> Sequence[str]:
    """Return the files that a file imports, in the order of its imports."""
    targets = (target for edge in graph.outgoing(uri) for target in edge.targets)
    return list(dict.fromkeys(targets))[:MAX_IMPORTS]
