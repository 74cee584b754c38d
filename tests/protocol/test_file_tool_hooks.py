"""The file tools of Copilot CLI and OpenCode, through `stet hook` and a server with an editor."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.editor import FakeEditor
from tests.support.file_tools import NAMES, FileAgent
from tests.support.live_turns import states
from tests.support.shell import Shell
from tests.support.unsaved_text import proposed, unsaved_editor

TEXT = "one\ntwo\nthree\n"
every_agent = pytest.mark.parametrize("name", sorted(NAMES))


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell.at(tmp_path)
    shell.write("a.txt", TEXT)
    shell.write(".env", "a\n")
    (shell.folder / "sub").mkdir()
    shell.write("sub/b.txt", "red\ngreen\n")
    (shell.folder / "x.png").write_bytes(b"\x89PNG\0\0")
    return shell


@pytest.fixture
async def editor(shell: Shell) -> AsyncIterator[FakeEditor]:
    """Start an editor whose buffer of `a.txt` has an unsaved line."""
    async with unsaved_editor(shell) as editor:
        yield editor


@every_agent
async def test_read_sees_unsaved_text_and_edit_becomes_a_hunk(
    name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = FileAgent(shell, name)
    assert f"Files of {shell.folder} that you read or edit" in await agent.prompt()
    read = await agent.read("a.txt")
    assert (read.text, read.path.name) == ("one, unsaved\ntwo\nthree\n", "a.txt")
    edited = await agent.edit("a.txt", "one, unsaved", "1")
    assert edited.note.startswith("Proposed to the user as h1. a.txt itself is unchanged")
    await agent.create("deep/new.txt", "new\n")
    await agent.edit("deep/new.txt", "new", "newer")
    assert (await agent.read(edited.path)).text == "1\ntwo\nthree\n"
    assert await proposed(editor) == [
        ("a.txt", "replace", "1\n"), ("new.txt", "create", "newer\n"),
    ]  # fmt: skip
    assert (shell.folder / "a.txt").read_text() == TEXT
    assert not (shell.folder / "deep").exists()


@every_agent
@pytest.mark.parametrize("folder", ["", "sub"])
async def test_folder_is_listed_by_the_tool_that_reads(
    folder: str, name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = FileAgent(shell, name)
    await agent.prompt()
    listed = await agent.read(folder)
    assert (listed.denied, listed.note, listed.path) == ("", "", shell.folder / folder)
    assert ("b.txt" if folder else "a.txt") in listed.text


@every_agent
async def test_image_is_read_from_the_disk_and_not_edited(
    name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = FileAgent(shell, name)
    call = agent.call(NAMES[name].read, "x.png", {})
    assert await agent.hook("PreToolUse", **call) == {}
    assert "not a text file" in (await agent.create("x.png", "text")).denied


@every_agent
async def test_secret_file_is_neither_read_nor_written(
    name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = FileAgent(shell, name)
    await agent.prompt()
    for ran in (await agent.read(".env"), await agent.create(".env", "b\n")):
        assert "looks like a secret" in ran.denied
    assert await states(editor) == {}


@every_agent
async def test_tool_that_is_not_known_runs_without_stet(
    name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = FileAgent(shell, name)
    for tool in ("bash", "grep", "x"):
        assert await agent.hook("PreToolUse", **agent.call(tool, "a.txt", {})) == {}


@every_agent
@pytest.mark.parametrize("path", ["", 1, None, ["a.txt"]])
async def test_edit_of_which_the_file_is_not_understood_is_denied(
    path: object, name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = FileAgent(shell, name)
    edit = agent.call("edit", "a.txt", {NAMES[name].path: path})
    denied = await agent.hook("PreToolUse", **edit)
    assert denied["permissionDecision"] == "deny"
    assert "can't read which file it is for" in denied["permissionDecisionReason"]
    assert await agent.hook("PostToolUse", **edit) == {}
    read = agent.call(NAMES[name].read, "a.txt", {NAMES[name].path: path})
    assert await agent.hook("PreToolUse", **read) == {}


@every_agent
async def test_subagent_sees_the_pending_text_of_the_session_that_has_started_it(
    name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = FileAgent(shell, name)
    await agent.prompt()
    await agent.edit("a.txt", "two", "2")
    child = FileAgent(shell, name, session="child", parent=agent.session)
    assert "The user reviews your edits in an editor" in await child.prompt()
    assert (await child.read("a.txt")).text == "one, unsaved\n2\nthree\n"
    grandchild = FileAgent(shell, name, session="grandchild", parent="child")
    await grandchild.edit("a.txt", "three", "3")
    assert (await agent.read("a.txt")).text == "one, unsaved\n2\n3\n"
    other = FileAgent(shell, name, session="other", parent="elsewhere")
    assert (await other.read("a.txt")).text == "one, unsaved\ntwo\nthree\n"


@every_agent
async def test_decisions_about_hunks_of_a_subagent_are_sent_to_its_session(
    name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = FileAgent(shell, name)
    await agent.prompt()
    child = FileAgent(shell, name, session="child", parent=agent.session)
    await child.edit("a.txt", "two", "2")
    await child.hook("Stop")
    await agent.edit("a.txt", "three", "3")
    await agent.hook("Stop")
    await editor.wait_until(lambda: f"{name} proposed 2 hunks to review" in str(editor.messages))
    assert str(editor.messages).count("to review") == 1
    await editor.command("stet.reject", {"hunk": "h1", "reason": "two is a word"})
    assert "two is a word" not in await child.prompt()
    assert "two is a word" in await agent.prompt()


@every_agent
@pytest.mark.parametrize("parent", [".", "", 1.5, None, "a/../b"])
async def test_session_with_an_invalid_parent_is_a_session_of_its_own(
    parent: object, name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = FileAgent(shell, name)
    key = "parentAgentId" if name == "copilot" else "parent_id"
    answer = await agent.hook("UserPromptSubmit", prompt="Go.", **{key: parent})
    assert "The user reviews your edits" in answer["additionalContext"]


@every_agent
@pytest.mark.parametrize(
    ("prompt", "is_sent"),
    [
        ("Look at @a.txt.", True),
        ('Look at @"a.txt"', True),
        ("Look at @sub/../a.txt, please", True),
        ("Look at a.txt", False),
        ("Look at @sub/b.txt and @nothing and @../x and @", False),
    ],
)
async def test_unsaved_text_of_a_file_that_a_prompt_mentions_is_sent(
    prompt: str, is_sent: bool, name: str, shell: Shell, editor: FakeEditor
) -> None:
    """An agent sends the saved text of such a file, without a call of a tool."""
    news = await FileAgent(shell, name).prompt(prompt)
    assert ("-one\n+one, unsaved\n" in news) == is_sent


async def test_unsaved_text_of_an_attached_file_is_sent(shell: Shell, editor: FakeEditor) -> None:
    agent = FileAgent(shell, "opencode")
    files = [str(shell.folder / "a.txt"), 1, "\0", "/"]
    answer = await agent.hook("UserPromptSubmit", prompt="Go.", files=files)
    assert "-one\n+one, unsaved\n" in answer["additionalContext"]
