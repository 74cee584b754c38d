"""Where the turns' model comes from: chosen once, opened once, until the settings change."""

import asyncio

from stet.llm.choose import Choice, choose, open_model
from stet.llm.errors import NoModel
from stet.llm.model import Model
from stet.settings.values import ModelSettings
from stet.system.system import System


class ModelSource:
    """Owns the open model; touched on the event loop only."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._settings: ModelSettings | None = None
        self._model: Model | None = None
        self._lock = asyncio.Lock()
        self.choice: Choice | None = None

    async def get(self, settings: ModelSettings) -> Model:
        """The model for these settings.

        Raises:
            ModelError: If there is none, with the sentence that tells how to get one.
        """
        async with self._lock:
            if self._model is None or self._settings != settings:
                await self.close()
                self.choice = await choose(settings, self._system)
                self._model = await open_model(self.choice, settings, self._system)
                self._settings = settings
            return self._model

    async def warm(self, settings: ModelSettings) -> None:
        """Do what the first turn would have to wait for, if there is a model."""
        try:
            model = await self.get(settings)
        except NoModel:
            return  # the first turn will say so
        await model.warm()

    async def close(self) -> None:
        """Let go of connections and child processes."""
        model, self._model = self._model, None
        if model is not None:
            await model.close()
