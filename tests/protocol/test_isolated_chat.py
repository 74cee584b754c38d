"""Agents of the chat in an overlay of the workspace: what they change by any means becomes hunks."""

import asyncio
import os
import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from tests.conftest import Part
from tests.parts.isolation import isolation
from tests.support.acp_scripts import AcpScript, Step, permission, read, say, tool, write
from tests.support.acp_scripts import shell as by_shell
from tests.support.editor import FakeEditor
from tests.support.editor_session import WAIT_SECONDS
from tests.support.isolated_run import TEXT, numbered_lines, texts, wait_for_hunks
from tests.support.live_turns import ask, end_of, question_of, run
from tests.support.shell import Shell


@pytest.fixture
def shell(tmp_path: Path, part: Part) -> Shell:
    part(isolation)
    return numbered_lines(tmp_path)


def scripted(shell: Shell, *prompts: list[Step], **fields: Any) -> AcpScript:
    """Make an isolated agent that writes files itself."""
    fields = {"profile": "opencode", "isolation": "auto", **fields}
    return AcpScript(shell.folder.parent / "agent", list(prompts), **fields)


@asynccontextmanager
async def start(shell: Shell, script: AcpScript) -> AsyncIterator[FakeEditor]:
    settings = {**script.settings(), "edit": {"canDelete": True}}
    async with FakeEditor.start(shell.folder, settings=settings, env=shell.env) as editor:
        yield editor


def saved(shell: Shell) -> dict[str, str]:
    """Return the texts of all files on the disk."""
    files = [path for path in shell.folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(shell.folder)): path.read_text() for path in files}


def layers(shell: Shell) -> list[Path]:
    """Return the folders of the layers of sessions."""
    return list(Path(shell.env["XDG_CACHE_HOME"]).glob("stet/isolated/*/*"))


async def pending(editor: FakeEditor) -> dict[str, Any]:
    """Return the pending hunks by their new text."""
    listed = await editor.command("stet.proposals", {"state": "pending"})
    return {item["new"]: item for item in listed}


async def type_line(editor: FakeEditor, old: str, new: str) -> None:
    """Type into `a.txt`, and wait until the server has the text."""
    editor.change("a.txt", old, new)
    editor.flush()
    await editor.command("stet.proposals")


async def test_changes_by_shell_are_hunks_of_the_turn(shell: Shell) -> None:
    shell.write(".gitignore", "build\n")
    shell.write(".env", "TOKEN=1\n")
    commands = (
        "cat a.txt; ls -A; sed -i s/two/2/ a.txt; mv b.txt c.txt; echo n >n.txt; "
        "mkdir build; echo o >build/o"
    )
    script = scripted(shell, [by_shell(commands), say("Done.")])
    before = saved(shell)
    async with start(shell, script) as editor:
        editor.open("a.txt")
        await type_line(editor, "one\n", "one, unsaved\n")
        turn = await run(editor, "Go.", agent="robot")
        assert turn["state"] == "completed"
        listed = await editor.command("stet.proposals", {"state": "pending"})
        found = {(one["author"], one["turn"], one["kind"], one["new"]) for one in listed}
        assert found == {
            ("robot", turn["turn"], "replace", "2\n"),
            ("robot", turn["turn"], "move", ""),
            ("robot", turn["turn"], "create", "n\n"),
        }
        assert turn["notes"] == ["Not proposed, as ignored, hidden or special files: build."]
        [status] = (await editor.command("stet.status"))["agents"]
        assert (status["capture"], status["isolation"]) == ("overlay", "overlay")
        assert len(layers(shell)) == 1
    [output] = script.outputs()
    assert output.splitlines() == [
        "one, unsaved", "two", "three", "four", "five", ".gitignore", "a.txt", "b.txt",
    ]  # fmt: skip
    assert saved(shell) == before
    assert layers(shell) == []
    assert "You work in an overlay of " in script.prompt_texts()
    assert "one, unsaved" not in script.prompt_texts()


async def test_next_prompt_brings_decisions_and_the_present_text(shell: Shell) -> None:
    first = "sed -i 's/two/2/; s/four/4/' a.txt; echo n >n.txt; rm b.txt"
    second = "cat a.txt; ls; sed -i s/five/5/ a.txt"
    script = scripted(shell, [by_shell(first)], [by_shell(second)])
    async with start(shell, script) as editor:
        editor.open("a.txt")
        await run(editor, "Go.", agent="robot", chat="mine")
        hunks = await pending(editor)
        assert set(hunks) == {"2\n", "4\n", "n\n", ""}
        for new in ("2\n", "n\n", ""):
            await editor.command("stet.reject", {"hunk": hunks[new]["hunk"], "reason": "a name"})
        await editor.command("stet.accept", {"hunk": hunks["4\n"]["hunk"], "new": "FOUR\n"})
        await editor.wait_until(lambda: "FOUR" in editor.text("a.txt"))
        await type_line(editor, "one\n", "one, typed\n")
        await run(editor, "Go on.", agent="robot", chat="mine")
        assert await texts(editor) == ["5\n"]
    _, shown = script.outputs()
    assert shown.splitlines() == ["one, typed", "two", "three", "FOUR", "five", "a.txt", "b.txt"]
    assert "a name" in script.prompt_texts()
    assert "FOUR" in script.prompt_texts()
    assert "overlay" not in script.prompt_texts()


