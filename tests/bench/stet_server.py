"""Stet's whole server with an additional request, `test/crc`, so that its text can be verified.

Run as a script: `python -I tests/bench/stet_server.py`.
"""

import sys
import zlib
from typing import Any

from stet.lsp.server import build_server, serve_session


def main() -> int:
    """Serve on the standard streams."""
    server = build_server()

    def crc(params: Any) -> int:
        state: Any = server.state()
        buffer = state.workspace.buffer(params["uri"])
        assert buffer is not None
        return zlib.crc32(buffer.text.encode())

    server.feature("test/crc")(crc)
    return serve_session(server)


if __name__ == "__main__":
    sys.exit(main())
