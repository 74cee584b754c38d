"""Malformed settings that switch tools off or hide files: each restricts everything it may mean."""

import asyncio
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.live_turns import scripted

WATCHED = {"edit_file", "read_file", "create_file", "delete_file", "list_files"}
USUAL = {"delete_file"}
"""The tools that are off by default."""
LINES = 40

TOOLS: list[tuple[Any, set[str]]] = [
    ("edit_file", {"edit_file"}),
    (" Edit_File\n", {"edit_file"}),
    ("edit_fiel", {"edit_file"}),
    ("edit_file, read_file", {"edit_file", "read_file"}),
    ("edit_file read_file", {"edit_file", "read_file"}),
    ("edit_*", {"edit_file"}),
    ("*", WATCHED),
    ("all", WATCHED),
    (True, WATCHED),
    (False, set()),
    (5, set()),
    (0.5, set()),
    ("", set()),
    ("bash", set()),
    ([5], set()),
    ([None], set()),
    ([["edit_file"]], {"edit_file"}),
    ([[["edit_file"], "read_file"], 3], {"edit_file", "read_file"}),
    (["edit_file", None, 7, {"a": 1}], {"edit_file"}),
    (["bash", "edit_file"], {"edit_file"}),
    ({"edit_file": True}, {"edit_file"}),
    ({"edit_file": False, "read_file": "yes"}, {"read_file"}),
    ({"0": "edit_file"}, set()),
]
"""Each value, with the watched tools that it switches off besides the default ones."""
GROUPS: list[tuple[Any, set[str]]] = [
    ("workspace", {"read_file", "list_files"}),
    ("Workspace, action", WATCHED - {"delete_file"}),
    ({"action": True, "workspace": False}, {"edit_file", "create_file"}),
    ([["action"], 5], {"edit_file", "create_file"}),
    (True, WATCHED),
    (7, set()),
]
KEYS = ["disabledTool", "disabled_tools", "disabled-tools", "disabledtools", "diabledTools"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("".join(f"line {n}\n" for n in range(LINES)))
    return folder


async def shown(editor: FakeEditor) -> dict[str, str]:
    """Return the sections of a context."""
    answer = await editor.command("stet.showContext", {"prompt": "Hello", "file": "b.txt"})
    return {one["name"]: one["text"] for one in answer["sections"]}


async def off(editor: FakeEditor) -> set[str]:
    """Return the watched tools that the model isn't offered."""
    tools = (await shown(editor))["tools"]
    return {name for name in WATCHED if f'"{name}"' not in tools}


async def change(editor: FakeEditor, number: int, settings: dict[str, Any]) -> None:
    """Change the settings and wait until they are in force, which `headLines` shows."""
    sent = {"context": {"headLines": number % 30 + 1}, **settings}
    editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams({"stet": sent}))
    async with asyncio.timeout(60):
        while (await shown(editor))["attached_files"].count("\tline ") != number % 30 + 1:
            pass


def reported(editor: FakeEditor) -> str:
    return "\n".join(one.message for one in editor.messages)


@pytest.mark.parametrize("value", ["edit_file", {"edit_file": True}, [["edit_file"], 5], 5])
async def test_at_the_start_a_wrong_form_is_reported_and_leaves_nothing_on(
    root: Path, value: Any
) -> None:
    options = {"stet": {"agent": {"disabledTools": value, "disabledGroups": "workspace"}}}
    async with FakeEditor.start(
        root, client="kakoune", env=scripted(root.parent), options=options
    ) as editor:
        editor.open("a.txt")
        named = {"edit_file"} if value != 5 else set()
        assert await off(editor) == USUAL | named | {"read_file", "list_files"}
        read = "'edit_file'" if named else "nothing"
        assert (
            f"setting 'agent.disabledTools' should be a list of strings; using {read}"
            in reported(editor)
        )
        assert "'agent.disabledGroups' should be a list of strings; using 'workspace'" in reported(
            editor
        )


async def test_a_change_in_a_wrong_form_leaves_nothing_on(root: Path) -> None:
    env = scripted(root.parent)
    async with FakeEditor.start(root, client="kakoune", env=env, options={}) as editor:
        for uri in ("a.txt", "b.txt"):
            editor.open(uri)
        cases = [("disabledTools", *case) for case in TOOLS]
        cases += [("disabledGroups", *case) for case in GROUPS]
        for number, (key, value, expected) in enumerate(cases):
            await change(editor, number, {"agent": {key: value}})
            assert (key, value, await off(editor)) == (key, value, expected | USUAL)
        for number, key in enumerate(KEYS):
            for settings in ({"agent": {key: ["edit_file"]}}, {key: ["edit_file"]}):
                await change(editor, number, settings)
                assert (key, await off(editor)) == (key, {"edit_file"} | USUAL)
            assert f"unknown setting {key!r} is treated as 'agent.disabledTools'" in reported(
                editor
            )
        await change(editor, 0, {"agent": {"disabledTools": []}})
        assert await off(editor) == set()


async def test_a_wrong_form_switches_on_nothing_that_the_users_file_switches_off(
    root: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config"
    (config / "stet").mkdir(parents=True)
    (config / "stet" / "config.toml").write_text('[agent]\ndisabledTools = ["edit_file"]\n')
    env = {**scripted(tmp_path), "XDG_CONFIG_HOME": str(config)}
    async with FakeEditor.start(root, client="kakoune", env=env, options={}) as editor:
        for uri in ("a.txt", "b.txt"):
            editor.open(uri)
        wrong: list[Any] = [5, "read_file", ["read_file", "bash"], [None], {"read_file": True}]
        for number, value in enumerate(wrong):
            await change(editor, number, {"agent": {"disabledTools": value}})
            assert "edit_file" in await off(editor)
        await change(editor, 0, {"agent": {"disabledTools": ["read_file"]}})
        assert await off(editor) == {"read_file"}
        await change(editor, 1, {"agent": {"disabledTools": ["raed_file, create_file"]}})
        assert await off(editor) == {"read_file", "create_file"}


@pytest.mark.parametrize("value", ["b.txt", {"b.txt": True}, [["b.txt"], 5], ["b.txt", None]])
async def test_what_is_denied_in_a_wrong_form_is_hidden(root: Path, value: Any) -> None:
    options = {"stet": {"privacy": {"deny": value}}}
    async with FakeEditor.start(
        root, client="kakoune", env=scripted(root.parent), options=options
    ) as editor:
        assert "line 1" not in str(await shown(editor))
        assert "setting 'privacy.deny' should be a list of strings; using 'b.txt'" in reported(
            editor
        )


async def test_a_question_with_a_wrong_form_is_refused(root: Path) -> None:
    wrong: list[Any] = ["web", 5, True, {"web": True}, ["web", 5], [["web"]], [None]]
    async with FakeEditor.start(root, env=scripted(root.parent)) as editor:
        for command, key, value in product(
            ("stet.ask", "stet.showContext"), ("disabledTools", "disabledGroups"), wrong
        ):
            with pytest.raises(JsonRpcException) as caught:
                await editor.command(command, {"prompt": "Hello", key: value})
            assert caught.value.code == -32602
            assert f"{key!r} must be a list of strings" in caught.value.message
        assert (await editor.command("stet.status"))["turns"] == []
