"""A user who types on while something else happens."""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from tests.support.editor import FakeEditor


class Typist:
    """Types letters at the start of a document, one key after the other, until stopped.

    Attributes:
        typed: What it has typed: the text begins with it.
    """

    def __init__(
        self, editor: FakeEditor, uri: str, *, every: float | Sequence[float], typed: str = ""
    ) -> None:
        """Begin with what was `typed` before.

        Args:
            editor: Where to type.
            uri: The document.
            every: The time between two keys in seconds, or several, taken in turn.
            typed: What the text begins with already.
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
        """Type no more."""
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
