"""Who embeds texts outside of this machine's index, seen from the index: the port, not the network."""

from collections.abc import Sequence
from typing import Protocol

from stet.settings.values import SearchSettings


class VectorsUnavailable(Exception):
    """There are no vectors; the message says why, and what to do."""


class VectorSource(Protocol):
    """Turns texts into vectors somewhere else."""

    def name_of(self, settings: SearchSettings) -> str:
        """Return the name of the vectors, which differs for other vectors. Return an empty string
        if the settings ask for none.
        """
        ...

    async def embed(
        self, texts: Sequence[str], settings: SearchSettings
    ) -> Sequence[Sequence[float]]:
        """Return a vector for each text, in order.

        Raises:
            VectorsUnavailable: If there are no vectors now.
        """
        ...
