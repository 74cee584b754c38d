"""Proposals without a model: the server with `test.propose`, and a function that calls it."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from tests.support.editor import FakeEditor
from tests.support.editor_session import WAIT_SECONDS

PROPOSING_SERVER = (sys.executable, "-I", str(Path(__file__).with_name("proposing_server.py")))
HURRIED_SERVER = (*PROPOSING_SERVER, "--hurried")
FULL_SERVER = (*PROPOSING_SERVER, "--full")
IMPATIENT_SERVER = (*PROPOSING_SERVER, "--impatient")


async def propose(editor: FakeEditor, *specs: dict[str, Any]) -> list[str]:
    """Propose hunks (`proposing_server.propose` describes `specs`); return their ids."""
    async with asyncio.timeout(WAIT_SECONDS):
        # Like a turn, wait until the state of an earlier run is loaded.
        while not (await editor.command("stet.status"))["ready"]:
            pass
    answer = await editor.command("test.propose", *specs)
    return list(answer["hunks"])
