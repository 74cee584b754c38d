"""The web access of the tools of one turn."""

import asyncio
from dataclasses import dataclass, field, replace
from importlib import import_module

from stet.settings.values import WebSettings
from stet.system.system import System
from stet.web.address_policy import is_allowed_host
from stet.web.fetch import AskPermission, Fetcher, WebPage, read_page
from stet.web.search_formats import SearchEndpoint, WebHit, WebSearchAnswer, search_endpoint
from stet.web.web_address import KnownAddresses, WebAddress, WebError, parse_url

_MAX_CACHED_PAGES = 5


@dataclass(slots=True)
class WebAccess:
    """The web access of one turn.

    Attributes:
        endpoint: The search API.
        fetcher: The client that fetches pages.
        system: Starts the processes that read pages.
        known: The addresses that were found and allowed in this conversation.
        refused: Hosts that the user does not allow in this turn.
    """

    endpoint: SearchEndpoint
    fetcher: Fetcher
    system: System
    known: KnownAddresses
    refused: set[str] = field(default_factory=set)
    _cached_pages: dict[str, WebPage] = field(default_factory=dict)

    async def search(self, query: str, limit: int) -> WebSearchAnswer:
        """Return at most `limit` pages, and record them as known addresses.

        Raises:
            WebError: If the search API returns an error.
        """
        # The import is late and in a thread, because the client is large.
        client = await asyncio.to_thread(import_module, "stet.web.search_client")
        answer: WebSearchAnswer = await client.search_web(self.endpoint, query, limit)
        hits: list[WebHit] = []
        for hit in answer.hits:
            try:
                address = parse_url(hit.url)
            except WebError:
                continue  # not a readable address
            self.known.add(address)
            hits.append(WebHit(address.url, hit.title, hit.excerpt))
            if len(hits) == limit:
                break
        return WebSearchAnswer(tuple(hits), answer.text)

    def is_allowed(self, address: WebAddress) -> bool:
        """Return whether the settings name the host, so that the user need not be asked."""
        return is_allowed_host(address, self.fetcher.allowed)

    async def read(self, address: WebAddress, permit: AskPermission) -> WebPage:
        """Return the page at an address. A page that this turn has read is not fetched again.

        Raises:
            WebError: If the page can't or may not be read.
        """
        address = replace(address, fragment="")
        if (page := self._cached_pages.get(address.url)) is None:
            page = await read_page(await self.fetcher.fetch(address, permit), self.system)
            while len(self._cached_pages) >= _MAX_CACHED_PAGES:
                del self._cached_pages[next(iter(self._cached_pages))]
            self._cached_pages[address.url] = page
        return page


def open_web(settings: WebSettings, system: System, named: KnownAddresses) -> WebAccess | None:
    """Return the web access for one turn, or None if no search API is configured."""
    endpoint = search_endpoint(settings, system.environ())
    if endpoint is None:
        return None
    return WebAccess(endpoint, Fetcher(settings.allow_hosts), system, named)
