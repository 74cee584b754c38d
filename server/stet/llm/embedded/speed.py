"""The speed of a local model on this machine: of an installed one, and before the installation."""

import asyncio
import json
import shutil
import tempfile
from contextlib import suppress

from stet.llm.embedded.embedded_model import START_SECONDS, EmbeddedModel
from stet.llm.model import Message, ModelError, Request
from stet.llm.weights.catalog import CatalogModel
from stet.llm.weights.local_model import LocalModel
from stet.system.helper_process import run_helper
from stet.system.system import System

MEASURED_SECONDS = 5.0
_PROBE = "stet.llm.embedded.speed_probe"
_ROOM = 1_000_000_000
"""The free bytes of the folder for temporary files without which no file is written there."""
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


async def measure_shape(model: CatalogModel, system: System, seconds: float) -> float | None:
    """Return how many tokens a second a model would write here, measured without its weights.

    A model of the same shape with random weights is run in a process of its own. Its file, which
    takes up to 250 MB, is removed before this returns, also on a cancel.

    Args:
        model: The model.
        system: Starts the process.
        seconds: How long this may take.

    Returns:
        The speed; None if the model can't be run, or not in time, or if the disk is nearly full.
    """
    try:
        if shutil.disk_usage(tempfile.gettempdir()).free < _ROOM:
            return None
        with tempfile.TemporaryDirectory(prefix="stet-speed-") as folder:
            task = json.dumps({"model": model.size, "folder": folder}).encode() + b"\n"
            answer = await run_helper(system, _PROBE, task, seconds)
    except (TimeoutError, OSError):
        return None
    return 1 / float(answer) if answer else None


def estimate_speed(model: CatalogModel, other: CatalogModel, measured: float) -> float:
    """Return how many tokens a second a model would write, from the measured speed of another."""
    return measured * model.tokens_per_second / other.tokens_per_second
