"""Unknown names of arguments, tools and groups: each is an error with the nearest known name."""

from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException

from tests.support.editor import FakeEditor
from tests.support.live_turns import done, run, scripted

MISSPELT: list[tuple[str, dict[str, Any], str, str]] = [
    ("stet.ask", {"promt": "Hello"}, "promt", "prompt"),
    ("stet.ask", {"Prompt": "Hello"}, "Prompt", "prompt"),
    ("stet.ask", {"prompt": "Hello", "disabledTool": ["edit_file"]}, "disabledTool", "disabledTools"),
    ("stet.ask", {"prompt": "Hello", "moed": "ask"}, "moed", "mode"),
    ("stet.showContext", {"promt": "Hello"}, "promt", "prompt"),
    ("stet.steer", {"propmt": "Hello"}, "propmt", "prompt"),
    ("stet.turn", {"trun": "t1"}, "trun", "turn"),
    ("stet.cancel", {"trun": "t1"}, "trun", "turn"),
    ("stet.answer", {"txt": "yes"}, "txt", "text"),
    ("stet.search", {"qeury": "x"}, "qeury", "query"),
    ("stet.accept", {"hunks": "h1"}, "hunks", "hunk"),
    ("stet.accept", {"al": True}, "al", "all"),
    ("stet.accept", {"line": 1, "ury": "file:///a"}, "ury", "uri"),
    ("stet.reject", {"porposal": "p1"}, "porposal", "proposal"),
    ("stet.undo", {"hunl": "h1"}, "hunl", "hunk"),
    ("stet.restore", {"hunl": "h1"}, "hunl", "hunk"),
    ("stet.resolve", {"hukn": "h1"}, "hukn", "hunk"),
    ("stet.proposals", {"stat": "pending"}, "stat", "state"),
    ("stet.next", {"lin": 1}, "lin", "line"),
    ("stet.focus", {"fle": "a.txt"}, "fle", "file"),
    ("stet.context", {"ad": "a.txt"}, "ad", "add"),
]  # fmt: skip
SWITCHES = [
    ({"disabledTools": ["edit_fil"]}, "unknown tool 'edit_fil'; did you mean 'edit_file'?"),
    ({"disabledTools": ["Execute_Command"]}, "did you mean 'execute_command'?"),
    ({"disabledTools": ["bash"]}, "valid: search_workspace, "),
    ({"disabledGroups": ["actions"]}, "unknown tool group 'actions'; did you mean 'action'?"),
    ({"disabledGroups": ["web", "nothing like it"]}, "valid: workspace, web, action, advanced"),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of one file."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    return folder


async def error_of(editor: FakeEditor, command: str, given: dict[str, Any]) -> JsonRpcException:
    """Return the error that answers a command."""
    with pytest.raises(JsonRpcException) as caught:
        await editor.command(command, given)
    assert caught.value.code == -32602
    return caught.value


async def test_what_is_misspelt_is_named_with_the_nearest_right_name(root: Path) -> None:
    async with FakeEditor.start(root, env=scripted(root.parent)) as editor:
        for command, given, wrong, right in MISSPELT:
            error = await error_of(editor, command, given)
            reported = f"{command} has no argument {wrong!r}; did you mean {right!r}?"
            assert error.message == reported
        for switches, words in SWITCHES:
            for command in ("stet.ask", "stet.showContext"):
                error = await error_of(editor, command, {"prompt": "Hello", **switches})
                assert words in error.message
        assert (await editor.command("stet.status"))["turns"] == []


async def test_a_misspelt_switch_in_the_settings_is_reported_and_switches_nothing_on(
    root: Path,
) -> None:
    settings = {"agent": {"disabledTools": ["execute_comand", "delete_fle", "edit_file"]}}
    (root / ".stet.toml").write_text('[agent]\ndisabledGroups = ["wbe"]\n')
    env = scripted(root.parent, done())
    async with FakeEditor.start(root, env=env, settings=settings) as editor:
        turn = await run(editor, "Hello", uri=editor.open("a.txt"))
        assert turn["state"] == "completed"
        reported = "\n".join(one.message for one in editor.messages)
        assert "unknown tool 'execute_comand'; did you mean 'execute_command'?" in reported
        assert "unknown tool 'delete_fle'; did you mean 'delete_file'?" in reported
        assert "unknown tool group 'wbe'; did you mean 'web'?" in reported
        shown = await editor.command("stet.showContext", {"prompt": "Hello"})
        tools = next(one["text"] for one in shown["sections"] if one["name"] == "tools")
        offered = {
            name for name in ("edit_file", "delete_file", "read_file") if f'"{name}"' in tools
        }
        assert offered == {"read_file"}
