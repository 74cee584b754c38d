"""The connection of `stet mcp` to the server of the editor that has a folder open."""

import asyncio
import time
from pathlib import Path
from typing import Any

from stet.control.control_client import ControlClient, RequestRefused, ServerLost, find_servers
from stet.control.descriptor import Descriptor, read_descriptors

ANSWER_SECONDS = 7200.0
"""How long an answer may take; the longest wait for the user is an hour."""


class LinkError(Exception):
    """A request has no result; the message is a sentence for the agent."""


class EditorLink:
    """Sends each request over a connection of its own, so that one can be cancelled.

    Args:
        runtime: The folder of the descriptors.
        folder: The folder of the workspace.
        server: The process id of the only server to use; 0 for the newest that has the folder open.
    """

    def __init__(self, runtime: Path, folder: str, server: int = 0) -> None:
        self._runtime = runtime
        self._folder = folder
        self._server = server

    def find(self) -> Descriptor:
        """Return the server. Blocks on the disk.

        Raises:
            LinkError: If there is none.
        """
        if self._server:
            servers = [one for one in read_descriptors(self._runtime) if one.pid == self._server]
        else:
            servers = find_servers(self._runtime, self._folder)
        if servers:
            return servers[0]
        if self._server:
            raise LinkError(f"there is no Stet server with the id {self._server}.")
        raise LinkError(
            f"no editor with Stet has {self._folder} open. Ask the user to open the folder in an "
            "editor with Stet."
        )

    def now(self) -> float:
        """Return the time of a monotonic clock in seconds."""
        return time.monotonic()

    async def request(self, method: str, params: object) -> Any:
        """Return the result of a method.

        Raises:
            LinkError: If there is no server, it ends, or it refuses the request.
        """
        client = await asyncio.to_thread(self._connect)
        try:
            return await asyncio.to_thread(client.request, method, params)
        except asyncio.CancelledError:
            client.abort()
            raise
        except ServerLost as error:
            raise LinkError(f"{error}. Your proposals wait in the editor.") from error
        except RequestRefused as error:
            raise LinkError(str(error)) from error
        finally:
            client.close()

    def _connect(self) -> ControlClient:
        try:
            return ControlClient(self.find(), ANSWER_SECONDS)
        except ServerLost as error:
            raise LinkError(str(error)) from error
