"""Looks at a server's address where it is read, so that a slip is reported before it is needed."""

from urllib.parse import urlsplit

_PATHS = ("/chat/completions", "/completions", "/embeddings", "/models")


def fault_of_url(url: str) -> str:
    """Return what is wrong with a `baseUrl` and what to write instead; "" for nothing."""
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "it is no address: write one such as 'http://127.0.0.1:11434/v1'"
    if not url.isprintable() or " " in url:
        return "it has a blank or a character that can't be seen: leave that out"
    if parts.scheme not in {"http", "https"} or not host:
        return "it is no http address: write one such as 'http://127.0.0.1:11434/v1'"
    if parts.query or parts.fragment:
        return "it ends in '?' or '#' and more: leave that out"
    path = next((one for one in _PATHS if parts.path.rstrip("/").endswith(one)), "")
    return f"it ends in {path!r}, which is added: leave that out" if path else ""
