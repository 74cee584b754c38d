"""Joins the search index, which reaches no network, to the endpoint that the settings name."""

import asyncio
from collections import Counter
from collections.abc import Sequence

from stet.privacy.redactor import RedactedText, Redactor
from stet.privacy.request_log import Recipient, RequestRecord
from stet.search.vector_source import VectorsUnavailable
from stet.settings.values import SearchSettings
from stet.system.system import System
from stet.workspace.workspace import Workspace


class EmbeddingPort:
    """An `VectorSource` by way of `stet.llm`."""

    def __init__(self, system: System, workspace: Workspace) -> None:
        """`system` tells the keys, `workspace` what may be sent, and keeps what was."""
        self._system = system
        self._workspace = workspace

    def name_of(self, settings: SearchSettings) -> str:
        """See `VectorSource.name_of`."""
        if settings.embeddings != "endpoint":
            return ""
        from stet.llm.embeddings import embedding_target  # late: most never ask one

        return " ".join(embedding_target(settings, self._system.environ()))

    async def embed(
        self, texts: Sequence[str], settings: SearchSettings
    ) -> Sequence[Sequence[float]]:
        """See `VectorSource.embed`."""
        from stet.llm.embeddings import EmbeddingError, embed, embedding_target  # late: as above
        from stet.llm.model_endpoint import host_of

        is_redacting = self._workspace.settings.privacy.redact_secrets
        kinds: Counter[str] = Counter()
        if is_redacting:
            # Pieces of files: that one is of a private key can't be seen by its beginning.
            vectors = await asyncio.to_thread(_redact_texts, self._workspace.redactor, texts)
            texts = [one.text for one in vectors]
            for text in vectors:
                kinds.update(text.kinds)
        base_url, model = embedding_target(settings, self._system.environ())
        size = sum(map(len, texts))
        sending = RequestRecord(
            self._system.now(),
            Recipient.EMBEDDINGS,
            host_of(base_url),
            model,
            parts=(f"{len(texts)} passages or questions of a search",),
            characters=size,
            tokens=size // 4,
            kinds=tuple(sorted(kinds.items())),
            is_open=not is_redacting,
        )
        self._workspace.request_log.add(sending)
        try:
            return await embed(texts, settings, self._system)
        except EmbeddingError as fault:
            raise VectorsUnavailable(str(fault)) from fault


def _redact_texts(redactor: Redactor, texts: Sequence[str]) -> list[RedactedText]:
    return [redactor.redact(text, wrapped=True) for text in texts]
