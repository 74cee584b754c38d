"""The model of the turns, which is selected and opened once and again when the settings change.

`TracedModel` logs the requests to a model and its answers (`log.traceModel`).
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from itertools import takewhile
from operator import eq

from stet.agent.rewriting.rewrite_passage import RewriteForm
from stet.llm.embedded.model_daemons import ModelDaemons
from stet.llm.model import (
    Completion,
    Message,
    Model,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    ModelWrapper,
    NoModel,
    Request,
    Sink,
    ignore,
)
from stet.llm.model_profiles import FULL_PROFILE, ModelProfile
from stet.llm.model_selection import ModelChoice, open_model, select_model
from stet.settings.values import ModelSettings
from stet.system.system import System

Tracer = Callable[[], Callable[[str], None] | None]
"""Returns the blocking function that writes a trace, or None if no trace is requested."""


class TracedModel(ModelWrapper):
    """A model that writes each request and answer to a trace, without messages already written.

    It is wrapped by the model that redacts secrets, so the trace shows the text that is sent.

    Args:
        inner: The model.
        write: Takes the text of a request or an answer; called in a worker thread.
    """

    def __init__(self, inner: Model, write: Callable[[str], None]) -> None:
        super().__init__(inner)
        self._write = write
        self._sent: tuple[Message, ...] = ()

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Ask; see `Model.complete`.

        Raises:
            ModelError: As the inner model does.
        """
        sent, self._sent = self._sent, request.messages
        who = f"{self.provider} {self.name}"
        await asyncio.to_thread(lambda: self._write(f"to {who}: {_format_request(request, sent)}"))
        try:
            completion = await self.inner.complete(request, on_text, on_wait)
        except ModelError as error:
            reason = f"{type(error).__name__}: {error}"
            await asyncio.to_thread(self._write, f"no answer from {who}: {reason}")
            raise
        await asyncio.to_thread(lambda: self._write(f"from {who}: {_json(asdict(completion))}"))
        return completion


def _format_request(request: Request, sent: tuple[Message, ...]) -> str:
    n_same = sum(1 for _ in takewhile(bool, map(eq, sent, request.messages)))
    return _json(
        {
            "messages as before": n_same,
            "messages": [asdict(message) for message in request.messages[n_same:]],
            "tools": [one.name for one in request.tools],
            "max_tokens": request.max_tokens,
            "grammar": request.grammar,
        }
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


_UNUSABLE = (NoModel, ModelUnavailable, ModelTimeout, ModelRefused)
"""Errors which mean that no model answers; after other errors, another turn may succeed."""


class _ObservedModel(ModelWrapper):
    """A model that records whether it answers.

    Args:
        inner: The model.
        note: Takes the reason why the model does not answer, as a sentence; "" if it answers.
    """

    def __init__(self, inner: Model, note: Callable[[str], None]) -> None:
        super().__init__(inner)
        self._note = note

    async def complete(self, request: Request, on_text: Sink, on_wait: Sink = ignore) -> Completion:
        """Ask; see `Model.complete`.

        Raises:
            ModelError: As the inner model does.
        """

        def note_wait(reason: str) -> None:
            self._note(reason)
            on_wait(reason)

        try:
            completion = await self.inner.complete(request, on_text, note_wait)
        except ModelError as error:
            self._note(str(error) if isinstance(error, _UNUSABLE) else "")
            raise
        self._note("")
        return completion


@dataclass(slots=True)
class _OpenModel:
    """A model, the settings it was opened for, and the number of its users."""

    settings: ModelSettings
    choice: ModelChoice
    model: Model
    n_users: int = 0


class ModelSource:
    """The owner of the open model; used on the event loop only.

    Attributes:
        problem: Why no model answered the latest turn, as a sentence; "" if one answered, or before
            the first turn.
    """

    def __init__(
        self,
        system: System,
        tracer: Tracer = lambda: None,
        daemons: ModelDaemons | None = None,
    ) -> None:
        """Create the source.

        Args:
            system: The access to the machine.
            tracer: Returns the function that writes requests to a trace.
            daemons: The model daemons that an embedded model uses, so that it stays loaded after
                this process; None for no daemon.
        """
        self._system = system
        self._daemons = daemons
        self._tracer = tracer
        self._opened: _OpenModel | None = None
        self.problem = ""
        self._lock = asyncio.Lock()

    @property
    def choice(self) -> ModelChoice | None:
        """The model in use and the reason of its choice; None before the first turn."""
        return self._opened.choice if self._opened else None

    @property
    def obeys_grammar(self) -> bool:
        """Whether the model in use obeys grammars; see `Model`."""
        return self._opened is not None and self._opened.model.obeys_grammar

    @property
    def is_tiny(self) -> bool:
        """Whether the model in use is a tiny one; see `Model`."""
        return self._opened is not None and self._opened.model.is_tiny

    @property
    def rewrite_form(self) -> RewriteForm:
        """How much of a rewrite the model in use can do at once."""
        if self.is_tiny:
            return RewriteForm.TINY
        return RewriteForm.FUNCTION if self.profile.edits == "blocks" else RewriteForm.FULL

    @property
    def profile(self) -> ModelProfile:
        """How the model in use is asked."""
        return self._opened.choice.profile if self._opened else FULL_PROFILE

    @property
    def window(self) -> int | None:
        """The tokens that the model in use can read; None if the number or the model is unknown."""
        return self._opened.model.context_tokens if self._opened else None

    @asynccontextmanager
    async def use(self, settings: ModelSettings, *, is_turn: bool = True) -> AsyncIterator[Model]:
        """Yield the model for these settings, kept open for the duration of the block.

        Args:
            settings: The settings that select the model.
            is_turn: Whether a turn needs the model; only then does a failure set `problem`.

        Raises:
            ModelError: If there is no model; the text says how to get one.
        """
        try:
            opened = await self._open(settings)
        except ModelError as error:
            self.problem = str(error) if is_turn else self.problem
            raise
        opened.n_users += 1
        try:
            write = self._tracer()
            model = opened.model if write is None else TracedModel(opened.model, write)
            yield _ObservedModel(model, lambda problem: self._note_problem(opened, problem))
        finally:
            opened.n_users -= 1
            # The settings have changed: the last user of the old model closes it.
            if opened is not self._opened and not opened.n_users:
                await opened.model.close()

    def _note_problem(self, opened: _OpenModel, problem: str) -> None:
        """Store why a model does not answer, unless the settings have changed."""
        if opened is self._opened:
            self.problem = problem

    async def warm(self, settings: ModelSettings) -> None:
        """Prepare the model in advance, if there is one, so that the first turn need not wait."""
        try:
            async with self.use(settings, is_turn=False) as model:
                await model.warm()
        except NoModel:
            return  # the first turn reports it

    async def close(self) -> None:
        """Close the model with its connections and processes; a model in use is closed later."""
        opened, self._opened = self._opened, None
        if opened is not None and not opened.n_users:
            await opened.model.close()

    async def _open(self, settings: ModelSettings) -> _OpenModel:
        async with self._lock:
            opened = self._opened
            if opened and opened.settings == settings and not opened.choice.awaits_server:
                return opened
            if opened and opened.settings != settings:
                await self.close()
            choice = await select_model(settings, self._system, self._daemons)
            if self._opened and self._opened.choice == choice:
                return self._opened  # the server still does not report its model
            await self.close()
            model = await open_model(choice, self._system, self._daemons)
            self._opened = _OpenModel(settings, choice, model)
            self.problem = ""
            return self._opened
