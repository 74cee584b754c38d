"""A page as it came, and what it may cost."""

from dataclasses import dataclass

from stet.web.web_address import WebAddress


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one page may cost.

    Attributes:
        seconds: For each address on the way, all in all.
        connect: Seconds until the connection stands.
        idle: Seconds between two pieces.
        size: Bytes, as they are sent.
    """

    seconds: float = 20.0
    connect: float = 5.0
    idle: float = 10.0
    size: int = 5_000_000


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as it came.

    Attributes:
        address: Where it was in the end.
        kind: `html`, `text` or `json`.
        charset: As the server says; "": it does not.
        is_packed: Whether `body` is gzip.
        body: The bytes.
    """

    address: WebAddress
    kind: str
    charset: str
    is_packed: bool
    body: bytes
