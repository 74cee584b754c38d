"""A model that writes a broken call as text is held to a call in the next round, where that works."""

from pathlib import Path
from typing import Any

import pytest

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.http_server import HttpRequest
from tests.support.live_turns import run
from tests.support.openai_server import OpenAIServer, Reply

BROKEN = '<tool_call>\n{"name": "read_file", "arguments": {"file": \n</tool_call>'
MODELS = {"data": [{"id": "coder-7b", "meta": {"n_ctx": 32_768, "n_params": 7_600_000_000}}]}
DONE = api.call("done", summary="Nothing to do.")


async def asked(root: Path, provider: str, *replies: Any) -> tuple[dict[str, Any], list[Any]]:
    """Run a turn; return it and the `tool_choice` of each request."""
    (root / "a.txt").write_text("one\n")
    async with OpenAIServer(replies, pages={"/v1/models": MODELS}) as server:
        model = {"provider": provider, "baseUrl": server.base_url, "name": "coder-7b"}
        env = {"no_proxy": "*"}
        async with FakeEditor.start(root, env=env, settings={"model": model}) as editor:
            turn = await run(editor, "Do it.", uri=editor.open("a.txt"))
        return turn, [one.body.get("tool_choice") for one in server.requests]


@pytest.mark.parametrize(
    ("provider", "choices"),
    [
        ("llamacpp", [None, "required", None]),
        ("vllm", [None, "required", None]),
        ("ollama", [None, None, None]),
    ],
)
async def test_round_after_a_broken_call_requires_a_call(
    tmp_path: Path, provider: str, choices: list[str | None]
) -> None:
    read = api.call("read_file", file="a.txt")
    turn, found = await asked(tmp_path, provider, api.say(BROKEN), read, DONE)
    assert (turn["state"], turn["summary"]) == ("completed", "Nothing to do."), turn["error"]
    assert found == choices


async def test_server_that_refuses_to_require_a_call_is_asked_without(tmp_path: Path) -> None:
    def refused(request: HttpRequest) -> Reply:
        assert request.body["tool_choice"] == "required"
        return api.error(400, "tool_choice: only auto is supported")

    turn, found = await asked(tmp_path, "llamacpp", api.say(BROKEN), refused, DONE)
    assert turn["state"] == "completed", turn["error"]
    assert found == [None, "required", None]
