"""Joins the search index, which reaches no network, to the endpoint that the settings name."""

from collections.abc import Sequence

from stet.index.search.endpoint import NoVectors
from stet.settings.values import SearchSettings
from stet.system.system import System


class EmbeddingPort:
    """An `EmbeddingEndpoint` by way of `stet.llm`."""

    def __init__(self, system: System) -> None:
        """`system` tells the keys."""
        self._system = system

    def name_of(self, settings: SearchSettings) -> str:
        """See `EmbeddingEndpoint.name_of`."""
        if settings.embeddings != "endpoint":
            return ""
        from stet.llm.embeddings import where  # late: most never ask one

        return " ".join(where(settings, self._system.environ()))

    async def embed(
        self, texts: Sequence[str], settings: SearchSettings
    ) -> Sequence[Sequence[float]]:
        """See `EmbeddingEndpoint.embed`."""
        from stet.llm.embeddings import NoEmbedding, embed  # late: as above

        try:
            return await embed(texts, settings, self._system)
        except NoEmbedding as fault:
            raise NoVectors(str(fault)) from fault
