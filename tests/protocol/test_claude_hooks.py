"""Claude Code's hooks through `stet hook`, a real process, and a server with an editor."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.claude_tools import Claude
from tests.support.editor import FakeEditor
from tests.support.live_turns import states
from tests.support.shell import Shell
from tests.support.unsaved_text import unsaved_editor

TEXT = "one\ntwo\nthree\n"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell.at(tmp_path)
    shell.write("a.txt", TEXT)
    return shell


@pytest.fixture
async def editor(shell: Shell) -> AsyncIterator[FakeEditor]:
    """Start an editor whose buffer of `a.txt` has an unsaved line."""
    async with unsaved_editor(shell) as editor:
        yield editor


@pytest.fixture
def claude(shell: Shell) -> Claude:
    return Claude(shell)


async def proposed(editor: FakeEditor) -> dict[str, str]:
    """Return the new text of each pending hunk, by id."""
    listed = await editor.command("stet.proposals", {"state": "pending"})
    return {item["hunk"]: item["new"] for item in listed}


async def test_read_sees_unsaved_text_and_edit_becomes_a_hunk(
    shell: Shell, editor: FakeEditor, claude: Claude
) -> None:
    introduction = await claude.prompt()
    assert f"Files of {shell.folder} that you read or edit are redirected" in introduction
    read = await claude.tool("Read", "a.txt")
    assert read.text == "one, unsaved\ntwo\nthree\n"
    assert read.note == f"Read and edit a.txt as {read.path}: this copy has its present text."
    edit = await claude.tool("Edit", "a.txt", old_string="two", new_string="2")
    [hunk] = await proposed(editor)
    assert edit.note.startswith(f"Proposed to the user as {hunk}. a.txt itself is unchanged")
    assert await proposed(editor) == {hunk: "2\n"}
    [item] = await editor.command("stet.proposals")
    assert (item["author"], item["summary"]) == ("claude", "claude: edit a.txt")
    assert (shell.folder / "a.txt").read_text() == TEXT
    assert editor.text("a.txt") == "one, unsaved\ntwo\nthree\n"
    again = await claude.tool("Read", read.path)
    assert again.text == "one, unsaved\n2\nthree\n"


async def test_new_file_is_a_hunk_and_is_read_again(
    shell: Shell, editor: FakeEditor, claude: Claude
) -> None:
    await claude.prompt()
    await claude.tool("Write", "deep/new.txt", content="new\n")
    read = await claude.tool("Read", "deep/new.txt")
    assert read.text == "new\n"
    await claude.tool("Edit", read.path, old_string="new", new_string="newer")
    assert list((await proposed(editor)).values()) == ["newer\n"]
    [item] = await editor.command("stet.proposals", {"state": "pending"})
    assert item["kind"] == "create"
    assert not (shell.folder / "deep").exists()


async def test_decisions_are_reported_with_the_next_prompt(
    shell: Shell, editor: FakeEditor, claude: Claude
) -> None:
    await claude.prompt()
    await claude.tool("Read", "a.txt")
    await claude.tool("Edit", "a.txt", old_string="one, unsaved", new_string="1")
    await claude.tool("Edit", "a.txt", old_string="three", new_string="3")
    first, second = await proposed(editor)
    await claude.hook("Stop")
    await editor.wait_until(lambda: "claude proposed 2 hunks to review" in str(editor.messages))
    await editor.command("stet.reject", {"hunk": first, "reason": "keep the word"})
    await editor.command("stet.accept", {"hunk": second, "new": "THREE\n"})
    await editor.wait_until(lambda: "THREE" in editor.text("a.txt"))
    await editor.command("stet.proposals")
    news = await claude.prompt("Go on.")
    assert f"{first} " in news
    assert "keep the word" in news
    assert "THREE" in news
    assert (await claude.tool("Read", "a.txt")).text == "one, unsaved\ntwo\nTHREE\n"


async def test_rejection_within_the_turn_is_reported_with_the_next_read(
    editor: FakeEditor, claude: Claude
) -> None:
    await claude.prompt()
    await claude.tool("Edit", "a.txt", old_string="two", new_string="2")
    [hunk] = await proposed(editor)
    await editor.command("stet.reject", {"hunk": hunk, "reason": "a word"})
    more = await claude.tool("Edit", "a.txt", old_string="three", new_string="3")
    assert Path(more.path).read_text() == "one, unsaved\n2\n3\n"  # noqa: ASYNC240
    assert list((await proposed(editor)).values()) == ["3\n"]
    read = await claude.tool("Read", "a.txt")
    assert read.text == "one, unsaved\ntwo\n3\n"
    assert f"The user has rejected {hunk} (a word). Don't make this edit again." in read.note
    assert "rejected" not in (await claude.tool("Read", "a.txt")).note


async def test_typing_meanwhile_is_merged(editor: FakeEditor, claude: Claude) -> None:
    await claude.prompt()
    await claude.tool("Read", "a.txt")
    editor.change("a.txt", "three\n", "three, typed\n")
    editor.flush()
    await claude.tool("Edit", "a.txt", old_string="one, unsaved", new_string="1")
    [hunk] = await proposed(editor)
    await editor.command("stet.accept", {"hunk": hunk})
    await editor.wait_until(lambda: editor.text("a.txt") == "1\ntwo\nthree, typed\n")


async def test_edit_of_lines_that_the_user_has_changed_waits_as_a_conflict(
    editor: FakeEditor, claude: Claude
) -> None:
    await claude.prompt()
    await claude.tool("Read", "a.txt")
    editor.change("a.txt", "two\n", "zwei\n")
    editor.flush()
    edit = await claude.tool("Edit", "a.txt", old_string="two", new_string="2")
    [item] = await editor.command("stet.proposals")
    assert (item["state"], item["old"], item["new"]) == ("conflict", "zwei\n", "2\n")
    assert f"Your lines wait as {item['hunk']}, in conflict with those of the user" in edit.note
    assert edit.note.endswith("The user's lines are now:\nzwei\n")
    more = await claude.tool("Edit", "a.txt", old_string="three", new_string="3")
    assert "conflict" not in more.note
    assert list((await proposed(editor)).values()) == ["3\n"]
    assert (await claude.tool("Read", "a.txt")).text == "one, unsaved\nzwei\n3\n"
    assert editor.text("a.txt") == "one, unsaved\nzwei\nthree\n"
    await editor.command("stet.resolve", {"hunk": item["hunk"], "how": "theirs"})
    await editor.wait_until(lambda: editor.text("a.txt") == "one, unsaved\n2\nthree\n")


async def test_two_sessions_see_only_their_own_hunks(
    shell: Shell, editor: FakeEditor, claude: Claude
) -> None:
    other = Claude(shell, "other")
    for one in (claude, other):
        await one.prompt()
    await claude.tool("Edit", "a.txt", old_string="two", new_string="2")
    assert (await other.tool("Read", "a.txt")).text == "one, unsaved\ntwo\nthree\n"
    assert (await claude.tool("Read", "a.txt")).text == "one, unsaved\n2\nthree\n"


async def test_crlf_line_ends_are_preserved(shell: Shell, claude: Claude) -> None:
    shell.write("crlf.txt", "one\r\ntwo\r\n")
    async with FakeEditor.start(shell.folder, env=shell.env) as editor:
        await editor.command("stet.proposals")
        await claude.prompt()
        await claude.tool("Write", "crlf.txt", content="one\n2\n")
        assert list((await proposed(editor)).values()) == ["2\r\n"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".env", "'.env' looks like a secret (a key, a login, an environment)."),
        (".git/config", "'.git/config' belongs to version control."),
    ],
)
async def test_file_that_the_policy_hides_is_denied(
    name: str, reason: str, shell: Shell, claude: Claude
) -> None:
    (shell.folder / ".git").mkdir()
    shell.write(name, "SECRET=1\n")
    async with FakeEditor.start(shell.folder, env=shell.env) as editor:
        await editor.command("stet.proposals")
        ran = await claude.tool("Write", name, content="x\n")
        assert ran.denied == reason
        assert await proposed(editor) == {}
        assert (shell.folder / name).read_text() == "SECRET=1\n"


async def test_file_outside_of_the_workspace_is_left_to_the_agent(
    shell: Shell, editor: FakeEditor, claude: Claude
) -> None:
    outside = shell.folder.parent / "outside.txt"
    outside.write_text("x\n")
    ran = await claude.tool("Read", str(outside))
    assert (ran.path, ran.text) == (str(outside), "x\n")
    assert await claude.hook("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}) == {}


def put_link(path: Path, target: Path) -> None:
    """Put a link in the place of a file, or of an empty folder."""
    if path.is_dir():
        path.rmdir()
    else:
        path.unlink()
    path.symlink_to(target)


async def test_link_in_the_shadow_is_not_followed(
    shell: Shell, editor: FakeEditor, claude: Claude
) -> None:
    secret = shell.folder.parent / "secret.txt"
    secret.write_text("secret\n")
    await claude.prompt()
    copy = Path((await claude.tool("Read", "a.txt")).path)
    put_link(copy, secret)
    after = await claude.hook("PostToolUse", tool_name="Edit", tool_input={"file_path": str(copy)})
    assert after["additionalContext"].startswith("Not proposed: ")
    assert await proposed(editor) == {}
    os.unlink(copy)  # noqa: PTH108 - the link, not what it names
    put_link(copy.parent, shell.folder.parent)
    denied = await claude.tool("Read", "a.txt")
    assert denied.denied.startswith("Stet can't make a copy of a.txt for the review: ")
    assert [one.name for one in shell.folder.parent.glob("*.txt")] == ["secret.txt"]


@pytest.mark.parametrize("path", ["sub/../a.txt", "./a.txt", "../work/a.txt", "../link/a.txt"])
async def test_other_name_of_a_file_does_not_pass_the_review(
    path: str, shell: Shell, editor: FakeEditor, claude: Claude
) -> None:
    (shell.folder.parent / "link").symlink_to(shell.folder)
    await claude.prompt()
    await claude.tool("Edit", path, old_string="two", new_string="2")
    assert list((await proposed(editor)).values()) == ["2\n"]
    assert (shell.folder / "a.txt").read_text() == TEXT


async def test_copy_of_another_session_is_denied(
    shell: Shell, editor: FakeEditor, claude: Claude
) -> None:
    await claude.prompt()
    copy = (await claude.tool("Read", "a.txt")).path
    other = Claude(shell, "other")
    await other.prompt()
    for tool in ("Read", "Edit"):
        ran = await other.tool(tool, copy, old_string="two", new_string="2")
        assert ran.denied == "This copy belongs to another session. Use the file itself."


async def test_change_that_was_not_redirected_is_reported_and_can_be_undone(
    shell: Shell, claude: Claude
) -> None:
    async with FakeEditor.start(shell.folder, env=shell.env) as editor:
        await editor.command("stet.proposals")
        await claude.prompt()
        path = shell.folder / "a.txt"
        call = {"tool_name": "Edit", "tool_input": {"file_path": str(path)}}
        await claude.hook("PreToolUse", **call)
        editor.write(path, TEXT.replace("two", "2"))  # the agent ignores the other path
        after = await claude.hook("PostToolUse", **call)
        assert after["additionalContext"].startswith("This change was written without")
        [hunk] = await proposed(editor)
        warning = f"claude has written a.txt to the disk, past the review. Accept {hunk} to undo"
        await editor.wait_until(lambda: warning in str(editor.messages))
        uri = editor.open("a.txt")
        await editor.command("stet.accept", {"hunk": hunk})
        await editor.wait_until(lambda: editor.text(uri) == TEXT)


async def test_tool_that_began_before_the_editor_is_left_alone(
    shell: Shell, editor: FakeEditor, claude: Claude
) -> None:
    call = {"tool_name": "Write", "tool_input": {"file_path": str(shell.folder / "a.txt")}}
    assert await claude.hook("PostToolUse", **call) == {}
    assert await proposed(editor) == {}


async def test_without_a_server_nothing_happens(shell: Shell, claude: Claude) -> None:
    ran = await claude.tool("Edit", "a.txt", old_string="two", new_string="2")
    assert ran.path == str(shell.folder / "a.txt")
    assert (shell.folder / "a.txt").read_text() == "one\n2\nthree\n"


def runtime(shell: Shell) -> Path:
    """Make the folder of the descriptors."""
    folder = Path(shell.env["XDG_CACHE_HOME"], "stet", "run")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


async def test_server_that_does_not_answer_denies_edits_and_lets_reads_pass(
    shell: Shell, claude: Claude
) -> None:
    run = runtime(shell)
    dead = {"pid": os.getpid(), "started": 1.0, "version": "1", "roots": [str(shell.folder)]}
    address = {"socket": str(run / "gone.sock"), "port": 0, "token": ""}
    (run / f"serve-{os.getpid()}.json").write_text(json.dumps({**dead, **address}))
    edit = await claude.tool("Edit", "a.txt", old_string="two", new_string="2")
    assert edit.denied.startswith(
        "The edit was not made: the user reviews edits with Stet, which does not answer: "
    )
    after = await claude.hook("PostToolUse", tool_name="Edit", tool_input={"file_path": "a.txt"})
    assert after["additionalContext"].startswith("This edit was not proposed to the user: ")
    assert (await claude.tool("Read", "a.txt")).text == TEXT


async def test_copy_of_a_server_that_was_killed_is_not_edited(shell: Shell, claude: Claude) -> None:
    pid = 2**22 + 1  # above the largest process id of Linux
    copy = runtime(shell) / "shadow" / str(pid) / "claude-0a1b-2c" / "a.txt"
    copy.parent.mkdir(parents=True)
    copy.write_text(TEXT)
    edit = await claude.tool("Edit", str(copy), old_string="two", new_string="2")
    assert "the server that made this copy has ended; use the file itself" in edit.denied
    after = await claude.hook("PostToolUse", tool_name="Edit", tool_input={"file_path": str(copy)})
    assert "was not proposed to the user: the server that made" in after["additionalContext"]


@pytest.mark.parametrize("given", ["", "[1]", "{", '"x"', "\x00"])
def test_invalid_input_blocks_the_tool(given: str, shell: Shell) -> None:
    ended = shell.run("hook", "claude", typed=given)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("stet hook failed: ")
    assert "or to run `stet agents uninstall claude`" in ended.stderr


@pytest.mark.parametrize(
    ("agent", "more"),
    [("nobody", {}), ("claude", {"session_id": "../.."}), ("claude", {"session_id": 1})],
)
async def test_unknown_agent_or_session_is_denied(
    agent: str, more: dict[str, object], shell: Shell, editor: FakeEditor
) -> None:
    given = {
        "hook_event_name": "PreToolUse",
        "session_id": "a",
        "cwd": str(shell.folder),
        "tool_name": "Write",
        "tool_input": {"file_path": "a.txt"},
        **more,
    }
    ended = await asyncio.to_thread(shell.run, "hook", agent, typed=json.dumps(given))
    answer = json.loads(ended.stdout)
    is_known = more == {"session_id": 1}
    assert ("deny" in str(answer)) is not is_known
    assert await states(editor) == {}


async def test_shadow_is_private_and_goes_with_the_session(
    shell: Shell, editor: FakeEditor, claude: Claude
) -> None:
    await claude.prompt()
    copy = Path((await claude.tool("Read", "a.txt")).path)
    folder = runtime(shell)
    assert copy.is_relative_to(folder / "shadow")
    assert copy.name == "a.txt"
    assert folder.stat().st_mode & 0o777 == 0o700
    await claude.hook("SessionEnd")
    assert list(folder.glob("shadow/*/*")) == []


def test_hook_imports_little(shell: Shell) -> None:
    """An agent starts the hook twice for each tool."""
    command = [sys.executable, "-I", "-X", "importtime", "-m", "stet.cli.main", "hook", "claude"]
    ended = subprocess.run(
        command, input="{}", env=shell.env, capture_output=True, text=True, check=True
    )
    names = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert sorted(name for name in names if name.startswith("stet.")) == [
        "stet.cli",
        "stet.cli.hook_command",
        "stet.control",
        "stet.control.control_client",
        "stet.control.descriptor",
        "stet.control.socket_path",
        "stet.system",
        "stet.system.isolation_mark",
        "stet.system.process_id",
        "stet.system.runtime_folder",
    ]
    heavy = {"asyncio", "dataclasses", "inspect", "logging", "subprocess", "pydantic", "typer"}
    assert names & heavy == set()
