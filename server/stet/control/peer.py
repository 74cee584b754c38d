"""The user at the other end of a Unix socket, as the kernel reports it."""

import os
import socket
import struct
import sys
from pathlib import Path
from typing import Protocol

_LOCAL_LEVEL, _LOCAL_PEERCRED = 0, 1
"""`SOL_LOCAL` and `LOCAL_PEERCRED` of macOS and FreeBSD (unix(4)), which Python does not define."""
_XUCRED_BYTES = 76


class PeerSocket(Protocol):
    """A connected socket, or asyncio's view of one."""

    def getsockopt(self, level: int, option: int, length: int, /) -> bytes:
        """Return an option of the socket."""
        ...


def is_supported() -> bool:
    """Return whether the system has Unix sockets, and reports who uses them."""
    return hasattr(socket, "AF_UNIX") and sys.platform.startswith(("linux", "darwin", "freebsd"))


def is_same_user(connection: PeerSocket) -> bool:
    """Return whether the process at the other end is one of this user; False if it is unknown."""
    try:
        return _peer_uid(connection) == os.geteuid()
    except OSError:
        return False


def is_in_other_namespace(connection: PeerSocket) -> bool:
    """Return whether the process at the other end is in another user namespace than this one.

    So is every program that `stet run` has started, with all that it starts: none can go back. A
    process that has ended, or may not be looked at, counts as one. Reads `/proc`; only Linux has
    namespaces.
    """
    if not hasattr(socket, "SO_PEERCRED"):
        return False
    try:
        namespace = Path("/proc/self/ns/user").readlink()
    except OSError:
        return False  # without /proc there are no overlays
    try:
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid = int(struct.unpack("3i", raw)[0])
        # 0: outside of this container, so not started by a program in it.
        return pid != 0 and Path(f"/proc/{pid}/ns/user").readlink() != namespace
    except OSError:
        return True


def _peer_uid(connection: PeerSocket) -> int:
    """Return the effective user id of the process at the other end.

    Raises:
        OSError: If the system does not report it.
    """
    if hasattr(socket, "SO_PEERCRED"):
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", raw)[1])
    raw = connection.getsockopt(_LOCAL_LEVEL, _LOCAL_PEERCRED, _XUCRED_BYTES)
    return int(struct.unpack_from("=II", raw)[1])
