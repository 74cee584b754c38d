"""Parse the addresses of web pages strictly, record who named them, and keep them as sources.

Parsing is stricter than in browsers (https://url.spec.whatwg.org): an address that could be read in
two ways is refused, so that the host that is checked is the host that is contacted.

An address that the model makes up can carry the user's text away, and so can an address that the
model read in a file or on a page. So only the user, a search API and the settings may name a host;
the user is asked before any other host is contacted.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote, urljoin, urlsplit


class WebError(Exception):
    """A page or a search API can't be read; the message says why and what to do."""


MAX_URL = 2000
"""The most characters of an address; a longer address may carry data out."""

MAX_NEW_CHARACTERS = 100
"""The most new characters after the host that are sent without asking the user."""

MAX_NEW_CHARACTERS_OF_CHAT = 300
"""The same limit for all addresses of a chat since the user was last asked.

Many short addresses carry as much data as a long one, in one turn or in many."""

PORTS = {"http": 80, "https": 443}
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\]")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_SAFE_CHARACTERS = "/?:@!$&'()*+,;=%~-._[]"
"""Characters that are not escaped after the host: delimiters, and existing escapes."""


@dataclass(frozen=True, slots=True)
class WebAddress:
    """The address of a page.

    Attributes:
        scheme: `http` or `https`.
        host: In lower case, ASCII (international names in their `xn--` form), without a last dot;
            an IPv6 address without brackets.
        port: 1 to 65535.
        target: Path and query, ASCII, beginning with a slash.
        fragment: The text after `#`; it is not sent.
    """

    scheme: str
    host: str
    port: int
    target: str
    fragment: str = ""

    @property
    def ip(self) -> IPv4Address | IPv6Address | None:
        """The host if it is an IP address, else None."""
        return _ip(self.host)

    @property
    def url_host(self) -> str:
        """The host as it is written in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def host_and_port(self) -> str:
        """The host, with the port unless it is the usual one; the user allows this unit."""
        host, is_usual = self.url_host, self.port == PORTS[self.scheme]
        return host if is_usual else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole address without the fragment; in ASCII, so that no character is hidden."""
        return f"{self.scheme}://{self.host_and_port}{self.target}"

    @property
    def unicode_host(self) -> str:
        """The host in Unicode if that differs, else ""."""
        if "xn--" not in self.host:
            return ""
        import idna  # late: its tables are large

        try:
            return idna.decode(self.host)
        except idna.IDNAError:
            return ""

    @property
    def n_path_characters(self) -> int:
        """The number of characters after the host's slash."""
        return len(self.target) - 1


def parse_url(url: str) -> WebAddress:
    """Parse `url`.

    Raises:
        WebError: If `url` is not an address that Stet reads, with the reason.
    """
    url = url.strip()
    if len(url) > MAX_URL:
        raise WebError(f"The address has {len(url)} characters; at most {MAX_URL} are sent.")
    if _FORBIDDEN.search(url):
        raise WebError(
            f"{url!r} is not an address: it holds a space, a backslash or a control character."
        )
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.hostname or ""
    except ValueError as error:
        raise WebError(f"{url!r} is not an address: {error}.") from error
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise WebError(f"{url!r}: only http and https addresses are read.")
    if "@" in parts.netloc:
        raise WebError(f"{url!r} holds a user name. Remove the part before the `@`.")
    if port == 0:
        raise WebError(f"{url!r}: there is no port 0.")
    target = quote(parts.path or "/", safe=_SAFE_CHARACTERS)
    if parts.query:
        target += f"?{quote(parts.query, safe=_SAFE_CHARACTERS)}"
    return WebAddress(scheme, _host(host, url), port or PORTS[scheme], target, parts.fragment)


def resolve_redirect(page: WebAddress, location: str) -> WebAddress:
    """Return the address that a redirect leads to.

    Raises:
        WebError: If `location` is not an address, or leads from https to http.
    """
    try:
        joined = urljoin(page.url, location)
    except ValueError as error:
        raise WebError(
            f"{page.url} redirects to {location[:200]!r}, which is not an address."
        ) from error
    new = parse_url(joined)
    if page.scheme == "https" and new.scheme == "http":
        raise WebError(f"{page.url} redirects to {new.url}, which is not encrypted (http).")
    return new


