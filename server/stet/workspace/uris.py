"""Names of documents: URIs as editors write them, and their paths.

Editors spell one document in several ways (`file:///c%3A/a`, `file:///C:/a`). Inside Stet a
document is found by its `canonical` key; URIs sent to an editor always have the editor's own
spelling. Nothing here reads the disk, so a link and its target stay two documents.
"""

import os
import posixpath
import re
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, quote_from_bytes, unquote_to_bytes

TRACKED_SCHEMES = frozenset({"file", "untitled"})
"""Documents of other schemes (`git:`, previews, notebook cells) are neither tracked nor shown."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_HALF = re.compile("[\ud800-\udfff]")
_DRIVE = re.compile(rb"/[A-Za-z]:(?=/|$)")


def scheme_of(uri: str) -> str:
    """Return the scheme of `uri` in lower case; '' if there is no scheme."""
    found = _SCHEME.match(uri)
    return found.group(1).lower() if found else ""


def is_tracked(uri: str) -> bool:
    """Return whether documents of this scheme are tracked."""
    return scheme_of(uri) in TRACKED_SCHEMES


@lru_cache(maxsize=4096)
def canonical(uri: str) -> str:
    """Return the one key of all spellings of `uri`. Percent-encoding, drive case and dot segments
    are folded.

    Decoding happens once, so `a%2541` and `a%41` stay two documents. The key is a URI and its own
    key, and can be written as UTF-8: lone surrogates are percent-encoded.
    """
    scheme = scheme_of(uri)
    if scheme == "file":
        host, path = _host_and_path(uri)
        folded = _DRIVE.sub(lambda drive: drive.group().lower(), path)
        return f"file://{_whole(host)}{quote_from_bytes(folded)}"
    if scheme == "untitled":
        return f"untitled:{quote_from_bytes(_decoded(uri[len(scheme) + 1 :]))}"
    return _whole(f"{scheme}{uri[len(scheme) :]}")


@lru_cache(maxsize=4096)
def path_of(uri: str) -> Path | None:
    """Return the absolute path of a `file:` document on this machine; None for every other URI."""
    if scheme_of(uri) != "file":
        return None
    host, path = _host_and_path(uri)
    if b"\0" in path:
        return None
    windows = os.name == "nt"
    if host and not windows:  # another machine's file
        return None
    if windows:
        path = b"//" + _whole(host).encode() + path if host else path.lstrip(b"/")
    found = Path(os.fsdecode(path))
    return found if found.is_absolute() else None


def uri_of(path: Path) -> str:
    """Return the `file:` URI of an absolute path.

    Raises:
        ValueError: If `path` is relative.
    """
    return path.as_uri()


def untitled_name(uri: str) -> str:
    """Return a person's name for an `untitled:` document: the decoded part after the colon."""
    return _decoded(uri.split(":", 1)[1]).decode("utf-8", "replace")


def _host_and_path(uri: str) -> tuple[str, bytes]:
    """Return host ('' for this machine) and decoded absolute path of a `file:` URI, dot segments
    removed.

    A `?` or `#` that a client forgot to encode is taken as part of the name: documents have neither
    query nor fragment.
    """
    rest = uri[len("file:") :]
    host = ""
    if rest.startswith("//"):
        host, slash, rest = rest[2:].partition("/")
        rest = slash + rest
    host = "" if host.lower() == "localhost" else host.lower()
    path = posixpath.normpath(b"/" + _decoded(rest))
    return host, b"/" + path.lstrip(b"/")


def _whole(text: str) -> str:
    """Return `text` with lone surrogates percent-encoded."""
    return _HALF.sub(lambda half: quote(half.group(), errors="surrogatepass"), text)


def _decoded(text: str) -> bytes:
    """Return the bytes that a percent-encoded text represents. A lone surrogate stays a lone
    surrogate.
    """
    return unquote_to_bytes(text.encode("utf-8", "surrogatepass"))
