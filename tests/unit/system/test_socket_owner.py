"""Whose a port is, by the kernel's tables."""

import os
import socket
import struct
import sys
from ipaddress import ip_address
from pathlib import Path

import pytest

from stet.system.socket_owner import SocketAddress, foreign_owner, owners

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
US, ROOT, OTHER = 1000, 0, 1001


def spelled(host: str, port: int) -> str:
    """An address as the kernel prints it on this machine."""
    raw = ip_address(host).packed
    words = struct.unpack(f"={len(raw) // 4}I", raw)
    return "".join(f"{word:08X}" for word in words) + f":{port:04X}"


def row(host: str, port: int, uid: int, state: str = "0A", to: tuple[str, int] = ("", 0)) -> str:
    remote = spelled(to[0] or ("::" if ":" in host else "0.0.0.0"), to[1])
    return (
        f"   0: {spelled(host, port)} {remote} {state} 00000000:00000000 00:00000000 00000000"
        f" {uid:>5}        0 29636 1 00000000ceb69f8c 100 0 0 10 0\n"
    )


def end(host: str, port: int) -> SocketAddress:
    return SocketAddress.of((host, port))


SERVER, CLIENT = end("127.0.0.1", 4096), end("127.0.0.1", 50000)


@pytest.mark.parametrize(
    ("host", "server"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),
        ("::", "127.0.0.1"),
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("::", "::1"),
        ("127.0.0.2", "127.0.0.2"),
    ],
)
def test_owner_of_a_listener_is_found_by_address_and_port(host: str, server: str) -> None:
    table = HEAD + row("127.0.0.3", 4096, 7) + row(host, 4097, 8) + row(host, 4096, OTHER)
    assert list(owners(table, end(server, 4096), end(server, 50000))) == [OTHER]


def test_the_servers_end_of_the_connection_counts_and_the_clients_does_not() -> None:
    table = (
        HEAD
        + row("127.0.0.1", 4096, OTHER, "01", ("127.0.0.1", 50000))
        + row("127.0.0.1", 50000, US, "01", ("127.0.0.1", 4096))
        + row("127.0.0.1", 4096, 9, "01", ("127.0.0.1", 50001))
        + row("127.0.0.1", 4096, 9, "06", ("127.0.0.1", 50002))
    )
    assert list(owners(table, SERVER, CLIENT)) == [OTHER]


@pytest.mark.parametrize(
    ("uids", "found"), [((US,), None), ((ROOT, US), None), ((US, OTHER), OTHER), ((), None)]
)
def test_only_root_and_the_user_may_answer(
    tmp_path: Path, uids: tuple[int, ...], found: int | None
) -> None:
    table = tmp_path / "tcp"
    table.write_text(HEAD + "".join(row("127.0.0.1", 4096, uid) for uid in uids))
    tables = (str(tmp_path / "missing"), str(table))
    assert foreign_owner(SERVER, CLIENT, US, tables) == found


@pytest.mark.parametrize(
    "table",
    ["", "x", HEAD, HEAD + "0: 1 2 3\n", HEAD + "0: zz:1000 0:1000 0A 0 0 0 x\n", HEAD + ":" * 99],
)
def test_invalid_table_has_no_owner(table: str) -> None:
    assert list(owners(table, SERVER, CLIENT)) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has such tables")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_real_port_is_ours(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as server:
        address = server.getsockname()
        with socket.create_connection(address[:2]) as client:
            server_end, client_end = (
                SocketAddress.of(address),
                SocketAddress.of(client.getsockname()),
            )
            tables = [Path(name).read_text() for name in ("/proc/net/tcp", "/proc/net/tcp6")]
            found = {uid for table in tables for uid in owners(table, server_end, client_end)}
            assert os.geteuid() in found
            assert found <= {os.geteuid(), ROOT}
            assert foreign_owner(server_end, client_end, os.geteuid()) is None
