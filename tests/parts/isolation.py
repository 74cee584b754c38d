"""Whether this system lets a user isolate programs (`stet run`)."""

import asyncio
from functools import cache

from stet.system.overlay_probe import isolation_fault
from stet.system.system import System
from tests.parts.kept import MissingPart


@cache
def isolation() -> None:
    """Return if programs can be isolated.

    Raises:
        MissingPart: If the system does not permit it.
    """
    if fault := asyncio.run(isolation_fault(System())):
        raise MissingPart(f"no isolation: {fault}")
