"""Which of OpenCode's APIs a server speaks. Imported late, as what it brings."""

from collections.abc import Callable

from stet.bridges.opencode.append_client import AppendClient
from stet.bridges.opencode.opencode_connection import REPLACING, OpenCodeConnection
from stet.bridges.opencode.replace_client import ReplaceClient

PartClient = ReplaceClient | AppendClient


async def create_part_client(
    connection: OpenCodeConnection, now: Callable[[], float]
) -> PartClient:
    """Create the client that keeps the context of this server. The API that can replace is used if
    available.

    Raises:
        OpenCodeError: If it is no OpenCode server, or wants another password.
    """
    if await connection.identify() == REPLACING:
        return ReplaceClient(connection)
    return AppendClient(connection, now)
