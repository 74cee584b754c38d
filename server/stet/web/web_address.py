"""Addresses of pages: what a model or a server wrote, taken apart strictly.

Stricter than browsers (https://url.spec.whatwg.org): what could be read in two ways is refused, so
that the host which is checked is the host which is asked.
"""

import re
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote, urljoin, urlsplit


class WebError(Exception):
    """A page or a search API can't be read; the message says why and what to do."""


MAX_URL = 2000
"""Characters. Longer ones carry data out, not a page's address."""

MAX_NEW_CHARACTERS = 100
"""How many characters behind the host may be new without the user having seen them."""

MAX_NEW_CHARACTERS_OF_CHAT = 300
"""The same over all addresses of a chat since the user was last asked: many short ones carry as much
as a long one, in one turn or in many."""

PORTS = {"http": 80, "https": 443}
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\]")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_SAFE_CHARACTERS = "/?:@!$&'()*+,;=%~-._[]"
"""What stays as it is behind the host: delimiters, and escapes that are there already."""


@dataclass(frozen=True, slots=True)
class WebAddress:
    """Where a page is.

    Attributes:
        scheme: `http` or `https`.
        host: In lower case, ASCII (international names in their `xn--` form), without a last dot; an
            IPv6 address without brackets.
        port: 1 to 65535.
        target: Path and query, ASCII, beginning with a slash.
        fragment: What stands behind `#`; it is not sent.
    """

    scheme: str
    host: str
    port: int
    target: str
    fragment: str = ""

    @property
    def ip(self) -> IPv4Address | IPv6Address | None:
        """The host, where it is an IP address."""
        return _ip(self.host)

    @property
    def host_and_port(self) -> str:
        """Host, and port where it is not the usual one: what a yes of the user is for."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole of it, without the fragment; all ASCII, so that nothing in it is hidden."""
        return f"{self.scheme}://{self.host_and_port}{self.target}"

    @property
    def unicode_host(self) -> str:
        """The host as people read it, where that differs; else ""."""
        if "xn--" not in self.host:
            return ""
        import idna  # late: its tables are large

        try:
            return idna.decode(self.host)
        except idna.IDNAError:
            return ""

    @property
    def n_path_characters(self) -> int:
        """How many characters stand after the host's slash."""
        return len(self.target) - 1


def parse_url(url: str) -> WebAddress:
    """Return the address that `url` means.

    Raises:
        WebError: If it is none that Stet reads, with the reason.
    """
    url = url.strip()
    if len(url) > MAX_URL:
        raise WebError(f"The address has {len(url)} characters; at most {MAX_URL} are sent.")
    if _FORBIDDEN.search(url):
        raise WebError(
            f"{url!r} is no address: it holds a space, a backslash or a control character."
        )
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.hostname or ""
    except ValueError as error:
        raise WebError(f"{url!r} is no address: {error}.") from error
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise WebError(f"{url!r}: only http and https addresses are read.")
    if "@" in parts.netloc:
        raise WebError(f"{url!r} holds a user name. Leave out what stands before the `@`.")
    if port == 0:
        raise WebError(f"{url!r}: there is no port 0.")
    target = quote(parts.path or "/", safe=_SAFE_CHARACTERS)
    if parts.query:
        target += f"?{quote(parts.query, safe=_SAFE_CHARACTERS)}"
    return WebAddress(scheme, _host(host, url), port or PORTS[scheme], target, parts.fragment)


def resolve_redirect(page: WebAddress, location: str) -> WebAddress:
    """Where a page that has moved is now.

    Raises:
        WebError: If that is no address, or an unprotected one behind a protected one.
    """
    try:
        joined = urljoin(page.url, location)
    except ValueError as error:
        raise WebError(f"{page.url} leads to {location[:200]!r}: no address.") from error
    new = parse_url(joined)
    if page.scheme == "https" and new.scheme == "http":
        raise WebError(f"{page.url} leads to {new.url}, which is not protected (http).")
    return new


def without_fragment(address: WebAddress) -> WebAddress:
    """Return the address of the whole page, without the fragment."""
    return replace(address, fragment="")


def _host(host: str, url: str) -> str:
    """Return the canonical spelling of a host.

    Raises:
        WebError: If it is none, or a number in a spelling that systems read differently.
    """
    if ":" in host:
        return _ipv6(host, url)
    name = _ascii(host, url).removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise WebError(f"{url!r} names no host.")
    if _NUMBER.fullmatch(labels[-1]) and _ip(name) is None:
        raise WebError(f"{url!r}: write an IP address as four decimal numbers.")
    return name


def _ascii(host: str, url: str) -> str:
    if host.isascii():
        return host.lower()
    import idna  # late: its tables are large

    try:
        return idna.encode(host, uts46=True).decode()
    except idna.IDNAError as error:
        raise WebError(f"{url!r} names no host: {error}.") from error


def _ipv6(host: str, url: str) -> str:
    if "%" in host:
        raise WebError(f"{url!r}: addresses of one network interface are not read.")
    try:
        return str(IPv6Address(host))
    except ValueError as error:
        raise WebError(f"{url!r} names no host: {error}.") from error


def _ip(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return IPv6Address(host) if ":" in host else IPv4Address(host)
    except ValueError:
        return None
