"""Settings that the editor removes get their defaults, however the editor had sent them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.support.editor import FakeEditor
from tests.support.live_turns import scripted
from tests.support.restarts import ready

TEXT = "".join(f"line {n}\n" for n in range(40))
DEFAULT = 20
"""The documented default of `context.headLines`."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.md").write_text(TEXT)
    (folder / "b.md").write_text(TEXT)
    return folder


async def head(editor: FakeEditor) -> int:
    """Return the number of lines shown of an attached file: the value of `context.headLines`."""
    answer = await editor.command("stet.showContext", {"prompt": "Why?", "file": "b.md"})
    text = next(one["text"] for one in answer["sections"] if one["name"] == "attached_files")
    return int(text.count("\tline "))


async def wait_for_head(editor: FakeEditor, lines: int) -> None:
    """Wait until a change is effective; each request is a round trip, so this is no busy loop."""
    async with asyncio.timeout(60):
        while await head(editor) != lines:
            pass


def changed(editor: FakeEditor, settings: Any) -> None:
    editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(settings))


def lines(number: int) -> dict[str, Any]:
    return {"context": {"headLines": number}}


REMOVED: list[Any] = [
    {"stet": {}},
    {"stet": None},
    {"stet": {"context": {"headLines": None}}},
    {"stet": {"context": {"linkDepth": 1}}},
    {"context": {"linkDepth": 1}},
    {},
    None,
]


@pytest.mark.parametrize("removed", REMOVED)
async def test_what_was_given_at_the_start_and_taken_out_has_its_default(
    root: Path, tmp_path: Path, removed: Any
) -> None:
    """The editor answers no requests for settings: all its values are in the notification."""
    async with FakeEditor.start(
        root, client="kakoune", env=scripted(tmp_path), options={"stet": lines(5)}
    ) as editor:
        editor.open("a.md")
        editor.open("b.md")
        await ready(editor)
        assert await head(editor) == 5
        changed(editor, {"stet": lines(7)})
        await wait_for_head(editor, 7)
        changed(editor, {"stet": lines(5)})
        await wait_for_head(editor, 5)
        changed(editor, removed)
        await wait_for_head(editor, DEFAULT)


@pytest.mark.parametrize("message", [None, {}, {"settings": 1}, {"stet": {}}])
async def test_an_editor_that_can_be_asked_is_asked(
    root: Path, tmp_path: Path, message: Any
) -> None:
    async with FakeEditor.start(
        root,
        client="vscode",
        env=scripted(tmp_path),
        options={"stet": lines(5)},
        settings=lines(6),
    ) as editor:
        editor.open("a.md")
        editor.open("b.md")
        await ready(editor)
        assert await head(editor) == 6
        editor.set_configuration({}, section="stet")
        changed(editor, message)
        await wait_for_head(editor, DEFAULT)


async def test_the_users_file_shows_again_from_under_what_is_taken_out(
    root: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config"
    (config / "stet").mkdir(parents=True)
    (config / "stet" / "config.toml").write_text("[context]\nheadLines = 9\n")
    env = {**scripted(tmp_path), "XDG_CONFIG_HOME": str(config)}
    async with FakeEditor.start(
        root, client="kakoune", env=env, options={"stet": lines(5)}
    ) as editor:
        editor.open("a.md")
        editor.open("b.md")
        await ready(editor)
        changed(editor, {"stet": {}})
        await wait_for_head(editor, 9)


async def test_settings_sent_at_startup_do_not_reset_the_options(
    root: Path, tmp_path: Path
) -> None:
    """Neovim sends its settings after `initialized`, even if it has only the options."""
    async with FakeEditor.start(
        root, client="neovim", env=scripted(tmp_path), options={"stet": lines(5)}
    ) as editor:
        changed(editor, {"stet": []})
        editor.open("a.md")
        editor.open("b.md")
        await ready(editor)
        assert await head(editor) == 5


async def test_of_many_changes_the_last_one_holds(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, client="kakoune", env=scripted(tmp_path)) as editor:
        editor.open("a.md")
        editor.open("b.md")
        await ready(editor)
        for number in range(1, 20):
            changed(editor, {"stet": lines(number)})
        changed(editor, {"stet": lines(30)})
        await wait_for_head(editor, 30)
        assert [await head(editor) for _ in range(5)] == [30] * 5


@pytest.mark.parametrize("client", ["kakoune", "vscode"])
async def test_what_is_asked_after_a_change_is_asked_with_the_new_settings(
    root: Path, tmp_path: Path, client: str
) -> None:
    async with FakeEditor.start(root, client=client, env=scripted(tmp_path)) as editor:
        editor.open("a.md")
        editor.open("b.md")
        await ready(editor)
        for number in (3, 1, 4):
            editor.set_configuration(lines(number), section="stet")
            changed(editor, {"stet": lines(number)} if client == "kakoune" else None)
            assert await head(editor) == number
