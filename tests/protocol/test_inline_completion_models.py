"""Inline completion with llama.cpp's own server and real models."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.completion_server import complete
from tests.support.editor import FakeEditor
from tests.support.local_models import medium_model, small_model

KEY = "key-of-the-test"
RETURN = 'the area of a circle."""\n    return '
AREA = f'''\
import math


def area(radius):
    """Return {RETURN}


def circumference(radius):
    """Return the circumference of a circle."""
    return 2 * math.pi * radius
'''


@asynccontextmanager
async def llama_server(model: Path) -> AsyncIterator[int]:
    """Serve a model with llama.cpp; yield the port. The server ends with its standard input."""
    command = [sys.executable, "-I", "-m", "stet.llm.embedded.llama_server"]
    order = {"model": str(model), "key": KEY, "context": 2048, "threads": 2, "lookup": False}
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(f"{json.dumps(order)}\n".encode())
        yield int(json.loads(await process.stdout.readline())["port"])
    finally:
        process.stdin.close()
        await process.wait()


@asynccontextmanager
async def completing(folder: Path, port: int) -> AsyncIterator[FakeEditor]:
    """Start an editor whose user has completions of a server with a key on."""
    root = folder / "ws"
    root.mkdir()
    (root / "area.py").write_text(AREA)
    completion = {"enabled": True, "baseUrl": f"http://127.0.0.1:{port}/v1", "apiKeyEnv": "MY_KEY"}
    async with FakeEditor.start(
        root, client="vscode", settings={"completion": completion}, env={"MY_KEY": KEY}
    ) as editor:
        await editor.command("stet.proposals")
        editor.open("area.py")
        yield editor


@pytest.mark.slow
async def test_a_model_that_cannot_fill_in_the_middle_is_named_with_the_remedy(
    tmp_path: Path,
) -> None:
    async with (
        llama_server(small_model().path) as port,
        completing(tmp_path, port) as editor,
    ):
        for before in (RETURN, "import math"):
            assert await complete(editor, "area.py", before) == []
        [message] = editor.messages
        assert "can't fill in the middle: choose one that can" in message.message


@pytest.mark.long
async def test_a_model_that_can_writes_what_belongs_between(tmp_path: Path) -> None:
    async with (
        llama_server(medium_model().path) as port,
        completing(tmp_path, port) as editor,
    ):
        [text] = await complete(editor, "area.py", RETURN)
        assert "math.pi" in text
        assert "\n" not in text
        assert editor.messages == []
