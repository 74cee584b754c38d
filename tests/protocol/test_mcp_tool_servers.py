"""Real MCP servers as tools of a turn: one by the SDK, and two of npm."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Part
from tests.parts.mcp_servers import mcp_server
from tests.support.editor import FakeEditor
from tests.support.live_turns import provider, run_answering
from tests.support.mcp_scripts import REPOSITORY, calling, offered, results

ONCE = "Allow once"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


async def test_server_of_the_sdk(root: Path) -> None:
    command = [sys.executable, "-m", "tests.support.mcp_sdk_server"]
    server = {"command": command, "env": {"PYTHONPATH": str(REPOSITORY)}}
    good = ("shop__price", {"fish": "cod", "kilograms": 2})
    async with (
        calling(good, ("shop__price", {"fish": 7})) as model,
        FakeEditor.start(
            root, settings={"mcpServers": {"shop": server}}, env=provider(model)
        ) as editor,
    ):
        turn = await run_answering(editor, "What is a cod?", ONCE, ONCE)
    assert turn["state"] == "completed"
    assert turn["notes"] == []
    parameters = offered(model)["shop__price"]["parameters"]
    assert parameters["required"] == ["fish"]
    first, second = results(model)
    assert json.loads("".join(first.splitlines()[1:-1])) == {"euros": 6.0}
    assert ": an error of the MCP server shop. " in second


async def test_server_everything(root: Path, part: Part) -> None:
    server = {"command": part(lambda: mcp_server("server-everything"))}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("everything__echo", {"message": "fish"}),
        ("everything__get-tiny-image", {}),
        ("everything__get-structured-content", {"location": "Chicago"}),
        ("everything__get-env", {}),
    ]
    async with (
        calling(*calls) as model,
        FakeEditor.start(
            root, settings={"mcpServers": {"everything": server}}, env=provider(model)
        ) as editor,
    ):
        turn = await run_answering(editor, "Try all.", *[ONCE] * len(calls))
    assert turn["state"] == "completed"
    assert turn["notes"] == []
    echo, image, structured, environment = results(model)
    assert "Echo: fish" in echo
    assert "(image of type image/png, " in image
    assert '"temperature"' in structured
    assert "test-key" not in environment
    assert "OPENAI_BASE_URL" not in environment


async def test_server_filesystem_within_its_folder(root: Path, tmp_path: Path, part: Part) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "b.md").write_text("Fry the fish.\n")
    command = [*part(lambda: mcp_server("server-filesystem")), str(notes)]
    settings = {"mcpServers": {"fs": {"command": command, "tools": ["read_text_file"]}}}
    calls = [
        ("fs__read_text_file", {"path": str(notes / "b.md")}),
        ("fs__read_text_file", {"path": str(root / "a.txt")}),
        ("fs__write_file", {"path": str(notes / "b.md"), "content": "No."}),
    ]
    async with (
        calling(*calls) as model,
        FakeEditor.start(root, settings=settings, env=provider(model)) as editor,
    ):
        await run_answering(editor, "Read my notes.", ONCE, ONCE)
    assert list(offered(model)) == ["fs__read_text_file"]
    read, outside, written = results(model)
    assert "Fry the fish." in read
    assert ": an error of the MCP server fs. " in outside
    assert written.startswith("Error: There is no tool 'fs__write_file'")
    assert (notes / "b.md").read_text() == "Fry the fish.\n"
