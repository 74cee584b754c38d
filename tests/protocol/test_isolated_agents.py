"""An agent with hooks that `stet run` has started: its prompts bring the user's decisions."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Part
from tests.parts.isolation import isolation
from tests.support.editor import FakeEditor
from tests.support.isolated_run import TEXT, Run, numbered_lines, texts, wait_for_hunks
from tests.support.shell import STET, Shell
from tests.support.unsaved_text import saved_editor


@pytest.fixture
def shell(tmp_path: Path, part: Part) -> Shell:
    part(isolation)
    return numbered_lines(tmp_path)


@pytest.fixture
async def editor(shell: Shell) -> AsyncIterator[FakeEditor]:
    async with saved_editor(shell, {"edit": {"canDelete": True}}) as editor:
        yield editor


def hook(shell: Shell, event: str, **more: object) -> str:
    """Return the shell command that calls the hook of an event."""
    given = {"hook_event_name": event, "session_id": "s1", "cwd": str(shell.folder), **more}
    return f"echo '{json.dumps(given)}' | {' '.join((*STET, 'hook', 'claude'))}; echo;"


def context(line: str) -> str:
    """Return what the model is sent of the answer of a hook."""
    answer: dict[str, Any] = json.loads(line)
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


async def by_new(editor: FakeEditor) -> dict[str, str]:
    """Return the ids of the pending hunks by their new text."""
    listed = await editor.command("stet.proposals", {"state": "pending"})
    return {item["new"]: item["hunk"] for item in listed}


async def test_prompt_brings_decisions_and_the_present_text(
    shell: Shell, editor: FakeEditor
) -> None:
    prompt, stop = hook(shell, "UserPromptSubmit"), hook(shell, "Stop")
    script = (
        f"{prompt} sed -i 's/two/2/; s/four/4/' a.txt; echo n >n.txt; rm b.txt; {stop} WAIT {prompt}"
        "cat a.txt; ls; sed -i s/five/5/ a.txt"
    )
    async with Run.start(shell, script) as run:
        await run.begun()
        hunks = await by_new(editor)
        assert set(hunks) == {"2\n", "4\n", "n\n", ""}
        await editor.wait_for_message("claude proposed 4 hunks to review")
        for new in ("2\n", "n\n", ""):
            await editor.command("stet.reject", {"hunk": hunks[new], "reason": "a name"})
        await editor.command("stet.accept", {"hunk": hunks["4\n"], "new": "FOUR\n"})
        await editor.wait_until(lambda: "FOUR" in editor.text("a.txt"))
        editor.change("a.txt", "one\n", "one, typed\n")
        editor.flush()
        await editor.command("stet.proposals")
        await run.go()
        await run.ended()
    first, end, second, *shown = run.output.splitlines()
    assert "You work in an overlay of " in context(first)
    assert json.loads(end) == {}
    assert "a name" in context(second)
    assert "FOUR" in context(second)
    assert "overlay" not in context(second)
    assert shown == ["one, typed", "two", "three", "FOUR", "five", "a.txt", "b.txt"]
    assert await texts(editor) == ["5\n"]


async def test_conflict_is_named_to_the_agent_with_the_users_lines(
    shell: Shell, editor: FakeEditor
) -> None:
    prompt, stop = hook(shell, "UserPromptSubmit"), hook(shell, "Stop")
    script = f"{prompt} WAIT sed -i s/two/2/ a.txt; {stop} {prompt} cat a.txt"
    async with Run.start(shell, script) as run:
        await run.begun()
        editor.change("a.txt", "two\n", "two, typed\n")
        editor.flush()
        await editor.command("stet.proposals")
        await run.go()
        await run.ended()
    second = run.output.splitlines()[2]
    [item] = await editor.command("stet.proposals")
    assert (item["state"], item["old"], item["new"]) == ("conflict", "two, typed\n", "2\n")
    assert "conflict: the user has edited that text" in context(second)
    assert "two, typed" in context(second)
    assert run.output.endswith("one\ntwo, typed\nthree\nfour\nfive\n")
    assert await texts(editor) == []


async def test_session_is_sent_each_decision_once_in_and_outside_of_overlays(
    shell: Shell, editor: FakeEditor
) -> None:
    first, other = hook(shell, "UserPromptSubmit"), hook(shell, "UserPromptSubmit", session_id="s2")
    stop = hook(shell, "Stop")
    script = f"{first} sed -i s/two/2/ a.txt; {stop} WAIT {first} {other} {first}"
    async with Run.start(shell, script) as run:
        await run.begun()
        await editor.command("stet.reject", {"all": True, "reason": "a name"})
        await run.go()
        await run.ended()
    again = await asyncio.to_thread(shell.run, "run", "sh", "-c", first)
    given = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": str(shell.folder)}
    outside = await asyncio.to_thread(shell.run, "hook", "claude", typed=json.dumps(given))
    news = [context(line) for line in (*run.output.splitlines(), again.stdout, outside.stdout)]
    assert ["a name" in one for one in news] == [False, False, True, False, False, False, False]


async def test_tools_and_subagents_begin_no_turn(shell: Shell, editor: FakeEditor) -> None:
    given = {"tool_name": "Edit", "tool_input": {"file_path": "a.txt"}}
    script = "".join(
        (
            hook(shell, "PreToolUse", **given),
            hook(shell, "PostToolUse", **given),
            hook(shell, "UserPromptSubmit", parent_id="s0"),
            hook(shell, "SessionEnd"),
            "echo 2 >b.txt; WAIT",
        )
    )
    async with Run.start(shell, script) as run:
        await run.begun()
        await wait_for_hunks(editor, "2\n")
        await run.go()
        await run.ended()
    assert run.output == "{}\n" * 4


async def test_forged_session_writes_nothing(shell: Shell, editor: FakeEditor) -> None:
    """A hook outside of the overlay is not isolated, whatever it names."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": str(shell.folder)}
    given = json.dumps({**event, "session": "claude-run-1"})
    ended = await asyncio.to_thread(shell.run, "hook", "claude", typed=given)
    assert "redirected to copies" in context(ended.stdout)
    assert (shell.folder / "a.txt").read_text() == TEXT