async def test_requests_and_shell_commands_see_each_other(shell: Shell) -> None:
    a, new = shell.folder / "a.txt", shell.folder / "new.txt"
    steps = [
        read(a),
        write(a, TEXT.replace("two", "2")),
        by_shell("cat a.txt; sed -i s/four/4/ a.txt"),
        read(a),
        write(new, "n\n"),
        by_shell("cat new.txt; echo m >>new.txt"),
        read(new),
    ]
    script = scripted(shell, steps, profile="qwen")
    before = saved(shell)
    async with start(shell, script) as editor:
        editor.open("a.txt")
        await run(editor, "Go.", agent="robot")
        assert sorted(await texts(editor)) == ["2\n", "4\n", "n\nm\n"]
    edited = TEXT.replace("two", "2")
    assert script.outputs() == [edited, "n\n"]
    assert [one["content"] for one in script.answers("fs/read_text_file")] == [
        TEXT,
        edited.replace("four", "4"),
        "n\nm\n",
    ]
    assert saved(shell) == before


async def test_edits_in_the_overlay_need_no_permission(shell: Shell) -> None:
    path = str(shell.folder / "a.txt")
    diff = {"type": "diff", "path": path, "oldText": "two", "newText": "2"}
    script = scripted(shell, [permission("Edit", kind="edit", content=[diff]), say("Done.")])
    async with start(shell, script) as editor:
        assert (await run(editor, "Go.", agent="robot"))["state"] == "completed"
    [answer] = script.answers("session/request_permission")
    assert answer["outcome"] == {"outcome": "selected", "optionId": "yes"}


async def test_hunks_appear_while_the_agent_works(shell: Shell) -> None:
    steps = [by_shell("sed -i s/two/2/ a.txt"), permission("Go on", kind="other"), say("Done.")]
    script = scripted(shell, steps)
    async with start(shell, script) as editor:
        editor.leaves_buttons = True
        turn = await ask(editor, "Go.", agent="robot")
        question = await question_of(editor, turn)
        await wait_for_hunks(editor, "2\n")
        await editor.command("stet.answer", {"question": question, "choice": "Allow"})
        assert (await end_of(editor, turn))["state"] == "completed"


async def test_changes_of_a_question_are_not_proposed_and_not_seen_later(shell: Shell) -> None:
    script = scripted(shell, [by_shell("echo 1 >a.txt; rm b.txt")], [by_shell("cat a.txt b.txt")])
    async with start(shell, script) as editor:
        turn = await run(editor, "Why?", agent="robot", chat="mine", mode="ask")
        assert sorted(turn["notes"]) == [
            f"Not proposed: {name} was changed, and the turn was only a question."
            for name in ("a.txt", "b.txt")
        ]
        await run(editor, "Go.", agent="robot", chat="mine")
        assert await texts(editor) == []
    assert script.outputs()[1] == f"{TEXT}b\n"


async def test_agent_sees_its_pending_hunks_after_a_restart(shell: Shell) -> None:
    command = "sed -i s/two/2/ a.txt; rm b.txt; echo n >n.txt"
    script = scripted(shell, [by_shell(command)])
    async with start(shell, script) as editor:
        await run(editor, "Go.", agent="robot", chat="mine")
        assert set(await texts(editor)) == {"2\n", "n\n", ""}
    script = scripted(shell, [by_shell("cat a.txt; ls; sed -i s/five/5/ a.txt")])
    async with start(shell, script) as editor:
        await run(editor, "Go on.", agent="robot", chat="mine")
        assert set(await texts(editor)) == {"2\n", "n\n", "", "5\n"}
    assert script.outputs()[1].splitlines() == [
        "one",
        "2",
        "three",
        "four",
        "five",
        "a.txt",
        "n.txt",
    ]


async def test_isolation_that_fails_is_a_failed_turn_where_it_is_required(shell: Shell) -> None:
    script = scripted(shell, [by_shell("sed -i s/two/2/ a.txt")], isolation="overlay")
    cache = Path(shell.env["XDG_CACHE_HOME"]) / "stet"
    cache.mkdir(parents=True)
    (cache / "isolated").write_text("not a folder")
    async with start(shell, script) as editor:
        turn = await run(editor, "Go.", agent="robot")
        assert turn["state"] == "failed"
        assert turn["error"].startswith(
            "The agent robot can't be isolated: the layers can't be made"
        )
        assert turn["error"].endswith('With agents.isolation "none" it writes the disk.')
    assert script.log() == []


