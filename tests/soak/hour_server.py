"""Stet's whole server with an additional request, `test/tasks`: the names of the running tasks.

Run as a script: `python -I tests/soak/hour_server.py`.
"""

import asyncio
import sys

from stet.lsp.server import build_server, serve_session


def main() -> int:
    """Serve on the standard streams."""
    server = build_server()

    def tasks(*_: object) -> list[str]:
        return sorted(task.get_name() for task in asyncio.all_tasks())

    server.feature("test/tasks")(tasks)
    return serve_session(server)


if __name__ == "__main__":
    sys.exit(main())