def _host(host: str, url: str) -> str:
    """Return the canonical spelling of a host.

    Raises:
        WebError: If `host` is not a host, or a number in a spelling that systems read differently.
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


_WORD = re.compile(r"(?:https?://\[[0-9a-fA-F:.]+\])?[^\s<>\"'`()\[\]{}|\\]+")
_URL = re.compile(r"https?://", re.IGNORECASE)
_BARE = re.compile(
    r"(?:www\.(?:[\w-]+\.)+[^\W\d_]{2,}|(?:[\w-]+\.)+(?:com|edu|eu|gov|net|org))(?::\d+)?(?:[/?#].*)?",
    re.IGNORECASE,
)
"""A host without a scheme, by a few endings only: `readme.md` and `self.name` seldom mean a host.
For other hosts the user writes `https://`, or is asked.
"""

_TRAILING = ".,;:!?*_~…"


@dataclass(slots=True)
class KnownAddresses:
    """The addresses that a search API named or the user allowed in one conversation.

    Attributes:
        places: Hosts, with a port unless it is the usual one (`WebAddress.host_and_port`).
        urls: Whole addresses.
        n_sent_characters: The characters of new addresses that were sent to known hosts since the
            user was last asked; saved with the chat.
    """

    places: set[str] = field(default_factory=set)
    urls: set[str] = field(default_factory=set)
    n_sent_characters: int = 0

    def add(self, address: WebAddress) -> None:
        """Add an address that was found, or that the user has allowed."""
        self.places.add(address.host_and_port)
        self.urls.add(address.url)

    def contains(self, address: WebAddress, words: str) -> bool:
        """Return whether the whole address was named, so that the model has added nothing to it."""
        return address.url in self.urls or address.url in (one.url for one in find_addresses(words))

    def count_unapproved(self, address: WebAddress, words: str) -> None:
        """Count an address that is about to be requested without asking the user."""
        if not self.contains(address, words):
            # The choice of an address carries information too.
            self.n_sent_characters += max(1, address.n_path_characters)

    def approve(self, address: WebAddress) -> None:
        """Record that the user has allowed this address, and reset the count."""
        self.add(address)
        self.n_sent_characters = 0

    def why_ask(self, address: WebAddress, words: str) -> str:
        """Return a reason, for the user, to ask before this address is read; "" if there is none.

        Args:
            address: The address to read.
            words: The user's messages in the conversation.
        """
        if self.contains(address, words):
            return ""
        mentioned = find_addresses(words)
        places = {
            _bare(place) for place in (*self.places, *(one.host_and_port for one in mentioned))
        }
        if _bare(address.host_and_port) not in places:
            return "This host was not mentioned by you or found by a search here."
        if address.n_path_characters > MAX_NEW_CHARACTERS:
            return (
                "The host is known here, but the address is new and sends "
                f"{address.n_path_characters} characters to it."
            )
        n_sent = self.n_sent_characters + address.n_path_characters
        if n_sent > MAX_NEW_CHARACTERS_OF_CHAT:
            return (
                "The host is known here, but the address is new; new addresses in this chat "
                f"have sent {n_sent} characters since you were last asked."
            )
        return ""


def find_addresses(words: str) -> list[WebAddress]:
    """Return the addresses and hosts that a text names."""
    found = []
    for match in _WORD.finditer(words):
        word = match[0].rstrip(_TRAILING)
        if _BARE.fullmatch(word):
            word = f"https://{word}"
        elif not _URL.match(word):
            continue
        with suppress(WebError):
            found.append(parse_url(word))
    return found


def _bare(place: str) -> str:
    """Return a host without `www.`, because a person who names either form means both."""
    return place.removeprefix("www.")


@dataclass(frozen=True, slots=True)
class WebSource:
    """A page that was found or read.

    Attributes:
        url: The address of the page.
        title: The title of the page; empty if there is none.
    """

    url: str
    title: str = ""


def add_source(sources: list[WebSource], source: WebSource) -> None:
    """Add a source unless it is listed; a title replaces an empty one."""
    for n, known in enumerate(sources):
        if known.url == source.url:
            sources[n] = known if known.title else source
            return
    sources.append(source)
