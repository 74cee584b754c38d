"""The process that reads pages, so that a hostile page can't hang the server or fill its memory.

It reads one line of JSON, `{"kind", "charset", "packed", "url", "size"}`, then the page's bytes,
and writes `{"title", "text", "hidden", "left_out"}` or `{"error"}` as JSON. Its memory and its
processor time are limited if the system can limit them; the parent process limits the rest.
"""

import codecs
import json
import re
import sys
from typing import Any

from stet.system.resource_limits import limit_resources
from stet.text.bounded_input import InvalidContentCoding, decode
from stet.web.untrusted_text import strip_hidden, strip_to_line

MEMORY = 1_500_000_000
"""Bytes of address space."""

CPU_SECONDS = 10
MAX_TEXT = 400_000
"""The most characters of a page that are kept."""

LARGE = 1_000_000
"""The main part of longer HTML, in characters, is not searched for: that takes superlinear time."""

MAX_TITLE = 200
_META = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([a-zA-Z0-9_:.-]+)", re.IGNORECASE)


def main() -> None:
    """Read one page from standard input, and write the answer to standard output."""
    limit_resources(memory=MEMORY, cpu_seconds=CPU_SECONDS)
    request = json.loads(sys.stdin.buffer.readline())
    answer = read_task(request, sys.stdin.buffer.read())
    sys.stdout.write(json.dumps(answer))


def read_task(request: dict[str, object], body: bytes) -> dict[str, object]:
    """Return the answer to one request with a page's bytes."""
    try:
        return _read(request, body)
    except InvalidContentCoding as error:
        return {"error": f"it {error}"}
    except ModuleNotFoundError as error:
        return {
            "error": f"{error.name} is not installed; the user must install Stet with its extra `web`. "
            "Plain text, Markdown and JSON can be read without"
        }
    except (MemoryError, RecursionError):
        return {"error": "it takes too much memory"}


def _read(request: dict[str, object], body: bytes) -> dict[str, object]:
    if request["packed"]:
        limit = int(str(request["size"]))
        body = decode("gzip", body, limit)
        if len(body) > limit:
            return {"error": f"it grows to more than {limit} bytes when it is unpacked"}
    decoded = _decoded(body, str(request["charset"]), is_html=request["kind"] == "html")
    title, (text, n_hidden) = "", strip_hidden(decoded)
    if request["kind"] == "html":
        title, text = _readable(text, str(request["url"]))
        # Markup can write hidden characters as references.
        text, n_spelled = strip_hidden(text)
        n_hidden += n_spelled
    left_out = max(0, len(text) - MAX_TEXT)
    title = strip_to_line(title, MAX_TITLE)
    return {"title": title, "text": text[:MAX_TEXT], "hidden": n_hidden, "left_out": left_out}


def _decoded(body: bytes, charset: str, *, is_html: bool) -> str:
    """Decode the text by its byte order mark, the server's or the page's charset, or UTF-8."""
    if body.startswith(codecs.BOM_UTF8):
        return body.decode("utf-8-sig", "replace")
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    if not charset and is_html and (found := _META.search(body, 0, 4096)):
        charset = found[1].decode("ascii")
    try:
        is_text = codecs.lookup(charset or "utf-8")._is_text_encoding  # noqa: SLF001 - no other way
        return body.decode(charset if charset and is_text else "utf-8", "replace")
    except (LookupError, ValueError):
        return body.decode("utf-8", "replace")


def _readable(html: str, url: str) -> tuple[str, str]:
    """Return the title and the readable text of a page, as Markdown."""
    import trafilatura  # late: only for HTML, and after the limits are set

    tree = trafilatura.load_html(html)
    if tree is None:
        return "", ""
    title = tree.findtext(".//title") or ""
    if len(html) > LARGE:
        return title, _all_text(tree)
    # trafilatura treats every relative link as relative to the site's root.
    tree.make_links_absolute(url, handle_failures="ignore")
    text = trafilatura.extract(
        tree, url=url, output_format="markdown", include_links=True, include_comments=False
    )
    # A failed extraction may have changed the tree: parse the page again.
    return title, text or _all_text(trafilatura.load_html(html))


def _all_text(tree: Any) -> str:
    """Return all visible text of a page without a main part: the page is short, or all links."""
    for hidden in list(tree.iter("script", "style", "noscript", "template", "title", "svg")):
        hidden.drop_tree()
    lines = (" ".join(line.split()) for line in tree.itertext())
    return "\n".join(line for line in lines if line)


if __name__ == "__main__":
    main()
