"""The log of sent requests, shown to the user in `stet.ledger`, without any of their text.

A `RequestRecord` is one request to a model, an endpoint of embeddings, a search API, a host or
another agent. It names places, never text; the caller that creates a record has replaced secrets in
names by marks too (`stet.privacy.redactor`).
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

MOST = 500
"""How many are remembered in the process."""
MAX_PARTS = 60
"""Places that are named of one; the rest are counted."""
MAX_PART = 200
"""Characters of one place's name."""


class Recipient(StrEnum):
    """Who was sent something; the values are for the user."""

    MODEL = "model"
    EMBEDDINGS = "embeddings"
    SEARCH = "web search"
    PAGE = "web page"
    OPENCODE = "OpenCode"


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One request.

    Attributes:
        at: When it was sent, in seconds since the epoch.
        to: The purpose.
        host: The receiver, with its port; "" for this process.
        model: The name of the requested model or service, if it has a name.
        turn: The turn; "" for none.
        chat: The conversation; "" for none.
        parts: The parts that had not been sent before in this turn: files with lines, results,
            pages.
        characters: The number of characters of all text in it.
        tokens: The approximate number of tokens.
        kinds: How many secrets of each kind were replaced by marks, in order of the kinds.
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
        persist: Receives each request, to keep it beyond the process; set by the store.
    """

    def __init__(self) -> None:
        self.persist: Callable[[RequestRecord], None] = lambda _: None
        self._latest: deque[RequestRecord] = deque(maxlen=MOST)

    def add(self, sending: RequestRecord) -> None:
        """Note one, about to be sent."""
        self._latest.append(sending)
        self.persist(sending)

    @property
    def latest(self) -> tuple[RequestRecord, ...]:
        """Those of this process, oldest first."""
        return tuple(self._latest)


def short_names(parts: list[str]) -> tuple[str, ...]:
    """Return names of places as they are noted: each once, on one line, and not too many."""
    once = list(dict.fromkeys(" ".join(part.split())[:MAX_PART] for part in parts))
    if len(once) <= MAX_PARTS:
        return tuple(once)
    return (*once[:MAX_PARTS], f"and {len(once) - MAX_PARTS} more")
