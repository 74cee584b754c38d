"""The owner of a TCP port of this machine, if the system reports it.

Linux lists every socket with its user in `/proc/net/tcp` and `/proc/net/tcp6` (proc_pid_net(5)).
Other systems have no such list, and the owner is unknown there.
"""

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

Ip = IPv4Address | IPv6Address

TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LISTENS = "0A"
_ROOT = 0
_MAX_BYTES = 16_000_000
"""The most bytes read of one table: about 100,000 sockets."""


@dataclass(frozen=True, slots=True)
class SocketAddress:
    """One end of a connection.

    Attributes:
        ip: The address; for an IPv4 connection an IPv4 address, even if the socket is IPv6.
        port: The port, 1 to 65535.
    """

    ip: Ip
    port: int

    @classmethod
    def of(cls, address: tuple[object, ...]) -> "SocketAddress":
        """Return the endpoint of a result of `socket.getsockname` or `getpeername`.

        Raises:
            ValueError: If the result is not a TCP endpoint.
        """
        host, port = str(address[0]).partition("%")[0], address[1]
        if not isinstance(port, int):
            raise ValueError(f"{address!r} is not a TCP address")  # noqa: TRY004 - as ip_address
        return cls(_plain(ip_address(host)), port)


def foreign_owner(
    server: SocketAddress, client: SocketAddress, uid: int, tables: Iterable[str] = TABLES
) -> int | None:
    """Return another user, except root, who can answer at a port of this machine. Blocking.

    Args:
        server: The server's endpoint.
        client: The endpoint of this process.
        uid: The user id of this process.
        tables: The paths of the files that list sockets.

    Returns:
        The id of the user; None if there is no such user, or the system does not report it.
    """
    for name in tables:
        try:
            with Path(name).open(encoding="ascii", errors="replace") as file:
                text = file.read(_MAX_BYTES)
        except OSError:
            continue
        for owner in owners(text, server, client):
            if owner not in {uid, _ROOT}:
                return owner
    return None


def current_uid() -> int | None:
    """Return the effective user id; None on systems without user ids."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def owners(table: str, server: SocketAddress, client: SocketAddress) -> Iterator[int]:
    """Yield the users who listen at `server` or hold the server's end of the connection.

    Args:
        table: The text of `/proc/net/tcp` or `/proc/net/tcp6`.
        server: The server's endpoint.
        client: The client's endpoint.
    """
    port = f":{server.port:04X}"
    for line in table.splitlines()[1:]:
        fields = line.split()
        if len(fields) < 8 or not fields[1].endswith(port):
            continue
        try:
            local, remote, owner = _endpoint(fields[1]), _endpoint(fields[2]), int(fields[7])
        except ValueError:
            continue
        listens = fields[3] == _LISTENS and (local.ip.is_unspecified or local == server)
        if listens or (local == server and remote == client):
            yield owner


def _endpoint(text: str) -> SocketAddress:
    """Parse an address in the kernel's format: 32-bit words in native byte order.

    Raises:
        ValueError: If the text is not an address.
    """
    host, _, port = text.partition(":")
    raw = bytes.fromhex(host)
    if len(raw) not in {4, 16}:
        raise ValueError(f"{text!r} is not an address")
    words = struct.unpack(f">{len(raw) // 4}I", raw)
    return SocketAddress(_plain(ip_address(struct.pack(f"={len(words)}I", *words))), int(port, 16))


def _plain(ip: Ip) -> Ip:
    """Convert an IPv4-mapped IPv6 address to IPv4."""
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    return ip
