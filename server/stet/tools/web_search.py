"""`web_search`: find pages with the search API that the user has configured."""

from urllib.parse import urlsplit

from pydantic import Field

from stet.privacy.request_log import Recipient
from stet.tools.tool import Params, Tool, ToolContext, ToolError, ToolGroup, ToolKind
from stet.web.search_formats import WebSearchAnswer
from stet.web.untrusted_text import fence_untrusted, strip_hidden, strip_to_line
from stet.web.web_address import WebError, WebSource, add_source

MAX_QUERY = 400
"""The most characters of a query, as in Brave and Tavily; a longer one only leaks text."""

_MAX_TITLE = 200
_MAX_EXCERPT = 600
_MAX_ANSWER = 6000


class WebSearch(Params):
    """Search the web. Gives pages with their address, title and an excerpt; `read_webpage` reads
    one.

    The query goes to a search company: put no private text into it.
    """

    query: str = Field(min_length=1, max_length=MAX_QUERY, description="A few words.")
    limit: int = Field(default=5, ge=1, le=20, description="Maximum number of pages.")


async def run(params: WebSearch, ctx: ToolContext) -> str:
    """Return the pages found, best first.

    Raises:
        ToolError: If the search API returns an error.
    """
    if ctx.web is None:
        raise ToolError("No search API is configured. Go on without the web.")
    query = " ".join(params.query.split())
    if not query:
        raise ToolError("'query' holds no words. Say what you look for.")
    if ctx.holds_secret(query):
        raise ToolError("The query holds a secret, which no search company is given.")
    host = urlsplit(ctx.web.endpoint.base_url).netloc.rpartition("@")[2]
    ctx.record_request(Recipient.SEARCH, host, "a query", query)
    try:
        answer = await ctx.web.search(query, params.limit)
    except WebError as error:
        raise ToolError(str(error)) from error
    if not answer.hits and not answer.text:
        return f"Nothing was found for {query!r}. Try other words.\n"
    for hit in answer.hits:
        add_source(
            ctx.reader.report.sources, WebSource(hit.url, strip_to_line(hit.title, _MAX_TITLE))
        )
    message = f"{len(answer.hits)} pages found for {query!r} by {ctx.web.endpoint.provider}."
    return f"{message} `read_webpage` reads one.\n{fence_untrusted(_format_answer(answer), 'search results')}"


def _format_answer(answer: WebSearchAnswer) -> str:
    parts = []
    if answer.text:
        text, _ = strip_hidden(answer.text.strip())
        n_more = len(text) - _MAX_ANSWER
        cut = f"\n(cut: {n_more} more characters)" if n_more > 0 else ""
        parts.append(f"{text[:_MAX_ANSWER]}{cut}\n")
    for number, hit in enumerate(answer.hits, 1):
        title = strip_to_line(hit.title, _MAX_TITLE) or "(no title)"
        excerpt = f"   {strip_to_line(hit.excerpt, _MAX_EXCERPT)}\n" if hit.excerpt else ""
        parts.append(f"{number}. {title}\n   {hit.url}\n{excerpt}")
    return "\n".join(parts)


WEB_SEARCH = Tool("web_search", ToolGroup.WEB, ToolKind.READ, WebSearch, run)
