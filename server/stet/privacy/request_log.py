"""The log of sent requests, shown to the user in `stet.ledger`, without any of their text.

A `RequestRecord` is one request to a model, a completion model, an endpoint of embeddings, a search
API, a host or another agent. The record names files and pages, never text; the caller that creates it has replaced
secrets in names by marks (`stet.privacy.redactor`).
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

MOST = 500
"""The most records that the process keeps."""
MAX_PARTS = 60
"""The most parts of a record that are named; the rest are counted."""
MAX_PART = 200
"""The most characters of a part's name."""


class Recipient(StrEnum):
    """The kind of receiver of a request; the values are for the user."""

    MODEL = "model"
    COMPLETION = "inline completion"
    EMBEDDINGS = "embeddings"
    SEARCH = "web search"
    PAGE = "web page"
    OPENCODE = "OpenCode"
    AGENT = "agent"
    MCP = "MCP server"


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """The record of one sent request.

    Attributes:
        at: The time of sending, in seconds since the epoch.
        to: The kind of receiver.
        host: The host of the receiver, with its port; "" for this process.
        model: The name of the requested model or service, if it has a name.
        turn: The turn; "" for none.
        chat: The conversation; "" for none.
        parts: The parts that had not been sent before in this turn: files with lines, results,
            pages.
        characters: The number of characters of all text in the request.
        tokens: The approximate number of tokens.
        kinds: The number of secrets of each kind that were replaced by marks, in order of kind.
        is_open: Whether marks were disabled (`privacy.redactSecrets`).
    """

    at: float
    to: Recipient
    host: str
    model: str = ""
    turn: str = ""
    chat: str = ""
    parts: tuple[str, ...] = ()
    characters: int = 0
    tokens: int = 0
    kinds: tuple[tuple[str, int], ...] = ()
    is_open: bool = False


class RequestLog:
    """The latest requests; used on the event loop only.

    Attributes:
        persist: Saves each record beyond the process; set by the store.
    """

    def __init__(self) -> None:
        self.persist: Callable[[RequestRecord], None] = lambda _: None
        self._latest: deque[RequestRecord] = deque(maxlen=MOST)

    def add(self, sending: RequestRecord) -> None:
        """Add the record of a request that is about to be sent."""
        self._latest.append(sending)
        self.persist(sending)

    @property
    def latest(self) -> tuple[RequestRecord, ...]:
        """The records of this process, oldest first."""
        return tuple(self._latest)


def short_names(parts: list[str]) -> tuple[str, ...]:
    """Return names of parts for a record: each once, on one line, and not too many."""
    once = list(dict.fromkeys(" ".join(part.split())[:MAX_PART] for part in parts))
    if len(once) <= MAX_PARTS:
        return tuple(once)
    return (*once[:MAX_PARTS], f"and {len(once) - MAX_PARTS} more")
