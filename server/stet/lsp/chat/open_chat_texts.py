"""The chat documents that the editor has open, by their parts.

A long one is read in a worker thread when it is opened; what is typed meanwhile is followed afterwards.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from stet.chat.chat_document import ChatReading
from stet.chat.chat_layout import ChatSections
from stet.lsp.presentation.generated_documents import GeneratedDocuments
from stet.text.change import TextChange
from stet.workspace.uris import canonical

SHORT = 500
"""Lines of a document that is read at once."""
SHORT_LINE = 10_000
"""Characters of each of them."""

Start = Callable[[Coroutine[Any, Any, None], str], None]


@dataclass(slots=True)
class _OpenChatText:
    """One of them.

    Attributes:
        sections: Its parts; None until they are known.
        missed: How it has changed since it began to be read.
    """

    sections: ChatSections | None = None
    missed: list[TextChange] = field(default_factory=list)


class OpenChatTexts:
    """Touched on the event loop only."""

    def __init__(self, generated: GeneratedDocuments, start: Start) -> None:
        """`start` begins a task."""
        self._generated = generated
        self._start = start
        self._open: dict[str, _OpenChatText] = {}

    def is_being_read(self, uri: str) -> bool:
        """Whether a document is open whose parts are not known yet."""
        text = self._open.get(canonical(uri))
        return text is not None and text.sections is None

    def sections(self, uri: str) -> ChatSections | None:
        """Return the parts of a document as it is now, or None if it is not open or not read yet."""
        text = self._open.get(canonical(uri))
        return None if text is None else text.sections

    def opened(self, uri: str, then: Callable[[ChatReading], None]) -> None:
        """Handle a document that was opened. `then` is called with the reading, at once if the
        document is short.
        """
        buffer = self._generated.buffer(uri)
        if buffer is None:
            return
        text = self._open[canonical(uri)] = _OpenChatText()
        lines = buffer.lines
        if len(lines) <= SHORT and all(len(line) <= SHORT_LINE for line in lines):
            text.sections = ChatSections(lines)
            then(ChatReading.of(text.sections))
        else:
            self._start(self._read(uri, text, tuple(lines), then), f"read {uri}")

    def changed(self, uri: str, changes: Sequence[TextChange]) -> None:
        """Update the parts of a document after its text has changed."""
        text = self._open.get(canonical(uri))
        if text is None:
            return
        if text.sections is None:
            text.missed += changes
        else:
            text.sections.apply_changes(changes)

    def closed(self, uri: str) -> None:
        """Handle a document that was closed."""
        _ = self._open.pop(canonical(uri), None)

    async def _read(
        self,
        uri: str,
        text: _OpenChatText,
        lines: Sequence[str],
        then: Callable[[ChatReading], None],
    ) -> None:
        reading = await asyncio.to_thread(lambda: ChatReading.of(ChatSections(lines)))
        buffer = self._generated.buffer(uri)
        if buffer is None or self._open.get(canonical(uri)) is not text:
            return  # it was closed meanwhile, or opened once more
        text.sections = ChatSections(buffer.lines, reading.headings)
        text.sections.apply_changes(text.missed)
        text.missed = []
        then(reading)
