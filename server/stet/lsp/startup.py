"""The startup after `initialize`: read settings, restore proposals of earlier runs, import modules.

`initialize` is answered first. Then the settings are requested and checked, and modules that take
long to import (tools and their schemas, the model's client) are imported in a thread, so that the
first question does not wait for them. Until then questions and commands wait, but no other
messages.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stet.lsp.editor_client import Client
from stet.lsp.observability import Observability
from stet.lsp.routing import Readiness
from stet.system.system import System
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.agent.turn_pipeline import TurnPipeline
    from stet.llm.model_selection import ModelChoice
    from stet.settings.layers import MergedSettings
    from stet.settings.parse import Problem

log = logging.getLogger(__name__)

NOT_STARTED = "Stet could not start; see its log"
_MOST_PROBLEMS = 10
"""The most problems of settings that one message shows; another person's file may have
thousands.
"""
_MAX_PROBLEM = 500
"""The most characters of a problem in the message."""


class Startup:
    """The part of the start that is not needed to answer `initialize`.

    Attributes:
        pipeline: The pipeline of turns; None until the settings have been read and the proposals of
            earlier runs are restored.
        readiness: The queue of commands that wait for this.
    """

    def __init__(  # noqa: PLR0913 - all parts that it starts, and their ports
        self,
        workspace: Workspace,
        client: Client,
        system: System,
        observability: Observability,
        *,
        options: object,
        log_level_given: bool,
        load: "Callable[[], TurnPipeline]",
        restore: Callable[[], Awaitable[None]],
        settings_changed: Callable[[], None],
    ) -> None:
        """Create the startup; it reads nothing yet.

        Args:
            workspace: The workspace, which gets the settings.
            client: The editor, a source of settings.
            system: The access to the disk.
            observability: The crash reports and the trace, which get the settings.
            options: The `initializationOptions`, as the editor sent them.
            log_level_given: Whether the command line set the log level.
            load: A function that imports and creates the pipeline of turns; slow, called in a
                thread.
            restore: A function that restores the state of earlier runs.
            settings_changed: A function that is called after the settings have changed.
        """
        self.pipeline: TurnPipeline | None = None
        self.readiness = Readiness()
        self._options = options
        self._settings_changed = settings_changed
        self._log_level_given = log_level_given
        self._system = system
        self._workspace = workspace
        self._client = client
        self._observability = observability
        self._load = load
        self._restore = restore
        self._missing = ""
        self._editor: tuple[object, ...] = ()
        self._has_editor_settings = False
        self._in_order = asyncio.Lock()
        self._reported: set[Problem] = set()

    async def run(self) -> None:
        """Run the startup; called once, when the editor reports that it is initialized."""
        self._client.watch_configuration("stet")
        self._client.watch_files()
        values = await self._client.fetch_configuration("stet")
        self._editor = (self._options, *values)
        self._has_editor_settings = values not in ((), (None,))
        # This imports pydantic; the pipeline then imports much more.
        await self._read_settings()
        try:
            pipeline, _ = await asyncio.gather(asyncio.to_thread(self._load), self._restore())
            self.pipeline = pipeline
        except ImportError as missing:
            self._missing = str(missing)
            raise
        finally:
            # After a failure too, so that questions and commands do not wait without end.
            self.readiness.set()
        await self._observability.begin()
        await pipeline.models.warm(self._workspace.settings.model)

    async def wait_pipeline(self) -> "TurnPipeline":
        """Return the pipeline of turns, after all settings that the editor has sent are read.

        Raises:
            ImportError: If a module of the pipeline is missing.
            RuntimeError: If the startup failed for another reason.
        """
        await self.wait_settings()
        if self._missing:
            raise ImportError(self._missing)
        if self.pipeline is None:
            raise RuntimeError(NOT_STARTED)
        return self.pipeline

    @property
    def is_loaded(self) -> bool:
        """Whether the settings have been read and the proposals of earlier runs are restored."""
        return self.pipeline is not None

    @property
    def choice(self) -> "ModelChoice | None":
        """The model in use, or None before the first turn."""
        return self.pipeline.models.choice if self.pipeline else None

    @property
    def model_reason(self) -> str:
        """The reason why the latest turn had no model, or else why the model in use was chosen."""
        if self.pipeline and self.pipeline.models.problem:
            return self.pipeline.models.problem
        return self.choice.why if self.choice else "no model has been needed yet"

    async def configuration_changed(self, settings: object, *, begins: bool) -> None:
        """Replace the editor's settings by the current ones.

        Args:
            settings: All settings of the editor; missing ones get their defaults. If they are empty
                or None, they are requested.
            begins: Whether the editor sent them during the start: the options of `initialize` then
                stay valid.
        """
        await self.readiness.wait()
        async with self._in_order:
            values = await self._editor_values(settings)
            self._editor = (self._options, *values) if begins else values
            self._has_editor_settings |= not begins
            await self._read_settings()

    async def wait_settings(self) -> None:
        """Wait until the settings are in use that the editor has sent before this call."""
        await self.readiness.wait()
        async with self._in_order:
            return

    async def _editor_values(self, settings: object) -> tuple[object, ...]:
        """Return the `settings` that the editor has sent; if they are empty or None, request them.

        The earlier settings stay if the editor does not answer, or has set them at the start only.
        """
        if settings:
            return (settings,)
        if not self._client.capabilities.configuration:
            return ()  # the editor can't be asked, so it has no settings
        values = await self._client.fetch_configuration("stet")
        if values == (None,) and (settings is not None or self._has_editor_settings):
            return ()
        return self._editor if values in ((), (None,)) else values

    async def _read_settings(self) -> None:
        """Read the settings of all sources in a thread, and apply them."""

        def read() -> "MergedSettings":
            from stet.settings.layers import read_layers

            roots = [root.path for root in self._workspace.roots]
            return read_layers(self._system.read_bytes, roots, editor=self._editor)

        layers = await asyncio.to_thread(read)
        self._workspace.with_settings(layers.settings)
        self._observability.settings_changed(layers.settings)
        if not self._log_level_given:
            logging.getLogger("stet").setLevel(layers.settings.log.level.upper())
        fresh = [problem for problem in layers.problems if problem not in self._reported]
        self._reported.update(fresh)
        for problem in fresh[:_MOST_PROBLEMS]:
            # Another person may have written a project's file, so its text is not logged as a warning.
            log.warning("setting %s", problem.without_value)
            log.debug("setting %s", problem)
        if fresh:
            n_more = len(fresh) - _MOST_PROBLEMS
            problems = "; ".join(str(problem)[:_MAX_PROBLEM] for problem in fresh[:_MOST_PROBLEMS])
            more = f"; and {n_more} more (see `stet doctor`)" if n_more > 0 else ""
            self._client.show_message(f"Stet: settings: {problems}{more}", lsp.MessageType.Warning)
        self._settings_changed()
