"""`stet ask` with servers without tool calls: the request is repeated in words, with one notice."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.openai_server import OpenAIServer, Reply, error, say
from tests.support.shell import Shell

EDIT = '<tool_call>\n{"name": "edit_file", "arguments": {"file": "a.txt", "old_text": "two", "new_text": "2"}}\n</tool_call>'
DONE = '<tool_call>\n{"name": "done", "arguments": {"summary": "Done."}}\n</tool_call>'
REFUSALS = {
    "openai, by its variable": error(400, "This model does not support tools"),
    "openai, by the settings": error(400, "Unrecognized request argument supplied: tools"),
    "azure": error(404, "Unrecognized request argument supplied: tools"),
    "llamacpp": error(500, "tools param requires --jinja flag"),
    "vllm": error(400, '"auto" tool choice requires --enable-auto-tool-choice to be set'),
    "lmstudio": Reply(
        status=400, body={"error": 'Error rendering prompt with jinja template: "x".'}
    ),
    "groq": Reply(status=422, body={"detail": [{"loc": ["body", "tools"], "msg": "extra fields"}]}),
    "auto": Reply(status=400, body="tools are not supported", content_type="text/plain"),
}


def config(name: str, base_url: str) -> dict[str, Any]:
    """Return the settings for a provider at `base_url`."""
    if name == "openai, by its variable":
        return {"name": "m"}
    provider = name.split(",", maxsplit=1)[0]
    return {"provider": provider, "baseUrl": base_url, "name": "m", "apiVersion": "2024-10-21"}


def configured(tmp_path: Path, name: str, base_url: str) -> Shell:
    """Make a shell whose user has set that address."""
    shell = Shell.at(tmp_path)
    shell.write("a.txt", "one\ntwo\n")
    keys = {f"{key}_API_KEY": "k" for key in ("OPENAI", "AZURE_OPENAI", "GROQ")}
    shell.env |= {**keys, "no_proxy": "*"}
    if "variable" in name:
        shell.env["OPENAI_BASE_URL"] = base_url
    folder = Path(shell.env["XDG_CONFIG_HOME"]) / "stet"
    folder.mkdir(parents=True)
    lines = [f"{key} = {json.dumps(value)}" for key, value in config(name, base_url).items()]
    (folder / "config.toml").write_text("\n".join(["[model]", *lines]))
    return shell


@pytest.mark.parametrize("name", REFUSALS)
async def test_request_is_repeated_in_the_text_protocol_and_reported_once(
    tmp_path: Path, name: str
) -> None:
    async with OpenAIServer([REFUSALS[name], say(EDIT), say(DONE)]) as server:
        shell = configured(tmp_path, name, server.base_url)
        done = await asyncio.to_thread(
            shell.run, "ask", "Make it a digit", "--file", "a.txt", "--accept", "all"
        )
    assert done.returncode == 0, done.stderr
    assert (shell.folder / "a.txt").read_text() == "one\n2\n"
    assert ["tools" in asked.body for asked in server.requests] == [True, False, False]
    assert (done.stdout + done.stderr).count("Tools are described as text") == 1


async def test_explicit_native_tool_calls_are_obeyed(tmp_path: Path) -> None:
    async with OpenAIServer([REFUSALS["openai, by the settings"], say(EDIT)]) as server:
        shell = configured(tmp_path, "openai, by the settings", server.base_url)
        file = Path(shell.env["XDG_CONFIG_HOME"]) / "stet" / "config.toml"
        file.write_text(f'{file.read_text()}\ntoolCalls = "native"\n')
        done = await asyncio.to_thread(shell.run, "ask", "Go", "--file", "a.txt")
    assert done.returncode == 1
    assert "Unrecognized request argument supplied: tools" in done.stderr
    assert 'set model.toolCalls to "text"' in done.stderr
    assert len(server.requests) == 1
