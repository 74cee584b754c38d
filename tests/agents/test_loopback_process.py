"""The process that reaches nothing but a server of the test."""

import socket
import sys
from pathlib import Path

import pytest

from tests.agents.loopback_process import LoopbackProcess, has_namespaces

CONNECT = """
import socket, sys
for port in sys.argv[1:]:
    try:
        socket.create_connection(("127.0.0.1", int(port))).close()
        print("reached")
    except ConnectionRefusedError:
        print("refused")
"""


@pytest.mark.skipif(not has_namespaces(), reason="this user can't make a network namespace")
async def test_loopback_process_reaches_its_server_and_no_other(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        async with LoopbackProcess.start(tmp_path) as process:
            ports = [str(one.getsockname()[1]) for one in (process.listening, other)]
            ended = await process.run([sys.executable, "-Ic", CONNECT, *ports], {})
    assert (ended.output.split(), ended.errors) == (["reached", "refused"], "")
