"""The model in `stet.status`: its name, or the reason for its absence."""

import socket
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.live_turns import done, run, scripted
from tests.support.openai_server import End, OpenAIServer, Reply, delta, error, say
from tests.support.proposals import IMPATIENT_SERVER


async def test_status_after_a_turn_without_a_model_holds_the_reason(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    missing = {"STET_SCRIPTED_MODEL": str(tmp_path / "script.json")}
    async with FakeEditor.start(root, env=missing) as editor:
        before = await editor.command("stet.status")
        assert (before["model"], before["why"]) == (None, "no model has been needed yet")
        turn = await run(editor, "Hello", uri=editor.open("a.txt"))
        assert turn["state"] == "failed"
        after = await editor.command("stet.status")
        assert (after["model"], after["why"]) == (None, turn["error"])
        scripted(tmp_path, done())
        await run(editor, "Hello again", uri=editor.uri("a.txt"))
        now = await editor.command("stet.status")
        assert (now["provider"], now["why"] != turn["error"]) == ("scripted", True)


def free_address() -> str:
    """Return an address at which nothing listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}/v1"


def changed(editor: FakeEditor, model: dict[str, Any]) -> None:
    """Change the settings of the model as the user."""
    params = lsp.DidChangeConfigurationParams({"stet": {"model": model}})
    editor.workspace_did_change_configuration(params)


@pytest.mark.parametrize(
    ("model", "is_chosen"),
    [
        ({}, False),
        ({"provider": "openai"}, False),
        ({"provider": "local"}, False),
        ({"baseUrl": "localhost:11434"}, False),
        ({"baseUrl": free_address(), "name": "m"}, True),
        ({"baseUrl": "http://no-such-host.invalid/v1", "name": "m"}, True),
    ],
)
async def test_the_reason_of_a_turn_without_a_model_goes_with_a_turn_that_has_one(
    tmp_path: Path, model: dict[str, Any], is_chosen: bool
) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    async with (
        OpenAIServer(replies=[say("Hi"), say("Hi")]) as server,
        FakeEditor.start(
            tmp_path,
            client="kakoune",
            env={"no_proxy": "*"},
            options={"stet": {"model": model}},
            command=IMPATIENT_SERVER,
        ) as editor,
    ):
        uri = editor.open("a.txt")
        for number in range(2):
            failed = await run(editor, f"Fail {number}", uri=uri)
            status = await editor.command("stet.status")
            assert failed["state"] == "failed"
            assert (bool(status["model"]), status["why"]) == (is_chosen, failed["error"])
            changed(editor, {"baseUrl": server.base_url, "name": "m"})
            turn = await run(editor, f"Work {number}", uri=uri)
            assert turn["state"] == "completed", turn
            status = await editor.command("stet.status")
            assert (status["model"], status["why"]) == ("m", "model.baseUrl is set.")
            changed(editor, model)


@pytest.mark.parametrize(
    ("refusal", "is_reported"),
    [
        (error(401, "no such key"), True),
        (error(404, "no model m", code="model_not_found"), True),
        (error(429, "slow down", retry_after="3000"), True),
        (Reply([delta(content="I")] * 2, end=End.CUT), False),
    ],
    ids=["key", "name", "quota", "broken off"],
)
async def test_a_model_that_does_not_answer_is_the_reason_until_it_does(
    tmp_path: Path, refusal: Reply, is_reported: bool
) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    async with OpenAIServer() as server:
        server.add(*[refusal] * (1 if is_reported else 2), say("Hi"))
        settings = {"model": {"baseUrl": server.base_url, "name": "m"}}
        async with FakeEditor.start(tmp_path, env={"no_proxy": "*"}, settings=settings) as editor:
            failed = await run(editor, "Hello", uri=editor.open("a.txt"))
            status = await editor.command("stet.status")
            assert failed["state"] == "failed"
            assert (status["model"], status["why"]) == (
                "m",
                failed["error"] if is_reported else "model.baseUrl is set.",
            )
            turn = await run(editor, "Hello again", uri=editor.uri("a.txt"))
            assert turn["state"] == "completed", turn
            status = await editor.command("stet.status")
            assert (status["model"], status["why"]) == ("m", "model.baseUrl is set.")
