"""`stet mcp` with real programs: the protocol's conformance tests, MCP Inspector and Claude Code."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from stet.control.control_client import find_servers
from tests.agents.claude import run_claude
from tests.agents.review_scenario import STET, ScriptWithUser, runtime
from tests.agents.scene import Scene, texts
from tests.conftest import Part
from tests.parts import mcp_programs
from tests.parts.claude_code import claude_code
from tests.parts.npm import node
from tests.support.agent_models.script import call, say
from tests.support.editor import FakeEditor

pytestmark = pytest.mark.slow

PASSED = ("server-initialize", "ping", "tools-list", "dns-rebinding-protection")
"""The scenarios of the conformance tests that apply to Stet."""
WITHOUT = {
    "logging": ("logging-set-level", "tools-call-with-logging"),
    "completion of arguments": ("completion-complete",),
    "resources": (
        "resources-list", "resources-read-text", "resources-read-binary",
        "resources-templates-read", "resources-subscribe", "resources-unsubscribe",
    ),
    "prompts": (
        "prompts-list", "prompts-get-simple", "prompts-get-with-args",
        "prompts-get-embedded-resource", "prompts-get-with-image",
    ),
    "requests to the client": (
        "tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
    ),
    "streams that are resumed, which stdio has not": (
        "server-sse-polling", "server-sse-multiple-streams",
    ),
    "the tools of the conformance tests' example server": (
        "tools-call-simple-text", "tools-call-image", "tools-call-audio",
        "tools-call-embedded-resource", "tools-call-mixed-content", "tools-call-error",
        "tools-call-with-progress", "json-schema-2020-12",
    ),
}  # fmt: skip
"""The scenarios that don't apply, by what Stet's server does not have."""


@pytest.fixture
async def editor(scene: Scene) -> AsyncIterator[FakeEditor]:
    """Start an editor that other programs find, whose buffer of `a.txt` has an unsaved line."""
    async with FakeEditor.start(scene.workspace, env=runtime(scene)) as editor:
        editor.open("a.txt")
        editor.change("a.txt", "one\n", "one, unsaved\n")
        editor.flush()
        while not find_servers(scene.notes / "stet", str(scene.workspace)):
            await editor.command("stet.status")
        yield editor


async def output_of(*command: str, environment: dict[str, str] | None = None) -> str:
    """Run a program; return what it prints.

    Raises:
        AssertionError: If it fails.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **(environment or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        output, errors = await process.communicate()
    assert process.returncode == 0, (output + errors).decode()
    return output.decode()


async def test_each_scenario_of_the_conformance_tests_applies_or_has_a_reason(part: Part) -> None:
    program = part(mcp_programs.conformance)
    listed = await output_of(str(part(node)), str(program), "list", "--server")
    known = re.findall(r"^  - ([\w-]+)", listed, re.MULTILINE)
    reasons = [one for scenarios in WITHOUT.values() for one in scenarios]
    assert sorted(known) == sorted((*PASSED, *reasons))


async def test_conformance_tests_pass(part: Part, scene: Scene, editor: FakeEditor) -> None:
    program = part(mcp_programs.conformance)
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.mcp_http",
        str(scene.notes / "stet"), str(scene.workspace),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert server.stdout
        url = f"http://127.0.0.1:{int(await server.stdout.readline())}/mcp"
        for scenario in PASSED:
            passed = await output_of(
                str(part(node)), str(program), "server", "--url", url, "--scenario", scenario
            )
            assert "0 failed" in passed, passed
    finally:
        server.terminate()
        await server.wait()


async def test_inspector_lists_and_calls_the_tools(
    part: Part, scene: Scene, editor: FakeEditor
) -> None:
    program = part(mcp_programs.inspector)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**runtime(scene), "PATH": path, "HOME": str(scene.home)}

    async def inspect(*arguments: str) -> Any:
        variables = [
            part for name, value in runtime(scene).items() for part in ("-e", f"{name}={value}")
        ]
        printed = await output_of(
            str(part(node)), str(program), "--cli", *variables,
            str(STET), "mcp", "--root", str(scene.workspace), *arguments,
            environment=environment,
        )  # fmt: skip
        return json.loads(printed)

    listed = await inspect("--method", "tools/list")
    assert "propose_edit" in {tool["name"] for tool in listed["tools"]}
    read = await inspect(
        "--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=a.txt"
    )
    assert read["structuredContent"]["text"] == "one, unsaved\ntwo\n"


async def test_claude_proposes_over_mcp_and_waits_for_the_review(
    part: Part, scene: Scene, editor: FakeEditor
) -> None:
    """The model calls Stet's tools; those of Claude that write are off."""
    claude = part(claude_code)
    servers = {
        "mcpServers": {
            "stet": {
                "command": str(STET),
                "args": ["mcp", "--root", str(scene.workspace)],
                "env": runtime(scene),
            }
        }
    }
    config = scene.notes / "mcp.json"
    config.write_text(json.dumps(servers))

    def type_a_line() -> None:
        editor.change("a.txt", "one, unsaved\n", "one, unsaved\ntyped\n")
        editor.flush()

    def tool(name: str, **arguments: object) -> Any:
        return call(f"mcp__stet__{name}", **arguments)

    script = ScriptWithUser(
        [
            tool("read_file", path="a.txt"),
            tool("propose_edit", path="a.txt", old_text="two", new_text="2"),
            tool("propose_file", path="new.txt", content="new\n"),
            tool("wait_for_review", hunks=["h1", "h2"], timeout_seconds=60),
            say("Done."),
        ],
        type_a_line,
    )
    options = ["--mcp-config", str(config), "--strict-mcp-config", "--allowedTools", "mcp__stet"]
    options += ["--disallowedTools", "Edit,Write,NotebookEdit"]
    environment = {"ENABLE_TOOL_SEARCH": "false", **runtime(scene)}
    async with asyncio.TaskGroup() as group:
        run = group.create_task(
            run_claude(
                claude, scene.home, scene.workspace, script, *options, environment=environment
            )
        )
        while len(await editor.command("stet.proposals")) < 2:
            pass
        assert texts(scene.workspace) == {"a.txt": "one\ntwo\n"}
        await editor.command("stet.accept", {"hunk": "h1", "new": "zwei\n"})
        await editor.command("stet.reject", {"hunk": "h2", "reason": "no new file"})
        await run
    assert json.loads(script.requests[1].results[0])["text"] == "one, unsaved\ntwo\n"
    reviewed = script.requests[4].results[-1]
    assert "zwei" in reviewed
    assert "no new file" in reviewed
    assert editor.text("a.txt") == "one, unsaved\ntyped\nzwei\n"
    assert {item["author"] for item in await editor.command("stet.proposals")} == {"claude-code"}
