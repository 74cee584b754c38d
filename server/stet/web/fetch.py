"""Fetch a page and read its text.

A page is fetched from a checked address, within limits; each redirect is checked before it is
followed. A child process reads the text (`stet.web.page_helper`).
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from stet.system.helper_process import run_helper
from stet.system.system import System
from stet.web.address_policy import (
    Fetched,
    FetchLimits,
    Ip,
    Resolve,
    check_name,
    lookup_host,
    resolve,
)
from stet.web.web_address import WebAddress, WebError, resolve_redirect

AskPermission = Callable[[WebAddress, WebAddress | None], Awaitable[None]]
"""Called before each request to an address, with the referring page; raises to refuse."""

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
    """A client that fetches pages.

    Attributes:
        allowed: Private hosts that may be read (`address_policy.is_allowed_host`).
        limits: The limits of a page.
        resolver: Returns the addresses of a host.
        connector: Returns the object that makes a request; called in a thread.
    """

    allowed: Sequence[str] = ()
    limits: FetchLimits = field(default_factory=FetchLimits)
    resolver: Resolve = lookup_host
    connector: Callable[[], HttpGet] = _load_http_get

    async def fetch(self, address: WebAddress, permit: AskPermission) -> Fetched:
        """Return the page at an address, or the page that the address redirects to.

        Raises:
            WebError: If the page can't or may not be read.
        """
        came_from = None
        for _ in range(MAX_REDIRECTS + 1):
            check_name(address, self.allowed)
            await permit(address, came_from)
            try:
                async with asyncio.timeout(self.limits.seconds):
                    http_get = await asyncio.to_thread(self.connector)
                    ips = await resolve(address, self.resolver, self.allowed)
                    answer = await http_get(address, ips, self.limits)
            except TimeoutError as error:
                seconds = f"{self.limits.seconds:g} s"
                raise WebError(f"{address.url} did not come within {seconds}.") from error
            if isinstance(answer, Fetched):
                return answer
            came_from, address = address, resolve_redirect(address, answer)
        raise WebError(f"{address.url}: more than {MAX_REDIRECTS} redirects.")


READING_SECONDS = 20.0
MAX_UNPACKED = 10_000_000
"""The most bytes of an unpacked page."""


@dataclass(frozen=True, slots=True)
class WebPage:
    """The content of a page.

    Attributes:
        url: The final address.
        title: The title; "" if there is none.
        text: The readable text, as Markdown if the page is HTML; without hidden characters.
        n_hidden: The number of hidden characters that were removed.
        n_left_out: The number of characters at the end that were left out of a long page.
    """

    url: str
    title: str
    text: str
    n_hidden: int = 0
    n_left_out: int = 0


async def read_page(fetched: Fetched, system: System) -> WebPage:
    """Return the text of a page.

    Raises:
        WebError: If there is no text, or the page exceeds a limit.
    """
    url = fetched.address.url
    request = {
        "kind": fetched.kind,
        "charset": fetched.charset,
        "packed": fetched.is_packed,
        "url": url,
        "size": MAX_UNPACKED,
    }
    task = json.dumps(request).encode() + b"\n" + fetched.body
    try:
        output = await run_helper(system, "stet.web.page_helper", task, READING_SECONDS)
        answer = json.loads(output)
    except TimeoutError as error:
        raise WebError(f"{url} takes more than {READING_SECONDS:g} s to read.") from error
    except ValueError as error:
        raise WebError(f"{url} can't be read: it takes too much memory or time.") from error
    if "error" in answer:
        raise WebError(f"{url} can't be read: {answer['error']}.")
    page = WebPage(url, answer["title"], answer["text"], answer["hidden"], answer["left_out"])
    if not page.text.strip():
        raise WebError(f"{url} holds no readable text; scripts may build it in a browser.")
    return page
