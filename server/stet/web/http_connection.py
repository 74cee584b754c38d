"""One HTTP request to a checked address.

`httpcore2`, the layer below the client that `openai` installs, makes exactly one request and lets
the caller connect to the checked address, while Host and SNI keep the name. It has no cookies, no
redirects and no proxies of the environment (no address could be checked through a proxy). It does
not decompress: the child process that reads the page must survive a decompression bomb
(`stet.web.page_helper`).
"""

import functools
import re
import ssl
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

import httpcore2

from stet.web.address_policy import Fetched, FetchLimits, Ip
from stet.web.web_address import WebAddress, WebError

MAX_ADDRESSES = 3
"""The most addresses of one host that are tried."""

MAX_KIND = 200
"""Characters of a Content-Type that are read: a hostile one may have 60,000."""

_CHARSET = re.compile(r';\s*+charset\s*+=\s*+"?+([\w.:-]{1,40})', re.IGNORECASE)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KINDS = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "text",
    "text/markdown": "text",
    "text/x-markdown": "text",
    "application/json": "json",
}
_HEADERS = (
    (b"User-Agent", b"stet (a language server; fetches a page its user's agent asks for)"),
    (b"Accept", b"text/html, application/xhtml+xml, text/markdown, text/plain, application/json"),
    (b"Accept-Encoding", b"gzip"),
    (b"Accept-Language", b"en, *;q=0.5"),
    (b"Connection", b"close"),
)


async def http_get(address: WebAddress, ips: Sequence[Ip], limits: FetchLimits) -> Fetched | str:
    """Return the page, or the address that the page has moved to.

    Args:
        address: The address of the page.
        ips: The checked addresses to connect to.
        limits: The limits of the page.

    Raises:
        WebError: If the host can't be reached, or the answer is not a readable page.
    """
    try:
        return await _http_get(address, ips, limits)
    except (httpcore2.TimeoutException, httpcore2.NetworkError) as error:
        reason = str(error) or type(error).__name__
        raise WebError(f"{address.url} can't be reached ({reason}).") from error
    except httpcore2.ProtocolError as error:
        raise WebError(f"{address.url} does not speak HTTP properly ({error}).") from error


async def _http_get(address: WebAddress, ips: Sequence[Ip], limits: FetchLimits) -> Fetched | str:
    parts = (address.scheme, address.host, address.target)
    scheme, host, target = (part.encode() for part in parts)
    url = httpcore2.URL(scheme=scheme, host=host, port=address.port, target=target)
    headers = [(b"Host", address.host_and_port.encode()), *_HEADERS]
    waits = {"connect": limits.connect, "read": limits.idle, "write": limits.idle}
    pool = httpcore2.AsyncConnectionPool(tls_context(), network_backend=_PinnedBackend(ips))
    request = pool.stream("GET", url, headers=headers, extensions={"timeout": waits})
    async with pool, request as response:
        answered = _headers_by_name(response.headers)
        if response.status in _REDIRECTS:
            if where := answered.get("location"):
                return where
            raise WebError(f"{address.url} has moved and does not say where.")
        if response.status != 200:
            raise WebError(f"{address.url} answers with the status {response.status}.")
        kind, charset, is_packed = _content_type(address, answered)
        announced = answered.get("content-length", "")
        if announced.isascii() and announced.isdigit() and int(announced) > limits.size:
            raise _too_large_error(address, limits)
        body = bytearray()
        async for piece in response.aiter_stream():
            body += piece
            if len(body) > limits.size:
                raise _too_large_error(address, limits)
        return Fetched(address, kind, charset, is_packed, bytes(body))


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Return the TLS context with this machine's authorities, cached: reading them takes long."""
    return httpcore2.default_ssl_context()


def _too_large_error(address: WebAddress, limits: FetchLimits) -> WebError:
    return WebError(f"{address.url} is larger than {limits.size} bytes.")


def _headers_by_name(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers of an answer by name: the first of each name, but all content codings."""
    values: dict[str, str] = {}
    for name, value in raw:
        text = value.decode("utf-8", "replace").strip()
        key = name.decode("ascii", "replace").lower()
        if key == "content-encoding" and key in values:
            values[key] += f", {text}"
        values.setdefault(key, text)
    return values


def _content_type(address: WebAddress, headers: Mapping[str, str]) -> tuple[str, str, bool]:
    """Return kind and charset of the text, and whether the text is packed.

    Raises:
        WebError: If the answer is not readable text.
    """
    content_type = headers.get("content-type", "")[:MAX_KIND]
    name = content_type.partition(";")[0].strip().lower()
    if name == "application/pdf":
        raise WebError(f"{address.url} is a PDF, which is not read. Look for a web page.")
    if name not in _KINDS:
        raise WebError(f"{address.url} is of the kind {name!r}; only pages of text are read.")
    packed = headers.get("content-encoding", "").lower()[:MAX_KIND]
    codings = {name.strip() for name in packed.split(",")} - {"", "identity"}
    if codings - {"gzip", "x-gzip"} or packed.count("gzip") > 1:
        raise WebError(
            f"{address.url} is compressed as {packed!r}, which was not asked for (gzip was)."
        )
    charset = found[1].lower() if (found := _CHARSET.search(content_type)) else ""
    return _KINDS[name], charset, bool(codings)


class _PinnedBackend(httpcore2.AsyncNetworkBackend):
    """A network backend that connects to the checked addresses, not to the resolved name."""

    def __init__(self, ips: Sequence[Ip]) -> None:
        self._ips = ips
        self._real = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - the signature is httpcore2's, as the next three
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore2.AsyncNetworkStream:
        """Return a connection to the first address that answers."""
        *others, last = self._ips[:MAX_ADDRESSES]
        for ip in others:
            with suppress(httpcore2.ConnectError, httpcore2.ConnectTimeout):
                return await self._real.connect_tcp(str(ip), port, timeout)
        return await self._real.connect_tcp(str(last), port, timeout)
