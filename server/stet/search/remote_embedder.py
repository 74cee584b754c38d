"""Vectors from an endpoint, for the process of the index, which has no network access."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from stet.search.index_process import IndexProcess
from stet.settings.values import SearchSettings

log = logging.getLogger(__name__)

QUERY_SECONDS = 5.0
"""The time to wait for the vector of a question before the search uses words alone."""
RETRY_SECONDS = 60.0
"""The delay before an endpoint that returned no vectors is asked again."""
PLAIN = "text"
"""A text that every working endpoint can embed."""

_EmbeddedTexts = list[list[object]]
"""Pairs of the hash of a text and its vector, or None if the endpoint has no vector for it."""


class VectorsUnavailable(Exception):
    """There are no vectors; the message says why, and what to do."""


class VectorSource(Protocol):
    """An endpoint that embeds texts."""

    def name_of(self, settings: SearchSettings) -> str:
        """Return a name that identifies the kind of vectors; "" if the settings ask for none."""
        ...

    async def embed(
        self, texts: Sequence[str], settings: SearchSettings
    ) -> Sequence[Sequence[float]]:
        """Return a vector for each text, in order.

        Raises:
            VectorsUnavailable: If there are no vectors now.
        """
        ...


class RemoteEmbedder:
    """The embedding of questions and passages by an endpoint; owned by the indexer."""

    def __init__(self, endpoint: VectorSource | None, notify: Callable[[str], None]) -> None:
        """Create the embedder; `notify` shows a message to the user."""
        self._endpoint = endpoint
        self._notify = notify
        self._warned: set[str] = set()

    def name(self, settings: SearchSettings) -> str:
        """Return the name of the endpoint's vectors; "" if the settings name no endpoint."""
        return "" if self._endpoint is None else self._endpoint.name_of(settings)

    async def embed_query(self, text: str, settings: SearchSettings) -> list[float] | None:
        """Return the vector of a question; None without an endpoint, or if the endpoint fails."""
        if self._endpoint is None or not self.name(settings):
            return None
        try:
            async with asyncio.timeout(QUERY_SECONDS):
                (vector,) = await self._vectors([text], settings)
        except (TimeoutError, VectorsUnavailable) as fault:
            # The text of the error may quote the question.
            log.warning("a query is searched by words only: %s", type(fault).__name__)
            log.debug("there were no vectors: %s", fault)
            return None
        return list(vector)

    async def embed_texts(
        self, process: IndexProcess, items: Sequence[tuple[str, str]], settings: SearchSettings
    ) -> None:
        """Embed texts of the process and send the vectors to it. It then sends further texts."""
        embedded: _EmbeddedTexts = []
        try:
            await self._fill(embedded, items, settings)
        except VectorsUnavailable as fault:
            if str(fault) not in self._warned:
                self._warned.add(str(fault))
                self._notify(f"Stet: search uses words only: {fault}.")
            await asyncio.sleep(RETRY_SECONDS)
        await process.send({"do": "vectors", "items": embedded})

    async def _fill(
        self, embedded: _EmbeddedTexts, items: Sequence[tuple[str, str]], settings: SearchSettings
    ) -> None:
        """Add the endpoint's vectors for `items` to `embedded`; in parts if necessary.

        Raises:
            VectorsUnavailable: If the endpoint embeds no text at present. `embedded` has the
                vectors that were received before.
        """
        try:
            vectors = await self._vectors([text for _, text in items], settings)
        except VectorsUnavailable as fault:
            await self._vectors([PLAIN], settings)  # raises if the fault is not in these texts
            if len(items) == 1:
                # The text of the error may quote the passage.
                log.warning("a passage goes without its meaning: the endpoint has no vector for it")
                log.debug("there was no vector: %s", fault)
                embedded.append([items[0][0], None])
                return
            half = len(items) // 2
            await self._fill(embedded, items[:half], settings)
            await self._fill(embedded, items[half:], settings)
        else:
            pairs = zip(items, vectors, strict=False)
            embedded += [[digest, list(vector)] for (digest, _), vector in pairs]

    async def _vectors(
        self, texts: Sequence[str], settings: SearchSettings
    ) -> Sequence[Sequence[float]]:
        """Return the vectors from the endpoint.

        Raises:
            VectorsUnavailable: If there is no answer, or an answer without vectors.
        """
        assert self._endpoint is not None, "only where there is one anybody asks"
        return await self._endpoint.embed(texts, settings)
