"""One run of a server: from its first byte to the end of the process."""

import asyncio
import gc
import logging

from stet.lsp.connection import stdio
from stet.lsp.connection.frames import FrameReader
from stet.lsp.connection.lifetime import CLOSING_SECONDS, HARD_EXIT_SECONDS, exit_within
from stet.lsp.connection.protocol import SessionPhase, StetLanguageServer

log = logging.getLogger(__name__)

LAST_WORDS_SECONDS = 1.0
"""How long the last messages may take to be read, once the session is over."""


def serve(server: StetLanguageServer) -> int:
    """Serve one editor on standard input and output until it leaves; gives the exit code.

    The code is 0 after `shutdown`, 1 if the editor left without it, 128 + n after signal n.
    """
    if missing := stdio.missing_stream():
        log.error("Stet can't serve: its standard %s is closed", missing)
        return 1
    return asyncio.run(_serve(server))


async def _serve(server: StetLanguageServer) -> int:
    # What has been imported stays: looking through it for rubbish stops everything for 35 ms.
    gc.freeze()
    reading, writing = stdio.take_streams()
    server.lifetime.listen_to_signals()
    frames = server.input = FrameReader(server.protocol.receive, server.lifetime.end)
    output = await stdio.connect(reading, writing, frames.feed, frames.end)
    server.protocol.set_writer(output)
    await server.lifetime.wait()
    code = 0 if server.protocol.phase is SessionPhase.SHUT_DOWN else 1
    if server.lifetime.signal is not None:
        code = 128 + server.lifetime.signal
    # Closing waits for threads, and one that reads from a disk that hangs never comes back.
    exit_within(CLOSING_SECONDS, code)
    await server.tasks.close()
    if server.closing is not None:
        await server.closing()
    await output.drain(LAST_WORDS_SECONDS)
    output.close()
    exit_within(HARD_EXIT_SECONDS, code)
    return code
