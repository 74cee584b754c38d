"""The state of the search index, as the editor sees it."""

import asyncio
from typing import Any

from tests.support.editor import FakeEditor

WAIT_SECONDS = 60.0
"""Seconds: a hang takes longer; a slow machine builds a small index in a few seconds."""


async def settled(editor: FakeEditor) -> Any:
    """Return the index state of `stet.status`, once nothing is being built."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:  # each request is a round trip
            index = (await editor.command("stet.status"))["index"]
            if index["state"] not in ("starting", "building"):
                return index
