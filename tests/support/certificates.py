"""Certificates made for one test: the repository holds no key."""

import ssl
from datetime import UTC, datetime
from pathlib import Path

import trustme

EXPIRED = datetime(2020, 2, 1, tzinfo=UTC)


def server_side(name: str, authority: Path, *, expires: datetime | None = None) -> ssl.SSLContext:
    """Make the TLS context of a server called `name`, whose clients trust the file `authority`."""
    issuer = trustme.CA()
    issuer.cert_pem.write_to_path(str(authority))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issuer.issue_cert(name, not_after=expires).configure_cert(context)
    return context
