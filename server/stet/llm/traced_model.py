"""What goes to a model and what comes back, written down for whoever wants to see it (`log.traceModel`)."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict

from stet.llm.model import (
    Completion,
    Message,
    Model,
    ModelError,
    ModelWrapper,
    Request,
    Sink,
    ignore,
)

Tracer = Callable[[], Callable[[str], None] | None]
"""Gives what writes, blocking; None while nobody wants a trace."""


def no_tracer() -> None:
    """Return no writer, because nothing is ever traced."""


class TracedModel(ModelWrapper):
    """A model of which each round is written down: what is new in it, not what was sent before.

    It belongs inside of what puts marks in the place of secrets: so it sees what is really sent.

    Args:
        inner: The model.
        write: Takes the text of a question or an answer; called in a worker.
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
            said = f"{type(error).__name__}: {error}"
            await asyncio.to_thread(self._write, f"no answer from {who}: {said}")
            raise
        await asyncio.to_thread(lambda: self._write(f"from {who}: {_json(asdict(completion))}"))
        return completion


def _format_request(request: Request, sent: tuple[Message, ...]) -> str:
    n_same = 0
    for old, new in zip(sent, request.messages, strict=False):
        if old != new:
            break
        n_same += 1
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