@pytest.mark.parametrize("isolation", ["auto", "none"])
async def test_agent_that_is_not_isolated_writes_the_disk_and_the_turn_says_so(
    shell: Shell, isolation: str
) -> None:
    # Its logins and conversations would be lost with the layers.
    more = {"env": {"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(shell.folder / "h")}}
    edit = tool("Edit a.txt", kind="edit", status="completed")
    script = scripted(
        shell, [by_shell("sed -i s/two/2/ a.txt"), edit], isolation=isolation, more=more
    )
    async with start(shell, script) as editor:
        turn = await run(editor, "Go.", agent="robot")
        assert "robot writes files itself: 1 edit not reviewed." in turn["notes"][0]
        [status] = (await editor.command("stet.status"))["agents"]
        assert status["isolation"] == "none"
        assert (shell.folder / "a.txt").read_text() == TEXT.replace("two", "2")
        editor.write(shell.folder / "a.txt", TEXT)  # the disk is the editor's again


async def test_changed_setting_holds_from_the_next_prompt_on(shell: Shell) -> None:
    script = scripted(shell, [by_shell("cat a.txt")], isolation="none")
    async with start(shell, script) as editor:
        editor.open("a.txt")
        await type_line(editor, "one\n", "one, unsaved\n")
        await run(editor, "Go.", agent="robot", chat="mine")
        script.isolation = "auto"
        editor.set_configuration(script.settings(), section="stet")
        editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(None))
        await run(editor, "Go on.", agent="robot", chat="mine")
    assert script.outputs() == [TEXT, TEXT.replace("one", "one, unsaved")]


async def test_missing_program_is_named(shell: Shell) -> None:
    script = scripted(shell, [], more={"command": ["no-such-agent"]})
    async with start(shell, script) as editor:
        turn = await run(editor, "Go.", agent="robot")
        assert turn["error"] == (
            "The program 'no-such-agent' of the agent robot was not found. Install it, or set "
            "agents.servers.robot.command."
        )
    assert layers(shell) == []


async def test_killed_server_leaves_no_agent(shell: Shell) -> None:
    script = scripted(shell, [{"child": 0}, permission("Go on", kind="other")])
    async with start(shell, script) as editor:
        editor.leaves_buttons = True
        turn = await ask(editor, "Go.", agent="robot")
        await question_of(editor, turn)
        agent = os.pidfd_open(script.pids()[0])
        await editor.kill()
        ended, _, _ = await asyncio.to_thread(select.select, [agent], [], [], WAIT_SECONDS)
        assert ended == [agent]
        os.close(agent)


async def test_agent_that_ends_early_has_proposed_what_it_has_changed(shell: Shell) -> None:
    shell.write(".gitignore", "build\n")
    script = scripted(shell, [by_shell("sed -i s/two/2/ a.txt; mkdir build"), {"exit": 3}])
    async with start(shell, script) as editor:
        turn = await run(editor, "Go.", agent="robot")
        assert turn["state"] == "failed"
        assert turn["error"] == "The agent robot ended with exit code 3."
        assert turn["notes"] == ["Not proposed, as ignored, hidden or special files: build."]
        assert await texts(editor) == ["2\n"]
        assert layers(shell) == []


async def test_cancelled_turn_proposes_what_was_changed(shell: Shell) -> None:
    steps = [by_shell("sed -i s/two/2/ a.txt"), permission("Go on", kind="other")]
    script = scripted(shell, [*steps, {"wait": "cancel"}])
    async with start(shell, script) as editor:
        editor.leaves_buttons = True
        turn = await ask(editor, "Go.", agent="robot")
        await question_of(editor, turn)
        await editor.command("stet.cancel", {"turn": turn})
        await wait_for_hunks(editor, "2\n")


async def test_link_in_the_place_of_a_folder_is_not_followed(shell: Shell) -> None:
    outside = shell.folder.parent / "outside"
    outside.mkdir()
    (outside / "c.txt").write_text("mine\n")
    (shell.folder / "folder").mkdir()
    shell.write("folder/c.txt", TEXT)
    script = scripted(
        shell, [by_shell(f"rm -r folder; ln -s {outside} folder")], [by_shell("cat folder/c.txt")]
    )
    async with start(shell, script) as editor:
        editor.open("folder/c.txt")
        await run(editor, "Go.", agent="robot", chat="mine")
        for hunk in (await pending(editor)).values():
            await editor.command("stet.reject", {"hunk": hunk["hunk"]})
        editor.change("folder/c.txt", "one\n", "one, typed\n")
        editor.flush()
        await run(editor, "Go on.", agent="robot", chat="mine")
    assert (outside / "c.txt").read_text() == "mine\n"
    assert script.outputs()[1] == "mine\n"
