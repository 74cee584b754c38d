"""The search index of a server, as an editor is told of it."""

import asyncio
from typing import Any

from tests.support.editor import FakeEditor

WAIT_SECONDS = 60.0
"""A hang is longer; a slow machine builds a small index in a few seconds."""


async def settled(editor: FakeEditor) -> Any:
    """The index as `stet.status` tells it, once nothing is being built."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:  # each question is a round trip
            index = (await editor.command("stet.status"))["index"]
            if index["state"] not in ("starting", "building"):
                return index
