"""A user who types during another action."""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from tests.support.editor import FakeEditor


class Typist:
    """A user who types letters at the start of a document until stopped.

    Attributes:
        typed: The typed text, with which the document begins.
    """

    def __init__(
        self, editor: FakeEditor, uri: str, *, every: float | Sequence[float], typed: str = ""
    ) -> None:
        """Begin with the text `typed` before.

        Args:
            editor: The editor.
            uri: The document.
            every: Seconds between two keys, or several values, taken in turn.
            typed: The text with which the document begins already.
        """
        self.typed = typed
        self._editor = editor
        self._uri = uri
        self._gaps = [every] if isinstance(every, float) else list(every)
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.get_running_loop().create_task(self._type())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Stop typing."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            if not self._task.cancelled() and (error := self._task.exception()):
                raise error

    async def _type(self) -> None:
        n = 0
        while True:
            letter = "\n" if n % 7 == 6 else chr(ord("a") + n % 26)
            self._editor.type(self._uri, self.typed.count("\n"), self._column(), letter)
            self.typed += letter
            await asyncio.sleep(self._gaps[n % len(self._gaps)])
            n += 1

    def _column(self) -> int:
        return len(self.typed) - (self.typed.rfind("\n") + 1)
