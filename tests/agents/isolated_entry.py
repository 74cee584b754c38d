"""Become a program that reaches nothing but a server of the test.

`python -m tests.agents.isolated_entry PATH PORT [--raise] PROGRAM ...`.

Listens on a port of loopback, sends the listening socket over the Unix socket at PATH, and becomes
the program, which has the standard streams of this process. `--raise` first brings the loopback
interface up.
"""

import os
import socket
import sys

from tests.agents.loopback_entry import raise_loopback


def main(path: str, port: int, command: list[str]) -> None:
    """Become the program."""
    if command[0] == "--raise":
        raise_loopback()
        command = command[1:]
    with (
        socket.create_server(("127.0.0.1", port)) as listening,
        socket.socket(socket.AF_UNIX) as channel,
    ):
        channel.connect(path)
        socket.send_fds(channel, [b"."], [listening.fileno()])
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
