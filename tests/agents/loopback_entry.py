"""Start a program with a socket of its own network: `loopback_entry.py CHANNEL [--raise]`.

Sends a listening socket on loopback over the channel, reads from there a line of JSON with the
command (`argv`, `env`), and becomes that program. `--raise` first brings the loopback interface up:
in a new network namespace it is down.
"""

import fcntl
import json
import os
import socket
import struct
import sys

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1


def main(channel_number: int, *, raises: bool) -> None:
    """Become the program that the channel names."""
    if raises:
        raise_loopback()
    with socket.socket(fileno=channel_number) as channel:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            socket.send_fds(channel, [b"."], [listening.fileno()])
        with channel.makefile(encoding="utf-8") as lines:
            command = json.loads(lines.readline())
    os.execve(command["argv"][0], command["argv"], command["env"])


def raise_loopback() -> None:
    """Bring the loopback interface up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh22x", b"lo", _IFF_UP)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


if __name__ == "__main__":
    main(int(sys.argv[1]), raises="--raise" in sys.argv)
