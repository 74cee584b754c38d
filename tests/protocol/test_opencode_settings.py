"""The bridge to OpenCode with its settings, connected to a fake server."""

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.fake_opencode import FakeOpenCode


def settings(url: str, **more: object) -> dict[str, Any]:
    return {"bridges": {"opencode": {"url": url, "debounceSeconds": 0.01, **more}}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = (tmp_path / "ws").resolve()
    root.mkdir()
    (root / "a.py").write_text("one\ntwo\n")
    return root


async def test_an_address_that_may_not_be_used_is_reported_in_the_editor(root: Path) -> None:
    given = settings("http://192.168.0.9:4096")
    async with FakeEditor.start(root, settings=given) as editor:
        editor.open("a.py")
        message = await editor.wait_for_message("bridges.opencode.url")
    assert "is on another machine: use https" in message


async def test_it_is_switched_off_and_on_while_the_server_runs(root: Path) -> None:
    async with FakeOpenCode() as server:
        session = server.session(str(root))
        async with FakeEditor.start(root, settings=settings(server.url(""))) as editor:
            editor.open("a.py")
            await server.wait_until(lambda: "a.py" in str(server.parts(session)))

            def change(**more: object) -> None:
                given = {"stet": settings(server.url(""), **more)}
                editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(given))

            change(enabled=False)
            await server.wait_until(lambda: not server.parts(session)[0][1])
            change()
            await server.wait_until(lambda: server.parts(session)[-1][1])
            editor.select("a.py", "two")
            await server.wait_until(lambda: 'two\n"""' in server.parts(session)[-1][0])
        assert [is_live for _, is_live in server.parts(session)] == [False, False]


async def test_a_project_can_not_name_a_server_but_switch_yours_off(root: Path) -> None:
    async with FakeOpenCode() as stranger, FakeOpenCode() as server:
        (root / ".stet.toml").write_text(
            f"[bridges.opencode]\nurl = '{stranger.url('')}'\nenabled = false\n"
        )
        async with FakeEditor.start(root, settings=settings(server.url(""))) as editor:
            editor.open("a.py")
            message = await editor.wait_for_message("bridges.opencode.url")
            while not (await editor.command("stet.status"))["ready"]:
                pass  # each request is a round trip
        assert "can only restrict" in message
        assert (stranger.asked, server.asked) == ([], [])
