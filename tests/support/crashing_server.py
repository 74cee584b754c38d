"""`stet serve` with commands that fail in different ways, and whose errors quote private text.

Run as a script: `python -I tests/support/crashing_server.py [OPTION...]`; `STET_TEST_START` makes
the server fail before it serves.
"""

import asyncio
import faulthandler
import os
import resource
import sys
import threading

from stet.cli import serve_command
from stet.lsp import server
from stet.lsp.connection.protocol import StetLanguageServer
from stet.lsp.routing import Router


def crash(built: StetLanguageServer, arguments: tuple[object, ...]) -> object:
    """Answer `test.crash`: fail as the first argument says; the error quotes the second.

    `is_recorded` fails nothing: the answer is whether a fault in native code would be recorded.
    """
    how, quoted = arguments

    def fail() -> None:
        raise KeyError(quoted)

    async def failing() -> None:
        fail()

    if how == "is_recorded":
        return faulthandler.is_enabled()
    if how == "handler":
        fail()
    elif how == "task":
        built.tasks.start(failing(), "work that fails")
    elif how == "callback":
        asyncio.get_running_loop().call_soon(fail)
    elif how == "thread":
        threading.Thread(target=fail).start()
    else:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler._sigsegv()  # type: ignore[attr-defined]
    return {}


def main() -> int:
    """Serve on standard input and output."""
    build_server = server.build_server

    def build(**given: object) -> StetLanguageServer:
        if quoted := os.environ.get("STET_TEST_START"):
            raise KeyError(quoted)
        built = build_server(**given)  # type: ignore[arg-type]

        route: Router[StetLanguageServer] = Router(built, lambda: built)
        route.command("test.crash", crash)
        return built

    server.build_server = build
    return serve_command.run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
