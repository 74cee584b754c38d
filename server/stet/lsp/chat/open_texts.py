"""The chat documents that the editor has open, by their parts.

A long one is read in a worker thread when it is opened; what is typed meanwhile is followed afterwards.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from stet.lsp.chat.page import Reading
from stet.lsp.chat.sections import Sections
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.text.change import TextChange
from stet.workspace.uris import canonical

SHORT = 500
"""Lines of a document that is read at once."""
SHORT_LINE = 10_000
"""Characters of each of them."""

Start = Callable[[Coroutine[Any, Any, None], str], None]


@dataclass(slots=True)
class _Open:
    """One of them.

    Attributes:
        sections: Its parts; None until they are known.
        missed: How it has changed since it began to be read.
    """

    sections: Sections | None = None
    missed: list[TextChange] = field(default_factory=list)


class OpenTexts:
    """Touched on the event loop only."""

    def __init__(self, own: GeneratedDocuments, start: Start) -> None:
        """`start` begins a task."""
        self._own = own
        self._start = start
        self._open: dict[str, _Open] = {}

    def is_being_read(self, uri: str) -> bool:
        """Whether a document is open whose parts are not known yet."""
        found = self._open.get(canonical(uri))
        return found is not None and found.sections is None

    def sections(self, uri: str) -> Sections | None:
        """The parts of a document as it is now; None if it is not open, or they are not known yet."""
        found = self._open.get(canonical(uri))
        return None if found is None else found.sections

    def opened(self, uri: str, then: Callable[[Reading], None]) -> None:
        """A document was opened; `then` is called with what it holds, at once if it is short."""
        buffer = self._own.buffer(uri)
        if buffer is None:
            return
        one = self._open[canonical(uri)] = _Open()
        lines = buffer.lines
        if len(lines) <= SHORT and all(len(line) <= SHORT_LINE for line in lines):
            one.sections = Sections(lines)
            then(Reading.of(one.sections))
        else:
            self._start(self._read(uri, one, tuple(lines), then), f"read {uri}")

    def changed(self, uri: str, changes: Sequence[TextChange]) -> None:
        """The text of a document has changed."""
        found = self._open.get(canonical(uri))
        if found is None:
            return
        if found.sections is None:
            found.missed += changes
        else:
            found.sections.follow(changes)

    def closed(self, uri: str) -> None:
        """A document was closed."""
        _ = self._open.pop(canonical(uri), None)

    async def _read(
        self, uri: str, one: _Open, lines: Sequence[str], then: Callable[[Reading], None]
    ) -> None:
        found = await asyncio.to_thread(lambda: Reading.of(Sections(lines)))
        buffer = self._own.buffer(uri)
        if buffer is None or self._open.get(canonical(uri)) is not one:
            return  # it was closed meanwhile, or opened once more
        one.sections = Sections(buffer.lines, found.headings)
        one.sections.follow(one.missed)
        one.missed = []
        then(found)
