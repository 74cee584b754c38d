"""`read_webpage`: the text of a page, after approval unless the user or a search named its host."""

import re
from functools import partial

from pydantic import Field

from stet.privacy.request_log import Recipient
from stet.tools.tool import Params, Tool, ToolContext, ToolGroup, ToolKind
from stet.tools.tool_errors import ToolError, UserDeclined
from stet.web.fetch import WebPage
from stet.web.untrusted_text import fence_untrusted
from stet.web.web_access import WebAccess
from stet.web.web_address import WebAddress, WebError, WebSource, add_source, parse_url

READ_IT = "Read it"
DO_NOT_READ = "Don't read it"
PART = 18_000
"""The most characters of a page that one call returns."""

_PART = re.compile(r"part=([1-9]\d{0,4})")


class ReadWebpage(Params):
    """Read a web page as text. http and https only; pages of private networks are refused.

    The user is asked first for a host that neither they nor a search has named, and where addresses
    of your own making grow long. Of a long page you
    get a part; the answer tells the address of the next one, which ends in `#part=2`.
    """

    url: str = Field(min_length=1, description="The whole address, such as `https://host/page`.")


async def run(params: ReadWebpage, ctx: ToolContext) -> str:
    """Return the page's text, or a part of the text.

    Raises:
        ToolError: If the page can't or may not be read.
        UserDeclined: If the user declines.
    """
    web = ctx.web
    if web is None:
        raise ToolError("No search API is configured. Go on without the web.")

    try:
        address = parse_url(params.url)
        page = await web.read(address, partial(_permit, ctx, web))
    except WebError as error:
        raise ToolError(str(error)) from error
    add_source(ctx.reader.report.sources, WebSource(page.url, page.title))
    return _select_part(address, page)


async def _permit(
    ctx: ToolContext, web: WebAccess, address: WebAddress, came_from: WebAddress | None
) -> None:
    """Check that an address may be read, and record the request.

    Raises:
        ToolError: If the address has a secret.
        UserDeclined: If the user declines.
    """
    if ctx.holds_secret(address.url):
        raise ToolError("The address holds a secret, which no host is given. Go on without it.")
    words = "\n".join(ctx.proposer.user_words)
    if not web.is_allowed(address):
        if why := web.known.why_ask(address, words):
            await _ask_permission(ctx, web, address, came_from, why)
        elif came_from is None:  # the model did not invent the address of a redirect
            web.known.count_unapproved(address, words)
    ctx.record_request(Recipient.PAGE, address.host_and_port, "an address", address.url)


async def _ask_permission(
    ctx: ToolContext, web: WebAccess, address: WebAddress, came_from: WebAddress | None, why: str
) -> None:
    """Ask the user whether a page may be read.

    Raises:
        UserDeclined: If the user declines, or has declined the host before.
    """
    redirect_note = f" {came_from.url} redirects there." if came_from else ""
    letters = f" (host: {address.unicode_host})" if address.unicode_host else ""
    sources = () if came_from else (address.host_and_port,)
    named = ctx.proposer.untrusted.explain_source(sources, ctx.proposer.user_words)
    text = f"Read the page {address.url}{letters}?{redirect_note} {why} {named}".rstrip()
    is_refused = address.host_and_port in web.refused
    if is_refused or await ctx.ask_user("host", text, (READ_IT, DO_NOT_READ)) != READ_IT:
        web.refused.add(address.host_and_port)
        raise UserDeclined(
            f"The user does not want {address.url} to be read. Go on without it; don't ask again."
        )
    web.known.approve(address)


def _select_part(address: WebAddress, page: WebPage) -> str:
    """Return the part of a page that the address's fragment asks for.

    Raises:
        ToolError: If the page has no such part.
    """
    fragment = _PART.fullmatch(address.fragment)
    number = int(fragment[1]) if fragment else 1
    n_parts = -(-len(page.text) // PART)
    if number > n_parts:
        raise ToolError(f"{page.url} has {n_parts} parts; there is no part {number}.")
    text = page.text[(number - 1) * PART : number * PART]
    head = f"{page.title}\n{page.url}\n\n" if page.title else f"{page.url}\n\n"
    shown = fence_untrusted(head + text, "a web page")
    left = len(page.text) - number * PART
    if left > 0:
        shown += f"(cut: {left} more characters; go on with {address.url}#part={number + 1})\n"
    elif page.n_left_out:
        shown += f"(the page goes on: {page.n_left_out} more characters can't be read)\n"
    if page.n_hidden:
        shown += f"({page.n_hidden} hidden characters were taken out)\n"
    return shown


READ_WEBPAGE = Tool("read_webpage", ToolGroup.WEB, ToolKind.READ, ReadWebpage, run)
