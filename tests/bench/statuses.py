"""Wait for a status of our server by polling."""

from typing import Any

from tests.bench.process import ServerProcess
from tests.support.processes import usage_of

SECONDS_BETWEEN = 0.05
"""The delay between two polls, in seconds."""
_SECONDS_QUIET = 1.0
_MEGABYTES_QUIET = 0.5


def command(server: ServerProcess, name: str, **arguments: object) -> Any:
    """Return the answer to a command of our server."""
    return server.ask("workspace/executeCommand", {"command": name, "arguments": [arguments]})


def is_ready(server: ServerProcess) -> None:
    """Wait until settings and proposals are loaded."""
    while not command(server, "stet.status")["ready"]:
        pass


def index_is_ready(server: ServerProcess) -> None:
    """Wait until the whole workspace can be searched."""
    while command(server, "stet.status")["index"]["state"] != "ready":
        server.is_quiet(SECONDS_BETWEEN)


def index_is_begun_anew(server: ServerProcess) -> None:
    """Rebuild the index, and wait until the work has begun."""
    command(server, "stet.reindex")
    while command(server, "stet.status")["index"]["files"] == 0:
        pass


def megabytes_at_rest(server: ServerProcess) -> float:
    """Return the memory of a server and its child processes, once it is constant for a second."""
    before = 0.0
    while abs((now := usage_of(server.pid).megabytes) - before) > _MEGABYTES_QUIET:
        before = now
        server.is_quiet(_SECONDS_QUIET)
    return now
