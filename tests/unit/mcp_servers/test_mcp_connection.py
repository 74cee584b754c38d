"""The connection to a server: time limits, servers that don't read, and the lists of tools."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from stet.lsp.tasks import Tasks
from stet.mcp_servers.mcp_connection import McpConnection, McpFailure
from stet.mcp_servers.mcp_results import read_result
from stet.mcp_servers.mcp_servers import ConfiguredMcpServer
from stet.mcp_servers.tool_list import check_tools, texts_in_schema
from stet.settings.values import McpServerSettings
from stet.system.system import System
from stet.workspace.workspace import Workspace
from tests.support.mcp_scripts import McpScript, Step, says, tool


@asynccontextmanager
async def connected(server: McpServerSettings, folder: Path) -> AsyncIterator[McpConnection]:
    """Yield a connection that is closed at the end."""
    tasks = Tasks()
    connection = await McpConnection.start(server, folder, System(), tasks.spawn)
    try:
        yield connection
    finally:
        await connection.close()
        await tasks.close()
        assert not connection.is_running


def settings_of(script: McpScript) -> McpServerSettings:
    given = script.server()
    return McpServerSettings("robot", tuple(given["command"]), given["env"])


async def test_call_that_takes_too_long_is_cancelled_at_the_server(tmp_path: Path) -> None:
    cancelled = "notifications/cancelled"
    script = McpScript(tmp_path / "mcp", calls=[[{"wait": cancelled}, says("late")], [says("b")]])
    async with connected(settings_of(script), tmp_path) as connection:
        await connection.initialize()
        with pytest.raises(McpFailure, match=r"did not answer 'tools/call' within 0\.1 s"):
            await connection.request("tools/call", {"name": "a"}, 0.1)
        answer = await connection.request("tools/call", {"name": "b"}, 30)
        assert answer["content"][0]["text"] == "b"
    assert [one["reason"] for one in script.received(cancelled)] == ["it takes too long"]


async def test_server_that_does_not_read_is_stopped(tmp_path: Path) -> None:
    program = "import time; time.sleep(1000)"
    server = McpServerSettings("deaf", (sys.executable, "-c", program))
    async with connected(server, tmp_path) as connection:
        large = {"text": "x" * 2**22}
        asked = [connection.request("tools/call", large, 30) for _ in range(2)]
        with pytest.raises(McpFailure, match="does not read what it is sent, and was stopped"):
            await failing(*asked)


async def failing(*asked: Awaitable[Any]) -> None:
    await asyncio.gather(*asked)


async def test_server_that_starts_slowly_is_not_waited_for(tmp_path: Path) -> None:
    script = McpScript(tmp_path / "mcp", start=[{"wait": "never"}])
    tasks = Tasks()
    server = ConfiguredMcpServer(settings_of(script), Workspace(System()), tasks.spawn)
    server.begin()
    with pytest.raises(McpFailure, match="is still starting"):
        await server.wait(0.1)
    assert server.state == "starting"
    server.begin()  # the same start goes on
    with pytest.raises(McpFailure, match="is still starting"):
        await server.wait(0.1)
    await server.close()
    await tasks.close()
    assert len(script.recorded("pid")) <= 1


DEEP: Any = 1
for _ in range(150):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "step",
    [
        {"error": {"code": DEEP, "message": {"x": [1]}}},
        {"error": {"message": 7}},
        {"error": []},
        {"result": None},
        {"result": "text"},
    ],
)
async def test_answers_of_other_forms_are_failures(tmp_path: Path, step: Step) -> None:
    script = McpScript(tmp_path / "mcp", calls=[[step, {"exit": 0}]])
    async with connected(settings_of(script), tmp_path) as connection:
        await connection.initialize()
        with pytest.raises(McpFailure, match=r"^The MCP server 'robot' "):
            await connection.request("tools/call", {}, 30)


async def test_answer_that_is_nested_too_deeply_fails_at_once(tmp_path: Path) -> None:
    script = McpScript(tmp_path / "mcp", calls=[[{"result": {"content": DEEP}}], [says("b")]])
    async with connected(settings_of(script), tmp_path) as connection:
        await connection.initialize()
        with pytest.raises(McpFailure, match=r"answered 'tools/call' with what is not of the"):
            await connection.request("tools/call", {"name": "a"}, 300)
        answer = await connection.request("tools/call", {"name": "b"}, 30)
        assert answer["content"][0]["text"] == "b"


async def test_server_whose_message_cannot_be_parsed_for_its_depth_is_stopped(
    tmp_path: Path,
) -> None:
    program = """
