"""The hosts that a page may be read from, the limits of a page, and the page as received.

Pages come from machines of the open internet and from those that the settings name. The address of
a page may come from a stranger's text, so it must not lead into the network that Stet runs in.
Names are resolved once, and the connection is made to the address that was checked
(`stet.web.fetch`), which defeats names that resolve differently the second time.
Ranges: IANA's registries of special-purpose addresses, RFC 6890.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from stet.web.web_address import WebAddress, WebError

Ip = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host. Raises OSError if there are none."""

_LOCAL_ENDINGS = (".localhost", ".local", ".internal", ".intranet", ".lan", ".home.arpa")
"""The endings of names in a local network, including the metadata services of clouds."""

_REFUSED = tuple(
    ip_network(each)
    for each in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by a provider's customers (CGNAT)
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's host, on a public address
        "169.254.0.0/16",  # link-local: most clouds' metadata
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "2001::/23",  # protocol assignments, Teredo among them: an IPv4 address is inside
        "2001:db8::/32",
        "2002::/16",  # 6to4: an IPv4 address is inside
        "3fff::/20",
    )
)
_GLOBAL_6 = ip_network("2000::/3")
_PRIVATE = ("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
_EXCEPTABLE = tuple(ip_network(each) for each in (*_PRIVATE, "::1/128", "fc00::/7"))
"""The networks that a setting can open; not link-local addresses, which serve cloud metadata."""


def is_public(ip: Ip) -> bool:
    """Return whether an address is on the open internet and wraps no other address."""
    # Addresses that wrap an IPv4 address (mapped, NAT64, 6to4, Teredo) are outside or refused.
    is_routed = isinstance(ip, IPv4Address) or ip in _GLOBAL_6
    return is_routed and not any(ip in network for network in _REFUSED)


def may_allow(ip: Ip) -> bool:
    """Return whether a setting may open this address of a private network or of this machine."""
    return any(ip in network for network in _EXCEPTABLE)


def is_allowed_host(address: WebAddress, allowed: Sequence[str]) -> bool:
    """Return whether the settings name this host: `host` for any port, or `host:port`."""
    host = address.url_host
    spelled = {host, address.host, f"{host}:{address.port}"}
    return any(one.strip().lower().removesuffix(".") in spelled for one in allowed)


def check_name(address: WebAddress, allowed: Sequence[str]) -> None:
    """Refuse a host by its name alone, before the name is resolved.

    Raises:
        WebError: If the host is an address, or has a name, of a private network.
    """
    if address.ip is not None:
        check_ip(address, address.ip, allowed)
        return
    name = address.host
    is_local = "." not in name or f".{name}".endswith(_LOCAL_ENDINGS)
    if is_local and not is_allowed_host(address, allowed):
        raise _private_error(address, f"the name {name!r}")


def check_ip(address: WebAddress, ip: Ip, allowed: Sequence[str]) -> None:
    """Refuse the resolved address of a host.

    Raises:
        WebError: If the address is not on the open internet, and no setting allows it.
    """
    if is_public(ip) or (may_allow(ip) and is_allowed_host(address, allowed)):
        return
    raise _private_error(address, str(ip))


async def resolve(address: WebAddress, resolver: Resolve, allowed: Sequence[str]) -> tuple[Ip, ...]:
    """Return the addresses of a host, after checking each address.

    Raises:
        WebError: If there are no addresses, or one of them may not be connected to.
    """
    try:
        names = [address.host] if address.ip else await resolver(address.host, address.port)
        found = tuple(ip_address(name) for name in names)
    except (OSError, ValueError) as error:
        raise WebError(f"There is no host {address.host!r} ({error}).") from error
    if not found:
        raise WebError(f"There is no host {address.host!r}.")
    for ip in found:
        check_ip(address, ip, allowed)
    return found


async def lookup_host(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host from the operating system's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def _private_error(address: WebAddress, what: str) -> WebError:
    return WebError(
        f"{address.url} is not read: {what} belongs to a private network or to this machine. Only "
        "the user can open it, with web.allowHosts in their settings."
    )


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The limits of one page.

    Attributes:
        seconds: The total time for each address of a redirect chain.
        connect: Seconds until the connection is open.
        idle: Seconds between two pieces.
        size: Bytes of the body, as received.
    """

    seconds: float = 20.0
    connect: float = 5.0
    idle: float = 10.0
    size: int = 5_000_000


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as received.

    Attributes:
        address: The address after all redirects.
        kind: `html`, `text` or `json`.
        charset: The charset in the server's headers; "" if there is none.
        is_packed: Whether `body` is gzip.
        body: The bytes of the page.
    """

    address: WebAddress
    kind: str
    charset: str
    is_packed: bool
    body: bytes
