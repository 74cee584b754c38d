"""The speed of a local model on this machine, measured in some seconds of its own writing."""

import asyncio
from contextlib import suppress

from stet.llm.embedded.embedded_model import START_SECONDS, EmbeddedModel
from stet.llm.model import Message, ModelError, Request
from stet.llm.weights.catalog import CatalogModel
from stet.llm.weights.local_model import LocalModel
from stet.system.system import System

MEASURED_SECONDS = 5.0
_REQUEST = Request((Message("user", "Tell a long story."),), grammar="root ::= [a-z ]{2000}")
"""A request whose answer is long, whatever the model."""


async def measure_speed(
    local: LocalModel, system: System, seconds: float = MEASURED_SECONDS
) -> float | None:
    """Return how many tokens a second a model writes here, or None if it can't be started.

    Args:
        local: The model.
        system: Starts its process, which ends before this returns.
        seconds: How long it writes; its start is not counted.
    """
    loop = asyncio.get_running_loop()
    moments: list[float] = []
    model = EmbeddedModel(system, local, max_tokens=10_000)
    try:
        async with asyncio.timeout(START_SECONDS) as limit:

            def note_piece(_: str) -> None:
                moments.append(loop.time())
                if len(moments) == 1:
                    limit.reschedule(loop.time() + seconds)

            with suppress(ModelError):
                await model.complete(_REQUEST, note_piece)
    except TimeoutError:
        pass  # the time is up, as planned
    finally:
        await model.close()
    if len(moments) < 2:
        return None
    return (len(moments) - 1) / (moments[-1] - moments[0])


def estimate_speed(model: CatalogModel, other: CatalogModel, measured: float) -> float:
    """Return how many tokens a second a model would write, from the measured speed of another."""
    return measured * model.tokens_per_second / other.tokens_per_second