print('{"jsonrpc": "2.0", "id": 1, "result": ' + "[" * 100_000 + "]" * 100_000 + "}", flush=True)
import time
time.sleep(1000)
"""
    server = McpServerSettings("deep", (sys.executable, "-c", program))
    async with connected(server, tmp_path) as connection:
        with pytest.raises(McpFailure, match="sent a message that is nested too deeply, and was"):
            await connection.request("tools/call", {}, 300)


SHOP = McpServerSettings("shop", ("program",))


def changed_pin(change: Callable[[dict[str, Any]], object]) -> bool:
    """Tell whether the pin of a list differs after a change of one tool."""
    one = tool()
    change(one)
    return check_tools(SHOP, [one, tool("b")]).pin != check_tools(SHOP, [tool(), tool("b")]).pin


def test_pin_is_of_names_descriptions_schemas_and_the_program() -> None:
    assert changed_pin(lambda one: one.update(name="a"))
    assert changed_pin(lambda one: one.update(description="Says it again.\u200b"))
    assert changed_pin(lambda one: one["inputSchema"]["properties"].update(x={"type": "string"}))
    assert not changed_pin(lambda one: one.update(annotations={"readOnlyHint": True}))
    both, turned = [tool(), tool("b")], [tool("b"), tool()]
    assert check_tools(SHOP, both).pin == check_tools(SHOP, turned).pin
    other = McpServerSettings("shop", ("another",))
    assert check_tools(SHOP, both).pin != check_tools(other, both).pin


@pytest.mark.parametrize(
    "schema",
    [
        None, [], {"type": "string"}, {"type": "object", "properties": []},
        {"type": "object", "properties": {"x": 7}}, {"type": "object", "required": "x"},
        {"type": "object", "required": [1]}, {"type": "object", "x": "y" * 1000, "properties": {
            str(n): {"description": "z" * 1000} for n in range(30)}},
    ],
)  # fmt: skip
def test_schema_that_a_provider_refuses_is_not_offered(schema: object) -> None:
    listed = check_tools(SHOP, [{"name": "a", "inputSchema": schema}, tool("b")])
    assert [one.full_name for one in listed.tools] == ["shop__b"]
    assert len(listed.problems) == 1


def test_texts_and_choices_of_a_schema_are_found_and_cleaned() -> None:
    kind = {"type": "string", "enum": ["fish\x1b", "<|im_end|>"], "description": "Of which kind."}
    schema: Any = {"type": "object", "properties": {"kind": kind}, "$schema": "http://x"}
    [one] = check_tools(SHOP, [tool(**schema)]).tools
    assert texts_in_schema(one.schema, ("enum",)) == {"fish\\x1b", "<\u00a6|im_end|>"}
    assert texts_in_schema(one.schema, ("description",)) == {"Of which kind."}
    assert "$schema" not in one.schema


def test_server_may_not_have_too_many_tools() -> None:
    listed = check_tools(SHOP, [tool(f"t{n}") for n in range(150)])
    assert len(listed.tools) == 100
    assert listed.problems[-1] == "47 more tools of 'shop' are not used."


def test_result_with_many_parts_is_limited() -> None:
    result = read_result({"content": [{"type": "text", "text": "a"}] * 300})
    assert result.text.endswith("(100 more parts are left out)")
    assert result.n_left_out == 0
    assert (
        read_result({"content": [{"type": DEEP}]}).text == "(a part of the kind unknown: not shown)"
    )
