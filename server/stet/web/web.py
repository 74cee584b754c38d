"""The web as the tools of one turn reach it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from stet.settings.values import WebSettings
from stet.system.system import System
from stet.web.address import Address, parse, without_fragment
from stet.web.endpoint import SearchEndpoint, search_endpoint
from stet.web.errors import WebError
from stet.web.fetch import Fetcher, Permit
from stet.web.formats import Answer, Hit
from stet.web.named import Named
from stet.web.page import Page, read_page
from stet.web.reach import is_allowed

_KEPT_PAGES = 5


@dataclass(slots=True)
class Web:
    """One turn's door to the web.

    Attributes:
        endpoint: The search API.
        fetcher: Fetches pages.
        system: Starts the processes that read them.
        named: What was found and allowed in this conversation.
        refused: Places that the user does not want to be read from in this turn.
    """

    endpoint: SearchEndpoint
    fetcher: Fetcher
    system: System
    named: Named
    refused: set[str] = field(default_factory=set)
    _pages: dict[str, Page] = field(default_factory=dict)

    async def search(self, query: str, limit: int) -> Answer:
        """At most `limit` pages; from now on they count as named.

        Raises:
            WebError: If the search API gives none.
        """
        search = await asyncio.to_thread(_searcher)
        answer = await search(self.endpoint, query, limit)
        hits: list[Hit] = []
        for hit in answer.hits:
            try:
                address = parse(hit.url)
            except WebError:
                continue  # nothing that could be read
            self.named.add(address)
            hits.append(Hit(address.url, hit.title, hit.excerpt))
            if len(hits) == limit:
                break
        return Answer(tuple(hits), answer.text)

    def why_ask(self, address: Address, words: str) -> str:
        """Why the user must be asked before this address is read; "": no need to."""
        if is_allowed(address, self.fetcher.allowed):
            return ""
        return self.named.why_unnamed(address, words)

    def count(self, address: Address, words: str) -> None:
        """Note that this address is about to be asked without the user having been."""
        if not is_allowed(address, self.fetcher.allowed):
            self.named.count(address, words)

    def agree(self, address: Address) -> None:
        """Note that the user has seen this address, and agrees."""
        self.named.agree(address)

    async def read(self, address: Address, permit: Permit) -> Page:
        """The page at an address; one that this turn has read is not fetched again.

        Raises:
            WebError: If it can't or may not be read.
        """
        address = without_fragment(address)
        if (page := self._pages.get(address.url)) is None:
            page = await read_page(await self.fetcher.fetch(address, permit), self.system)
            while len(self._pages) >= _KEPT_PAGES:
                del self._pages[next(iter(self._pages))]
            self._pages[address.url] = page
        return page


def open_web(settings: WebSettings, system: System, named: Named) -> Web | None:
    """The web for one turn; None where no search API is configured."""
    endpoint = search_endpoint(settings, system.environ())
    if endpoint is None:
        return None
    return Web(endpoint, Fetcher(settings.allow_hosts), system, named)


def _searcher() -> Callable[[SearchEndpoint, str, int], Awaitable[Answer]]:
    """What asks search APIs; imported late and in a thread, as its client is large."""
    from stet.web.search import search

    return search
