"""An unusable URL in the settings is reported once, with the setting's name."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.live_turns import run
from tests.support.proposals import IMPATIENT_SERVER
from tests.support.restarts import ready

BAD = {
    "localhost:11434/v1": "not an http URL",
    "ftp://x/v1": "not an http URL",
    "https://": "not an http URL",
    "http://x:70000/v1": "a number from 1 to 65535",
    "http:// x/v1": "a space or an invisible character",
    "http://${HOST}/v1": "no valid host",
    "http://user:hunter2@x/v1": "remove the part before '@'",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    return folder


def reported(editor: FakeEditor) -> list[str]:
    """Return the messages about settings."""
    return [one.message for one in editor.messages if "settings:" in one.message]


def is_reported(editor: FakeEditor, n: int) -> bool:
    """Tell whether there are `n` messages."""
    return len(reported(editor)) == n


def changed(editor: FakeEditor, settings: dict[str, Any]) -> None:
    """Change the settings as the user."""
    params = lsp.DidChangeConfigurationParams({"stet": settings})
    editor.workspace_did_change_configuration(params)


async def test_each_invalid_url_is_reported_once_with_its_setting_and_a_remedy(root: Path) -> None:
    config = root.parent / "config" / "stet" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[search]\nbaseUrl = 'gopher://x'\n")
    state = root.parent / "state"
    env = {"XDG_CONFIG_HOME": str(config.parent.parent), "XDG_STATE_HOME": str(state)}
    async with FakeEditor.start(root, env=env) as editor:
        await ready(editor)
        [first] = reported(editor)
        assert "'search.baseUrl' is invalid: it is not an http URL: use one such" in first
        for n, (url, why) in enumerate(BAD.items(), 2):
            for _ in range(2):
                changed(editor, {"model": {"baseUrl": url}, "web": {"baseUrl": ""}})
            await editor.wait_until(partial(is_reported, editor, n))
            assert "setting 'model.baseUrl' is invalid: it" in reported(editor)[-1]
            assert why in reported(editor)[-1]
        changed(editor, {"web": {"provider": "brave", "baseUrl": "x"}})
        await editor.wait_until(lambda: "'web.baseUrl'" in reported(editor)[-1])
        assert len(reported(editor)) == len(BAD) + 2
        assert "hunter2" not in str(editor.messages)
    written = b"".join(file.read_bytes() for file in state.rglob("*") if file.is_file())
    assert b"hunter2" not in written


@pytest.mark.parametrize("url", BAD)
async def test_question_to_an_invalid_url_fails_with_a_message_and_no_other_request(
    root: Path, url: str
) -> None:
    settings: dict[str, Any] = {"model": {"baseUrl": url, "name": "m", "apiKeyEnv": "A_KEY"}}
    env = {"A_KEY": "key", "OPENAI_API_KEY": "other", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    async with FakeEditor.start(
        root, env=env, settings=settings, command=IMPATIENT_SERVER
    ) as editor:
        try:
            turn = await run(editor, "Hello", uri=editor.open("a.txt"))
        except JsonRpcException as error:
            turn = {"state": "failed", "error": str(error)}
    assert turn["state"] == "failed"
    assert turn["error"]
    assert "127.0.0.1:9" not in turn["error"]
    assert "hunter2" not in turn["error"]
