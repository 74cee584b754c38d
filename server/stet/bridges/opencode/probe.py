"""Which of OpenCode's APIs a server speaks. Imported late, as what it brings."""

from collections.abc import Callable

from stet.bridges.opencode.appending import Appending
from stet.bridges.opencode.connection import REPLACING, Connection
from stet.bridges.opencode.replacing import Replacing

Keeper = Replacing | Appending


async def keeper_of(connection: Connection, now: Callable[[], float]) -> Keeper:
    """What keeps the context of this server, by the API that can replace if it has that.

    Raises:
        OpenCodeError: If it is no OpenCode server, or wants another password.
    """
    if await connection.identify() == REPLACING:
        return Replacing(connection)
    return Appending(connection, now)
