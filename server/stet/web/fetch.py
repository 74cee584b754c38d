"""Fetch a page as bytes: from a checked address, within limits, following redirects by hand."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from stet.web.address_policy import Ip, Resolve, check_name, resolve, system_resolver
from stet.web.fetched import Fetched, FetchLimits
from stet.web.web_address import WebAddress, WebError, resolve_redirect

AskPermission = Callable[[WebAddress, WebAddress | None], Awaitable[None]]
"""Called before anything is sent to an address, with the page that led there; raises to refuse."""

HttpGet = Callable[[WebAddress, Sequence[Ip], FetchLimits], Awaitable[Fetched | str]]
"""Makes one request to a host at these addresses: `stet.web.http_connection.get`."""

MAX_REDIRECTS = 5


def _load_http_get() -> HttpGet:
    """Return the HTTP function. The import is late and in a thread, because the module is large and
    reads certificates.
    """
    from stet.web.http_connection import http_get, tls_context

    tls_context()
    return http_get


@dataclass(slots=True)
class Fetcher:
    """Fetches pages.

    Attributes:
        allowed: Private places that may be read all the same (`reach.is_allowed_host`).
        limits: What a page may cost.
        resolver: Gives the addresses of a host.
        connector: Gives what makes a request; called in a thread.
    """

    allowed: Sequence[str] = ()
    limits: FetchLimits = field(default_factory=FetchLimits)
    resolver: Resolve = system_resolver
    connector: Callable[[], HttpGet] = _load_http_get

    async def fetch(self, address: WebAddress, permit: AskPermission) -> Fetched:
        """Return the page at an address, or the page that the address redirects to.

        Raises:
            WebError: If it can't or may not be read.
        """
        came_from = None
        for _ in range(MAX_REDIRECTS + 1):
            check_name(address, self.allowed)
            await permit(address, came_from)
            answer = await self._within_time(address)
            if isinstance(answer, Fetched):
                return answer
            came_from, address = address, resolve_redirect(address, answer)
        raise WebError(f"{address.url}: more than {MAX_REDIRECTS} redirects.")

    async def _within_time(self, address: WebAddress) -> Fetched | str:
        """Return the page, or the address that the page has moved to."""
        try:
            async with asyncio.timeout(self.limits.seconds):
                get = await asyncio.to_thread(self.connector)
                ips = await resolve(address, self.resolver, self.allowed)
                return await get(address, ips, self.limits)
        except TimeoutError as error:
            raise WebError(
                f"{address.url} did not come within {self.limits.seconds:g} s."
            ) from error
