"""A page's text: read out of its bytes by a process of its own."""

import json
from dataclasses import dataclass
from typing import Any

from stet.system.helper_process import run_helper
from stet.system.system import System
from stet.web.fetched import Fetched
from stet.web.web_address import WebError

SECONDS = 20.0
MAX_UNPACKED = 10_000_000
"""Bytes."""


@dataclass(frozen=True, slots=True)
class WebPage:
    """What a page says.

    Attributes:
        url: Where it was in the end.
        title: What it calls itself; "" where it does not.
        text: Its readable text, as Markdown where it is HTML; without hidden characters.
        n_hidden: How many hidden characters were taken out.
        n_left_out: How many characters behind the text were left out, because it is so long.
    """

    url: str
    title: str
    text: str
    n_hidden: int = 0
    n_left_out: int = 0


async def read_page(fetched: Fetched, system: System) -> WebPage:
    """Return the text of a page.

    Raises:
        WebError: If there is none, or it takes too much.
    """
    url = fetched.address.url
    asked = {
        "kind": fetched.kind,
        "charset": fetched.charset,
        "packed": fetched.is_packed,
        "url": url,
        "size": MAX_UNPACKED,
    }
    answer = await _run_reader(json.dumps(asked).encode() + b"\n" + fetched.body, url, system)
    if "error" in answer:
        raise WebError(f"{url} can't be read: {answer['error']}.")
    page = WebPage(url, answer["title"], answer["text"], answer["hidden"], answer["left_out"])
    if not page.text.strip():
        raise WebError(f"{url} holds no readable text; scripts may build it in a browser.")
    return page


async def _run_reader(task: bytes, url: str, system: System) -> dict[str, Any]:
    """Return the answer of the child process.

    Raises:
        WebError: If it does not.
    """
    try:
        output = await run_helper(system, "stet.web.page_helper", task, SECONDS)
    except TimeoutError as error:
        raise WebError(f"{url} takes more than {SECONDS:g} s to read.") from error
    try:
        answer = json.loads(output)
    except ValueError as error:
        raise WebError(f"{url} can't be read: it takes too much memory or time.") from error
    assert isinstance(answer, dict)
    return answer
