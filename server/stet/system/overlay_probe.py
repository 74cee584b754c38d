"""Whether this system isolates programs."""

import asyncio
import tempfile
from pathlib import Path

from stet.system.isolated_program import IsolationLayers, layers_fault
from stet.system.overlay import Overlay
from stet.system.system import System

_LAYERS = ("folder", "seed", "upper", "work")


async def isolation_fault(system: System) -> str:
    """Return why programs can't be isolated here, or "" if they can."""
    try:
        base = await asyncio.to_thread(_make_layers, system)
    except OSError as error:
        return f"the check failed: {error}"
    with base:
        folder = system.real_path(Path(base.name))
        overlay = Overlay(*(folder / name for name in _LAYERS))
        return await layers_fault(system, IsolationLayers([overlay], folder / "hidden", "probe"))


def _make_layers(system: System) -> "tempfile.TemporaryDirectory[str]":
    """Create empty layers. Blocks on the disk."""
    base = tempfile.TemporaryDirectory(dir=system.cache_folder(), prefix="overlay-")
    for name in (*_LAYERS, "hidden"):
        Path(base.name, name).mkdir()
    return base
