"""The control socket in this server: opened and closed as the settings say."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from stet import __version__
from stet.control.control_server import ControlServer
from stet.lsp.control_methods import ControlMethods
from stet.system.system import System
from stet.workspace.workspace import Workspace

log = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]]


class ControlSocket:
    """The control socket of one server; used on the event loop only."""

    def __init__(
        self, methods: ControlMethods, workspace: Workspace, system: System, spawn: Spawn
    ) -> None:
        """Create the socket; it is not open before the settings are read.

        Args:
            methods: What a program may ask.
            workspace: The settings and the workspace folders.
            system: Names the runtime folder.
            spawn: Starts a task.
        """
        self._methods = methods
        self._workspace = workspace
        self._system = system
        self._spawn = spawn
        self._server = ControlServer(methods.table, spawn, __version__)
        self._in_order = asyncio.Lock()

    def settings_changed(self) -> None:
        """Open or close the socket if the setting `agents.socket` has changed."""
        if self._workspace.settings.agents.socket != self._server.is_open:
            _ = self._spawn(self._apply(), "the control socket")

    def folders_changed(self) -> None:
        """Write the workspace folders into the descriptor."""
        if self._server.is_open:
            _ = self._spawn(self._apply(), "the control socket")

    async def close(self) -> None:
        """Close the socket and remove its files."""
        await self._server.close()

    async def _apply(self) -> None:
        async with self._in_order:
            try:
                if not self._workspace.settings.agents.socket:
                    await self._server.close()
                elif self._server.is_open:
                    await self._server.set_roots(await asyncio.to_thread(self._roots))
                else:
                    folder = await asyncio.to_thread(self._system.runtime_folder)
                    roots = await asyncio.to_thread(self._roots)
                    await self._server.open(folder, roots, self._system.now())
            except OSError as error:
                log.warning(
                    "no control socket: %s. `stet review` and agents can't reach this editor.",
                    error,
                )

    def _roots(self) -> list[str]:
        """Return the real paths of the folders that the editor has named. Blocks on the disk."""
        if not self._workspace.folders:
            return []
        return [str(self._system.real_path(root.path)) for root in self._workspace.roots]
