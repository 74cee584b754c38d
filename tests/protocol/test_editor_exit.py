"""However an editor exits, the server exits without a crash report and with the right exit code."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.raw_peer import Peer, command, connected, frame, notification, request

SERVER = (sys.executable, "-I", "-m", "stet.cli.main", "serve")
EXIT = notification("exit")
SHUTDOWN = request("end", "shutdown")


def reports(folder: Path) -> list[str]:
    return [path.read_text() for path in folder.rglob("crash-*")]


@asynccontextmanager
async def session(folder: Path) -> AsyncIterator[Peer]:
    """Start a server with its state below `folder`; it must leave no crash report there."""
    async with connected(SERVER, env={**os.environ, "XDG_STATE_HOME": str(folder)}) as peer:
        yield peer
    assert reports(folder) == []


async def test_exit_code_is_0_for_an_editor_that_exits_at_once(tmp_path: Path) -> None:
    async with session(tmp_path) as peer:
        peer.send(SHUTDOWN)
        assert (await peer.answer("end"))["result"] is None
        peer.send(EXIT)
        await peer.drain()
        peer.stop_reading()
        peer.hang_up()
        assert await peer.ended() == 0


@pytest.mark.parametrize("is_asked", [True, False])
async def test_an_editor_that_stops_reading_first_is_gone(tmp_path: Path, is_asked: bool) -> None:
    async with session(tmp_path) as peer:
        if is_asked:
            peer.send(SHUTDOWN)
            await peer.answer("end")
        peer.stop_reading()
        assert await peer.ended() == (0 if is_asked else 1)


async def test_answers_that_nobody_reads_any_more_end_in_no_report(tmp_path: Path) -> None:
    async with session(tmp_path) as peer:
        peer.stop_reading()
        peer.send(*(command(n, "stet.status") for n in range(20)), SHUTDOWN, EXIT)
        # The end of the pipe or `shutdown` may arrive first.
        assert await peer.ended() in {0, 1}


@pytest.mark.parametrize("is_cancelled_first", [True, False])
async def test_a_cancelled_command_with_wrong_arguments_is_no_bug(
    tmp_path: Path, is_cancelled_first: bool
) -> None:
    async with session(tmp_path) as peer:
        names = (
            "showContext", "search", "carryOut", "openChat", "newChat", "send", "ledger", "ask", "accept",
        )  # fmt: skip
        for n, name in enumerate(names):
            asked = command(n, f"stet.{name}", {"wrong": 1, "chat": []}, 7)
            cancelled = notification("$/cancelRequest", {"id": n})
            peer.send(*((asked, cancelled) if not is_cancelled_first else (cancelled, asked)))
            assert "error" in await peer.answer(n)
        peer.send(SHUTDOWN)
        assert (await peer.answer("end"))["result"] is None
        peer.send(EXIT)
        assert await peer.ended() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="sockets are no standard streams there")
@pytest.mark.parametrize("stream", [0, 1])
def test_a_standard_stream_that_is_closed_from_the_start_is_reported(
    tmp_path: Path, stream: int
) -> None:
    script = f'exec {stream}>&-; exec "$@"'
    ended = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *SERVER],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert b"standard" in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert reports(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="sockets are no standard streams there")
def test_a_socket_that_is_closed_while_it_is_written_to_ends_the_server(tmp_path: Path) -> None:
    ours, its = socket.socketpair()
    with its:
        process = subprocess.Popen(
            SERVER,
            stdin=its.fileno(),
            stdout=its.fileno(),
            stderr=subprocess.PIPE,
            env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        )
    asked = [
        request(1, "initialize", {"processId": None, "rootUri": None, "capabilities": {}}),
        *(command(n, "stet.status") for n in range(2, 30)),
    ]
    with ours:
        ours.sendall(b"".join(frame(json.dumps(message)) for message in asked))
        assert ours.recv(1)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"Traceback" not in errors
    assert reports(tmp_path) == []
