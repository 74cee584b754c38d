"""What happens between `initialize` and readiness: settings, proposals of earlier runs, imports.

`initialize` is answered first. Then the settings are requested and checked, and modules that take long
to import (tools and their schemas, the model's client) are imported in a thread, so that the first
question does not wait for them. Until then only questions and commands wait.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from stet.lsp.editor_client import Client
from stet.lsp.observability import Observability
from stet.lsp.review_persistence import ReviewPersistence
from stet.lsp.routing import Readiness
from stet.review.ledger import ReviewLedger
from stet.search.word_search import Searcher
from stet.storage.state_store import StateStore
from stet.system.resource_limits import return_freed_memory
from stet.system.system import System
from stet.tools.editor_actions import EditorActions
from stet.workspace.workspace import Workspace

if TYPE_CHECKING:
    from stet.agent.turn_pipeline import TurnPipeline
    from stet.llm.model_selection import ModelChoice
    from stet.settings.layers import MergedSettings
    from stet.settings.parse import Problem

log = logging.getLogger(__name__)

_MOST_PROBLEMS = 10
"""Problems of settings that are shown at once; another person's file may hold thousands."""
_MAX_SAID = 500
"""Characters of one."""


class Startup:
    """Reads and imports what is not needed to answer `initialize`.

    Attributes:
        is_loaded: Whether the settings have been read and the proposals of earlier runs are back.
        readiness: Lets commands wait for that.
    """

    def __init__(  # noqa: PLR0913 - what it brings to work, and the outside it does so by
        self,
        workspace: Workspace,
        ledger: ReviewLedger,
        client: Client,
        system: System,
        keeper: ReviewPersistence,
        *,
        options: object,
        editor_actions: EditorActions,
        searcher: Searcher,
        log_level_given: bool,
        restore_chats: Callable[[], Awaitable[object]],
        operations: Observability,
        settings_changed: Callable[[], None],
    ) -> None:
        """Create the startup; it reads nothing yet.

        Args:
            workspace: Takes the settings.
            ledger: For the pipeline of turns.
            client: The editor, which has settings too.
            system: The disk.
            keeper: Restores proposals.
            options: The `initializationOptions`, as the editor sent them.
            editor_actions: What tools may have the editor do.
            searcher: Answers searches.
            log_level_given: Whether the command line set the log's level.
            restore_chats: Restores conversations, after their proposals.
            operations: Takes the settings, and traces models.
            settings_changed: Called after the settings have changed.
        """
        self.is_loaded = False
        self.readiness = Readiness()
        self._options = options
        self._settings_changed = settings_changed
        self._log_level_given = log_level_given
        self._system = system
        self._workspace = workspace
        self._ledger = ledger
        self._client = client
        self._keeper = keeper
        self._editor_actions = editor_actions
        self._searcher = searcher
        self._restore_chats = restore_chats
        self._operations = operations
        self._answerer: TurnPipeline | None = None
        self._missing = ""
        self._layers: MergedSettings | None = None
        self._editor: tuple[object, ...] = ()
        self._has_editor_settings = False
        self._in_order = asyncio.Lock()
        self._said: set[Problem] = set()

    async def run(self) -> None:
        """Run the startup; called once, when the editor reports that it is initialized."""
        self._client.watch_configuration("stet")
        self._client.watch_files()
        values = await self._client.fetch_configuration("stet")
        self._editor, self._has_editor_settings = (
            (self._options, *values),
            values not in ((), (None,)),
        )
        # Validation brings pydantic with it, the agent much more.
        self._layers = await asyncio.to_thread(self._read, self._editor)
        self._take_over(self._layers)
        try:
            answerer, _ = await asyncio.gather(asyncio.to_thread(self._load), self._restore())
            self._answerer = answerer
            self.is_loaded = True
        except ImportError as missing:
            self._missing = str(missing)
            raise
        finally:
            # After a failure too, questions and commands must not wait for ever.
            self.readiness.set()
        await self._operations.begin()
        await answerer.models.warm(self._workspace.settings.model)

    async def wait_pipeline(self) -> "TurnPipeline":
        """Return the pipeline of turns, after the settings are read, also newer settings."""
        await self.wait_settings()
        if self._missing:
            raise ImportError(self._missing)
        if self._answerer is None:
            raise RuntimeError("Stet could not start; its log says why")
        return self._answerer

    @property
    def pipeline(self) -> "TurnPipeline | None":
        """The pipeline of turns, or None before it is ready."""
        return self._answerer

    @property
    def choice(self) -> "ModelChoice | None":
        """The model in use, or None before the first turn."""
        return self._answerer.models.choice if self._answerer else None

    @property
    def model_reason(self) -> str:
        """Why the latest turn had no model, or else why the model in use was chosen."""
        if self._answerer and self._answerer.models.problem:
            return self._answerer.models.problem
        return self.choice.why if self.choice else "no turn has needed a model yet"

    async def configuration_changed(self, settings: object, *, begins: bool) -> None:
        """Replace the editor's settings by the current ones.

        Args:
            settings: All that it sets; what it has taken out has its default again. Nothing, or
                None, means: ask for them.
            begins: Whether it says so while it starts: then what it gave with `initialize` stays.
        """
        await self.readiness.wait()
        async with self._in_order:
            values = (
                (settings,)
                if settings
                else await self._ask_editor_settings(is_nothing=settings is not None)
            )
            self._editor = (self._options, *values) if begins else values
            self._has_editor_settings = self._has_editor_settings or not begins
            self._take_over(await asyncio.to_thread(self._read, self._editor))

    async def wait_settings(self) -> None:
        """Wait until the settings hold that the editor has sent before this call."""
        await self.readiness.wait()
        async with self._in_order:
            return

    async def _ask_editor_settings(self, *, is_nothing: bool) -> tuple[object, ...]:
        """Ask the editor what it has set; `is_nothing` says that it has just sent an empty object.

        What it has said before stays where it does not answer, or never set anything but at the start.
        """
        if not self._client.capabilities.configuration:
            return ()  # it has sent all there is
        values = await self._client.fetch_configuration("stet")
        if values == (None,) and (is_nothing or self._has_editor_settings):
            return ()
        return self._editor if values in ((), (None,)) else values

    async def catch_up(self, store: StateStore) -> None:
        """Load what the store could not load at the start, and let it write again."""
        await self.readiness.wait()
        await self._restore()
        await asyncio.to_thread(store.caught_up)

    async def close(self) -> None:
        """Save what outlives the server, and close the model."""
        await self._keeper.close()
        if self._answerer is not None:
            await self._answerer.models.close()

    async def _restore(self) -> None:
        await self._keeper.restore()
        await self._restore_chats()

    def _read(self, editor: Sequence[object]) -> "MergedSettings":
        from stet.settings.layers import read_layers

        roots = [root.path for root in self._workspace.roots]
        return read_layers(self._system, roots, editor=editor)

    def _load(self) -> "TurnPipeline":
        return_freed_memory()
        from stet.agent.model_source import ModelSource
        from stet.agent.turn_pipeline import TurnPipeline

        models = ModelSource(self._system, self._operations.tracer)
        return TurnPipeline(
            self._workspace, self._ledger, models, self._editor_actions, self._searcher
        )

    def _take_over(self, layers: "MergedSettings") -> None:
        self._workspace.with_settings(layers.settings)
        self._operations.settings_changed(layers.settings)
        if not self._log_level_given:
            logging.getLogger("stet").setLevel(layers.settings.log.level.upper())
        fresh = [problem for problem in layers.problems if problem not in self._said]
        self._said.update(fresh)
        for problem in fresh[:_MOST_PROBLEMS]:
            # Other people write a project's file, so its text is not logged.
            log.warning("setting %s", problem.without_value)
            log.debug("setting %s", problem)
        if fresh:
            n_more = len(fresh) - _MOST_PROBLEMS
            problems = "; ".join(str(problem)[:_MAX_SAID] for problem in fresh[:_MOST_PROBLEMS])
            more = f"; and {n_more} more: `stet doctor` tells all" if n_more > 0 else ""
            self._client.show_message(f"Stet: settings: {problems}{more}", lsp.MessageType.Warning)
        self._settings_changed()