async def test_hook_writes_through_no_link_of_the_program(shell: Shell) -> None:
    for name in ("folder", "other"):
        (shell.folder / name).mkdir()
        shell.write(f"{name}/c.txt", TEXT)
    prompt, stop = hook(shell, "UserPromptSubmit"), hook(shell, "Stop")
    script = f"{prompt} rm -r folder; ln -s other folder; {stop} WAIT {prompt} cat folder/c.txt"
    async with saved_editor(shell) as editor:
        output = await output_after_typing(shell, editor, "folder/c.txt", script)
        assert output.endswith(f"\n{TEXT}")
        assert await texts(editor) == []


async def test_target_of_a_link_of_the_workspace_has_the_present_text(shell: Shell) -> None:
    (shell.folder / "way").symlink_to(shell.folder)
    prompt = hook(shell, "UserPromptSubmit")
    async with saved_editor(shell) as editor:
        output = await output_after_typing(
            shell, editor, "way/a.txt", f"{prompt} WAIT {prompt} cat a.txt"
        )
    assert output.endswith(f"\n{TEXT.replace('one', 'one, typed')}")


async def output_after_typing(shell: Shell, editor: FakeEditor, name: str, script: str) -> str:
    """Run a script; the user types in a file while it waits. Return what it prints."""
    editor.open(name)
    async with Run.start(shell, script) as run:
        await run.begun()
        editor.change(name, "one\n", "one, typed\n")
        editor.flush()
        await editor.command("stet.proposals")
        await run.go()
        await run.ended()
    return run.output
