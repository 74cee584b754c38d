"""The context of a question as a document, for editors that don't show results of commands."""

import asyncio
from pathlib import Path

import pytest
from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.live_turns import scripted
from tests.support.restarts import ready

TEXT = "# Note\n\n````\ncode\n````\n\nKey: AKIA" + "IOSFODNN7EXAMPLQ\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.md").write_text(TEXT)
    return folder


@pytest.mark.parametrize("mode", ["agent", "rewrite"])
@pytest.mark.parametrize("client", ["helix", "eglot"])
async def test_what_would_be_sent_is_opened_as_a_document(
    root: Path, tmp_path: Path, client: str, mode: str
) -> None:
    async with FakeEditor.start(root, client=client, env=scripted(tmp_path)) as editor:
        uri = editor.open("a.md")
        await ready(editor)
        ask = {"prompt": "Why?", "mode": mode, "uri": uri, "from": 1, "to": 7}
        answer = await editor.command("stet.showContext", {**ask, "show": True})
        plain = await editor.command("stet.showContext", {**ask, "show": False})
        assert {**plain, "uri": answer["uri"]} == answer
        if client == "helix":
            await editor.wait_until(
                lambda: [one for one in editor.shown_documents if one.uri == answer["uri"]]
            )
        path = Path(answer["uri"].removeprefix("file://"))
        page = await asyncio.to_thread(path.read_text)
        assert page.startswith("# Context preview\n\nWhy?\n\nAbout ")
        for section in answer["sections"]:
            assert f"## {section['name']} ({section['tokens']} tokens)" in page
            assert section["text"] in page
        assert "AKIA" not in page
        assert (await asyncio.to_thread(path.stat)).st_mode & 0o077 == 0
        # The document itself is no context.
        editor.open(path)
        editor.focus(path)
        again = await editor.command("stet.showContext", {"prompt": "Why?"})
        assert "Context preview" not in str(again)


async def test_show_is_true_or_false_and_of_this_command_only(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, env=scripted(tmp_path)) as editor:
        uri = editor.open("a.md")
        with pytest.raises(JsonRpcException, match="'show'"):
            await editor.command("stet.showContext", {"prompt": "Why?", "uri": uri, "show": 1})
        with pytest.raises(JsonRpcException, match="'show'"):
            await editor.command("stet.ask", {"prompt": "Why?", "uri": uri, "show": True})
