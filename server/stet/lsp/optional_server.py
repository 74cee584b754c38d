"""A server for other programs of the user that is open while a setting is on."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Generic, Protocol, TypeVar

from stet.system.system import System
from stet.workspace.workspace import Workspace

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]


class Listener(Protocol):
    """A server that listens."""

    async def set_roots(self, roots: Sequence[str]) -> None:
        """Publish other workspace folders.

        Raises:
            OSError: If they can't be published.
        """

    async def close(self) -> None:
        """Stop listening."""


S = TypeVar("S", bound=Listener)


class OptionalServer(Generic[S]):
    """Opens and closes a server; used on the event loop only.

    Attributes:
        listener: The server while it is open.
    """

    def __init__(  # noqa: PLR0913 - what differs between two servers
        self,
        name: str,
        spawn: Spawn,
        *,
        is_wanted: Callable[[], bool],
        listen: Callable[[], Awaitable[S | None]],
        roots: Callable[[], list[str]],
        failed: Callable[[OSError], None],
    ) -> None:
        """Open nothing yet.

        Args:
            name: The name of the server in the log.
            spawn: Starts a task.
            is_wanted: Returns whether the setting is on.
            listen: Returns an open server; None if there can be none.
            roots: Returns the paths of the workspace folders; it blocks on the disk.
            failed: Called with the error of a server that can't be opened or closed.
        """
        self.listener: S | None = None
        self._name = name
        self._spawn = spawn
        self._is_wanted = is_wanted
        self._listen = listen
        self._roots = roots
        self._failed = failed
        self._in_order = asyncio.Lock()

    def settings_changed(self) -> None:
        """Open or close the server if its setting has changed."""
        if self._is_wanted() != (self.listener is not None):
            _ = self._spawn(self._apply(), self._name)

    def folders_changed(self) -> None:
        """Publish the workspace folders, which have changed."""
        if self.listener is not None:
            _ = self._spawn(self._apply(), self._name)

    async def close(self) -> None:
        """Close the server if it is open."""
        listener, self.listener = self.listener, None
        if listener is not None:
            await listener.close()

    async def _apply(self) -> None:
        async with self._in_order:
            try:
                if not self._is_wanted():
                    await self.close()
                elif self.listener is not None:
                    await self.listener.set_roots(await asyncio.to_thread(self._roots))
                else:
                    self.listener = await self._listen()
            except OSError as error:
                self._failed(error)


def real_roots(workspace: Workspace, system: System) -> list[str]:
    """Return the real paths of the folders that the editor has named. Blocks on the disk."""
    if not workspace.folders:
        return []
    return [str(system.real_path(root.path)) for root in workspace.roots]
