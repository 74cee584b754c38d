"""Which of OpenCode's APIs a server speaks. Imported late, as what it brings."""

from collections.abc import Callable

from stet.bridges.opencode import wire
from stet.bridges.opencode.appending import Appending
from stet.bridges.opencode.connection import Connection
from stet.bridges.opencode.errors import NotOpenCode, Refused
from stet.bridges.opencode.replacing import Replacing

Keeper = Replacing | Appending


async def keeper_of(connection: Connection, now: Callable[[], float]) -> Keeper:
    """What keeps the context of this server, by the API that can replace if it has that.

    Raises:
        OpenCodeError: If it is no OpenCode server, or wants another password.
    """
    if await _is_healthy(connection, "/global/health"):
        return Replacing(connection)
    if await _is_healthy(connection, "/api/health"):
        return Appending(connection, now)
    raise NotOpenCode("what answers there is no OpenCode server that Stet knows")


async def _is_healthy(connection: Connection, path: str) -> bool:
    """Whether the server knows this path and says that it is well."""
    try:
        return (await connection.ask("GET", path, wire.HEALTH)).healthy
    except Refused as refused:
        if refused.status in {404, 405}:
            return False
        raise
    except NotOpenCode:
        return False  # the page of a web interface, say
