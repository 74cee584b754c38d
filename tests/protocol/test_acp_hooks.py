"""Agents in the chat that write files themselves: by their hooks, or past the review."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.acp_scripts import AcpScript, permission, say, tool
from tests.support.editor import FakeEditor
from tests.support.live_turns import ask, end_of, question_of, run
from tests.support.shell import Shell

TEXT = "one\ntwo\nthree\n"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Make a workspace of one file."""
    shell = Shell.at(tmp_path)
    shell.write("a.txt", TEXT)
    return shell


async def hook(shell: Shell, event: str, **more: object) -> dict[str, Any]:
    """Call the hook of Claude Code in the session of the scripted agent; return its decision."""
    base = {"hook_event_name": event, "session_id": "session-1", "cwd": str(shell.folder)}
    given = json.dumps({**base, **more})
    ended = await asyncio.to_thread(shell.run, "hook", "claude", typed=given)
    assert (ended.returncode, ended.stderr) == (0, "")
    answer = json.loads(ended.stdout)
    decision: dict[str, Any] = answer.get("hookSpecificOutput", answer)
    return decision


def replace_in(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


async def edit_by_hooks(shell: Shell, old: str, new: str) -> None:
    """Edit the file as Claude Code does, in the copy that its hook names."""
    given = {"file_path": str(shell.folder / "a.txt"), "old_string": old, "new_string": new}
    before = await hook(shell, "PreToolUse", tool_name="Edit", tool_input=given)
    copy = Path(before["updatedInput"]["file_path"])
    assert copy != shell.folder / "a.txt"
    replace_in(copy, old, new)
    await hook(shell, "PostToolUse", tool_name="Edit", tool_input=before["updatedInput"])


async def test_hunks_of_hooks_belong_to_the_turn_of_the_chat(tmp_path: Path, shell: Shell) -> None:
    steps = [permission("Go on", kind="other"), say("Done.")]
    script = AcpScript(tmp_path / "agent", [steps, [say("Seen.")]], profile="claude")
    settings = script.settings()
    async with FakeEditor.start(shell.folder, settings=settings, env=shell.env) as editor:
        editor.open("a.txt")
        editor.change("a.txt", "one\n", "one, unsaved\n")
        editor.leaves_buttons = True
        turn = await ask(editor, "Go.", agent="robot", chat="mine")
        question = await question_of(editor, turn)
        prompt = await hook(shell, "UserPromptSubmit", prompt="Go.")
        assert "redirected to copies" in prompt["additionalContext"]
        await edit_by_hooks(shell, "two", "2")
        await editor.command("stet.answer", {"question": question, "choice": "Allow"})
        ended = await end_of(editor, turn)
        await hook(shell, "Stop")
        [item] = await editor.command("stet.proposals")
        assert (item["author"], item["chat"], item["turn"]) == ("robot", "mine", turn)
        assert (ended["hunks"], ended["notes"]) == ([item["hunk"]], [])
        assert (shell.folder / "a.txt").read_text() == TEXT
        [status] = (await editor.command("stet.status"))["agents"]
        assert status["capture"] == "hook-redirect"
        await editor.command("stet.reject", {"hunk": item["hunk"], "reason": "a word"})
        await run(editor, "Go on.", agent="robot", chat="mine")
        news = await hook(shell, "UserPromptSubmit", prompt="Go on.")
        shown = [message.message for message in editor.messages]
    # The decision is sent once, with the prompt.
    assert "a word" in script.prompt_texts()
    assert "a word" not in news.get("additionalContext", "")
    assert not [text for text in shown if "proposed 1 hunk" in text]


async def test_hooks_of_another_session_have_a_chat_of_their_own(
    tmp_path: Path, shell: Shell
) -> None:
    script = AcpScript(
        tmp_path / "agent", [[say("Yes.")]], session={"sessionId": "session-2"}, profile="claude"
    )
    settings = script.settings()
    async with FakeEditor.start(shell.folder, settings=settings, env=shell.env) as editor:
        await run(editor, "Go.", agent="robot")
        await edit_by_hooks(shell, "two", "2")
        [item] = await editor.command("stet.proposals")
        assert (item["author"], item["chat"]) == ("claude", "claude-session-1")


@pytest.mark.parametrize(
    ("profile", "advice"),
    [
        ("generic", ""),
        ("opencode", " `stet agents install opencode --write` makes hunks of them."),
    ],
)
async def test_edits_past_the_review_are_noted(
    tmp_path: Path, shell: Shell, profile: str, advice: str
) -> None:
    located = [{"path": str(shell.folder / "a.txt")}]
    steps = [
        tool("Edit", kind="edit", locations=located, status="completed"),
        tool("Read", kind="read", locations=located, status="completed"),
        tool("Failed", kind="edit", status="failed"),
    ]
    script = AcpScript(tmp_path / "agent", [steps], profile=profile)
    async with FakeEditor.start(shell.folder, settings=script.settings()) as editor:
        turn = await run(editor, "Go.", agent="robot")
    assert turn["notes"] == [f"robot writes files itself: 1 edit not reviewed.{advice}"]
    assert "Don't repeat an edit" not in script.prompt_texts()
