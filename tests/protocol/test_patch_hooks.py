"""Agents that edit by patches, through `stet hook`, a real process, and a server with an editor."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.editor import FakeEditor
from tests.support.live_turns import wait_for_states
from tests.support.patch_tools import PatchAgent
from tests.support.shell import Shell
from tests.support.unsaved_text import proposed, unsaved_editor

TEXT = "one\ntwo\nthree\n"
LIVE = "one, unsaved\ntwo\nthree\n"
every_agent = pytest.mark.parametrize("name", ["codex", "copilot", "opencode"])


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shell = Shell.at(tmp_path)
    shell.write("a.txt", TEXT)
    shell.write("b.txt", "red\ngreen\n")
    shell.write(".env", "a\n")
    (shell.folder / ".git").mkdir()
    shell.write(".git/HEAD", "ref: refs/heads/main\n")
    return shell


@pytest.fixture
async def editor(shell: Shell) -> AsyncIterator[FakeEditor]:
    """Start an editor whose buffer of `a.txt` has an unsaved line."""
    async with unsaved_editor(shell) as editor:
        yield editor


async def accept_all(editor: FakeEditor) -> None:
    """Accept all pending hunks, one by one, and wait until they are accepted."""
    listed = await editor.command("stet.proposals", {"state": "pending"})
    for item in listed:
        await editor.command("stet.accept", {"hunk": item["hunk"]})
    states: set[str] = {"pending"}
    while states - {"accepted"}:
        states = {item["state"] for item in await editor.command("stet.proposals")}


def saved(shell: Shell) -> dict[str, str]:
    """Return the text of each file on the disk, besides those that begin with a dot."""
    return {path.name: path.read_text() for path in shell.folder.glob("[!.]*")}


def copy_of(note: str, name: str) -> str:
    """Return the text of the copy that a note names."""
    return copy_path(note, name).read_text()


def copy_path(note: str, name: str) -> Path:
    """Return the path of the copy that a note names."""
    return Path(note.partition(f"Read and edit {name} as ")[2].partition(": ")[0])


async def change(path: Path, old: str, new: str) -> None:
    """Replace a text in a file, as a shell command of the agent does."""
    await asyncio.to_thread(lambda: path.write_text(path.read_text().replace(old, new)))


def put_dead_server(shell: Shell) -> None:
    """Write the descriptor of a server that does not answer."""
    runtime = Path(shell.env["XDG_CACHE_HOME"], "stet", "run")
    runtime.mkdir(parents=True)
    dead: dict[str, Any] = {"pid": 1, "started": 1.0, "version": "1", "roots": [str(shell.folder)]}
    address = {"socket": str(runtime / "gone.sock"), "port": 0, "token": ""}
    (runtime / "serve-1.json").write_text(json.dumps({**dead, **address}))


@every_agent
async def test_one_patch_for_several_files_becomes_hunks(
    name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = PatchAgent(shell, name)
    await agent.prompt()
    done = await agent.patch(
        "*** Update File: a.txt", "@@", "-two", "+2",
        f"*** Update File: {shell.folder}/b.txt", "@@", " red", "-green", "+GREEN",
        "*** Add File: sub/new.txt", "+new",
    )  # fmt: skip
    assert done.note.count("Proposed to the user as ") == 3
    assert await proposed(editor) == [
        ("a.txt", "replace", "2\n"), ("b.txt", "replace", "GREEN\n"), ("new.txt", "create", "new\n"),
    ]  # fmt: skip
    assert saved(shell) == {"a.txt": TEXT, "b.txt": "red\ngreen\n"}
    assert {item["author"] for item in await editor.command("stet.proposals")} == {name}


@every_agent
async def test_patch_of_the_pending_text_amends_the_hunk(
    name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = PatchAgent(shell, name)
    await agent.prompt()
    await agent.patch("*** Update File: a.txt", "@@", "-two", "+2")
    await agent.patch("*** Update File: a.txt", "@@", "-2", "+II")
    assert await proposed(editor) == [("a.txt", "replace", "II\n")]
    await agent.hook("Stop")
    await editor.wait_until(lambda: f"{name} proposed 2 hunks to review" in str(editor.messages))


async def test_codex_is_sent_the_unsaved_text_and_may_patch_it(
    shell: Shell, editor: FakeEditor
) -> None:
    agent = PatchAgent(shell)
    news = await agent.prompt()
    assert "The user's editor has unsaved text." in news
    assert "-one\n+one, unsaved\n" in news
    await agent.patch("*** Update File: a.txt", "@@", "-one, unsaved", "+1")
    assert await proposed(editor) == [("a.txt", "replace", "1\n")]


async def test_patch_of_the_saved_text_is_merged_into_the_unsaved_text(
    shell: Shell, editor: FakeEditor
) -> None:
    """Codex has read the file by shell: the context lines of its patch are those of the disk."""
    agent = PatchAgent(shell)
    await agent.prompt()
    done = await agent.patch("*** Update File: a.txt", "@@", " one", " two", "-three", "+3")
    assert await proposed(editor) == [("a.txt", "replace", "3\n")]
    assert copy_of(done.note, "a.txt") == "one, unsaved\ntwo\n3\n"
    await accept_all(editor)
    assert editor.text("a.txt") == "one, unsaved\ntwo\n3\n"


@every_agent
async def test_deleted_file_is_a_hunk_and_is_gone_for_the_agent(
    name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = PatchAgent(shell, name)
    await agent.prompt()
    await agent.patch("*** Delete File: b.txt")
    assert await proposed(editor) == [("b.txt", "remove", "")]
    await agent.patch("*** Add File: b.txt", "+again")
    assert await proposed(editor) == [("b.txt", "replace", "again\n")]


async def test_deletion_is_made_when_the_user_accepts(shell: Shell, editor: FakeEditor) -> None:
    agent = PatchAgent(shell)
    await agent.prompt()
    await agent.patch("*** Update File: b.txt", "@@", "-green", "+GREEN")
    await agent.patch("*** Delete File: b.txt")
    assert await proposed(editor) == [("b.txt", "remove", "")]
    assert saved(shell)["b.txt"] == "red\ngreen\n"
    [item] = await editor.command("stet.proposals", {"state": "pending"})
    await editor.command("stet.accept", {"hunk": item["hunk"]})
    await editor.wait_until(lambda: not (shell.folder / "b.txt").exists())


async def test_moved_file_is_one_hunk_and_its_change_another(
    shell: Shell, editor: FakeEditor
) -> None:
    agent = PatchAgent(shell)
    await agent.prompt()
    await agent.patch("*** Update File: b.txt", "*** Move to: c.txt", "@@", " red")
    assert await proposed(editor) == [("b.txt", "move", "")]
    await agent.patch("*** Update File: c.txt", "@@", "-red", "+RED")
    assert sorted(await proposed(editor)) == [("b.txt", "move", ""), ("b.txt", "replace", "RED\n")]


@pytest.mark.parametrize("first", ["b.txt", "c.txt"])
async def test_new_file_under_a_name_that_was_moved_away_is_decided_in_each_order(
    first: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = PatchAgent(shell)
    await agent.prompt()
    await agent.patch("*** Update File: b.txt", "*** Move to: c.txt", "@@", " red")
    await agent.patch("*** Add File: b.txt", "+blue")
    assert sorted(await proposed(editor)) == [
        ("b.txt", "replace", "blue\n"), ("c.txt", "create", "red\ngreen\n"),
    ]  # fmt: skip
    assert saved(shell)["b.txt"] == "red\ngreen\n"
    listed = await editor.command("stet.proposals", {"state": "pending"})
    listed.sort(key=lambda item: not item["uri"].endswith(first))
    for item in listed:
        await editor.command("stet.accept", {"hunk": item["hunk"]})
    await wait_for_states(editor, **{item["hunk"]: "accepted" for item in listed})
    assert [editor.text(name) for name in ("b.txt", "c.txt")] == ["blue\n", "red\ngreen\n"]


async def test_rejected_move_is_not_restored_while_another_move_waits(
    shell: Shell, editor: FakeEditor
) -> None:
    agent = PatchAgent(shell)
    await agent.prompt()
    await agent.patch("*** Update File: b.txt", "*** Move to: c.txt", "@@", " red")
    [first] = await editor.command("stet.proposals", {"state": "pending"})
    await editor.command("stet.reject", first["hunk"])
    await agent.prompt("Another name.")
    await agent.patch("*** Update File: b.txt", "*** Move to: d.txt", "@@", " red")
    [second] = await editor.command("stet.proposals", {"state": "pending"})
    with pytest.raises(Exception, match=f"or reject {second['hunk']} first"):
        await editor.command("stet.restore", first["hunk"])
    await editor.command("stet.reject", second["hunk"])
    await editor.command("stet.restore", first["hunk"])
    await editor.command("stet.accept", first["hunk"])
    await editor.wait_until((shell.folder / "c.txt").exists)
    assert not {"b.txt", "d.txt"} & saved(shell).keys()


async def test_file_that_is_moved_and_changed_at_once_is_a_new_and_a_removed_one(
    shell: Shell, editor: FakeEditor
) -> None:
    agent = PatchAgent(shell)
    await agent.prompt()
    await agent.patch("*** Update File: b.txt", "*** Move to: c.txt", "@@", "-red", "+RED")
    assert sorted(await proposed(editor)) == [
        ("b.txt", "remove", ""), ("c.txt", "create", "RED\ngreen\n"),
    ]  # fmt: skip


@every_agent
@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["*** Update File: .env", "@@", "-a", "+b"], "looks like a secret"),
        (["*** Add File: .git/hooks/x", "+b"], "belongs to version control"),
        (["*** Update File: a.txt", "@@", "-two", "+2", "*** Delete File: .env"], "like a secret"),
        (["*** Update File: a.txt", "*** Move to: .env", "@@", "-two", "+2"], "like a secret"),
        (["*** Frobnicate File: a.txt"], "Stet can't read it"),
        (["two"], "Stet can't read it"),
    ],
)
async def test_patch_is_denied_as_a_whole(
    lines: list[str], reason: str, name: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = PatchAgent(shell, name)
    await agent.prompt()
    done = await agent.patch(*lines)
    assert reason in done.denied
    assert await proposed(editor) == []


async def test_patch_of_a_shell_command_becomes_hunks_when_the_turn_ends(
    shell: Shell, editor: FakeEditor
) -> None:
    editor.write(shell.folder / "sub/old.txt", "old\n")
    editor.write(shell.folder / "sub/left.txt", "left\n")
    agent = PatchAgent(shell)
    await agent.prompt()
    await agent.shell_patch("*** Update File: a.txt", "@@", "-two", "+2")
    await agent.shell_patch(
        "*** Update File: b.txt", "@@", " red", "-green", "+GREEN",
        "*** Add File: sub/new.txt", "+new",
        "*** Delete File: sub/old.txt",
        "*** Update File: sub/left.txt", "*** Move to: sub/right.txt", "@@", " left",
    )  # fmt: skip
    await agent.hook("Stop")
    assert sorted(await proposed(editor)) == [
        ("a.txt", "replace", "2\n"), ("b.txt", "replace", "GREEN\n"), ("left.txt", "move", ""),
        ("new.txt", "create", "new\n"), ("old.txt", "remove", ""),
    ]  # fmt: skip
    await editor.wait_until(lambda: "codex proposed 5 hunks to review" in str(editor.messages))
    assert {path.name for path in shell.folder.glob("**/*.txt")} == {
        "a.txt", "b.txt", "old.txt", "left.txt",
    }  # fmt: skip
    assert (shell.folder / "b.txt").read_text() == "red\ngreen\n"
    assert (await agent.prompt()).count("Proposed to the user as ") == 5


@pytest.mark.parametrize(
    "command", ["cd {} && apply_patch", "cd '{}' && applypatch", ' cd "{}" &&\n apply_patch']
)
async def test_patch_of_a_shell_command_in_another_folder(
    command: str, shell: Shell, editor: FakeEditor
) -> None:
    editor.write(shell.folder / "sub/a.txt", "two\n")
    agent = PatchAgent(shell)
    await agent.prompt()
    await agent.shell_patch(
        "*** Update File: a.txt", "@@", "-two", "+2", command=command.format("sub")
    )
    await agent.hook("Stop")
    [item] = await editor.command("stet.proposals", {"state": "pending"})
    assert item["uri"].endswith("/sub/a.txt")


@pytest.mark.parametrize(
    "command",
    [
        "cd $DIR && apply_patch", "cd sub; apply_patch", "cd sub && true && apply_patch",
        "A=1 apply_patch", "apply_patch --check", "cat <<'X'\nX\napply_patch", "cd ~ && apply_patch",
    ],
)  # fmt: skip
async def test_shell_command_that_does_more_than_a_patch_is_denied(
    command: str, shell: Shell, editor: FakeEditor
) -> None:
    agent = PatchAgent(shell)
    await agent.prompt()
    done = await agent.shell_patch("*** Update File: a.txt", "@@", "-two", "+2", command=command)
    assert "Use the tool apply_patch" in done.denied
    assert await proposed(editor) == []


async def test_patch_of_a_shell_command_for_a_forbidden_file_is_denied(
    shell: Shell, editor: FakeEditor
) -> None:
    done = await PatchAgent(shell).shell_patch("*** Update File: .env", "@@", "-a", "+b")
    assert "looks like a secret" in done.denied


@pytest.mark.parametrize(
    "command", ["cat a.txt", "rg apply_patch", "echo '*** Begin Patch' > apply_patch.txt"]
)
async def test_other_shell_commands_are_left_to_the_agent(
    command: str, shell: Shell, editor: FakeEditor
) -> None:
    given = {"tool_name": "Bash", "tool_input": {"command": command}}
    assert await PatchAgent(shell).hook("PreToolUse", **given) == {}


async def test_patch_of_a_shell_command_is_denied_where_the_server_does_not_answer(
    shell: Shell,
) -> None:
    put_dead_server(shell)
    agent = PatchAgent(shell)
    done = await agent.shell_patch("*** Update File: a.txt", "@@", "-two", "+2")
    assert done.denied.startswith("The edit was not made")
    other = {"tool_name": "Bash", "tool_input": {"command": "make"}}
    assert await agent.hook("PreToolUse", **other) == {}


@pytest.mark.parametrize("given", [{}, {"patch": "x"}, {"command": ["x"]}, "x", None])
async def test_edit_is_denied_if_its_input_has_another_form(
    given: object, shell: Shell, editor: FakeEditor
) -> None:
    """A new version of an agent must not pass the review."""
    event = {"tool_name": "apply_patch", "tool_input": given}
    answer = await PatchAgent(shell).hook("PreToolUse", **event)
    assert answer["permissionDecision"] == "deny"
    assert "can't read which file" in answer["permissionDecisionReason"]


async def test_copy_that_was_changed_by_shell_is_proposed_when_the_turn_ends(
    shell: Shell, editor: FakeEditor
) -> None:
    agent = PatchAgent(shell)
    await agent.prompt()
    done = await agent.patch("*** Update File: a.txt", "@@", "-two", "+2")
    await change(copy_path(done.note, "a.txt"), "three", "3")
    await agent.hook("Stop")
    assert {new for _, _, new in await proposed(editor)} == {"2\n", "3\n"}


async def test_patch_outside_of_the_workspace_is_left_to_the_agent(
    shell: Shell, editor: FakeEditor
) -> None:
    outside = shell.folder.parent / "outside.txt"
    outside.write_text("x\n")
    done = await PatchAgent(shell).patch(f"*** Update File: {outside}", "@@", "-x", "+y")
    assert (done.note, outside.read_text()) == ("", "y\n")
    assert await proposed(editor) == []


@every_agent
async def test_patch_is_denied_where_the_server_does_not_answer(name: str, shell: Shell) -> None:
    put_dead_server(shell)
    done = await PatchAgent(shell, name).patch("*** Update File: a.txt", "@@", "-two", "+2")
    assert done.denied.startswith("The edit was not made: the user reviews edits with Stet")


@pytest.fixture
async def second(shell: Shell) -> AsyncIterator[tuple[Shell, FakeEditor]]:
    """Start an editor of another folder, which has a file `c.txt`."""
    other = Shell(shell.folder.with_name("second"), shell.env)
    other.folder.mkdir()
    other.write("c.txt", "sun\nmoon\n")
    async with FakeEditor.start(other.folder, env=other.env) as editor:
        await editor.command("stet.proposals")
        yield other, editor


@every_agent
async def test_patch_for_the_files_of_two_editors_is_denied(
    name: str, shell: Shell, editor: FakeEditor, second: tuple[Shell, FakeEditor]
) -> None:
    other, other_editor = second
    done = await PatchAgent(shell, name).patch(
        "*** Update File: a.txt", "@@", "-two", "+2",
        f"*** Update File: {other.folder}/c.txt", "@@", "-moon", "+MOON",
    )  # fmt: skip
    assert "for the files of one workspace" in done.denied
    assert [await proposed(editor), await proposed(other_editor)] == [[], []]


@pytest.mark.parametrize("is_by_shell", [False, True])
async def test_patch_is_for_the_editor_of_its_files_wherever_the_agent_works(
    is_by_shell: bool, shell: Shell, editor: FakeEditor, second: tuple[Shell, FakeEditor]
) -> None:
    """The agent works in the folder above; the files of the first patch are in no workspace."""
    other, other_editor = second
    agent = PatchAgent(Shell(shell.folder.parent, shell.env))
    if is_by_shell:  # the end of the turn would reach no editor
        lines = ("*** Update File: c.txt", "@@", "-moon", "+MOON")
        done = await agent.shell_patch(*lines, command="cd second && apply_patch")
        assert "use the tool apply_patch" in done.denied
    else:
        change = ("*** Update File: second/c.txt", "@@", "-moon", "+MOON")
        done = await agent.patch("*** Add File: outside.txt", "+new", *change)
        assert "Make a patch for each" in done.denied
        assert await proposed(other_editor) == []
        await agent.patch(*change)
        assert await proposed(other_editor) == [("c.txt", "replace", "MOON\n")]
    assert (other.folder / "c.txt").read_text() == "sun\nmoon\n"
    assert await proposed(editor) == []


async def test_secret_in_the_unsaved_text_is_not_in_the_prompt(
    shell: Shell, editor: FakeEditor
) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    editor.change("a.txt", "two\n", f"aws_key = {key}\n")
    editor.flush()
    await editor.command("stet.proposals")
    news = await PatchAgent(shell).prompt()
    assert "aws_key = [redacted" in news
    assert key not in news
