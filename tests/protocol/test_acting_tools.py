"""Acting tools through the protocol: results for the model, proposals, effects."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.live_turns import (
    ask,
    provider,
    question_of,
    run,
    run_answering,
    states,
    wait_for_states,
)
from tests.support.openai_server import OpenAIServer

HOME = "# Home\n\nSee [[guide]].\n\n## Related\n\n- [[guide]]\n"
GUIDE = "# Guide\n\nFirst.\n"
CODE = "def add(a, b):\n    return a - b\n"
Call = tuple[str, dict[str, Any]]
ALL: dict[str, Any] = {"agent": {"disabledTools": []}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace of notes and code."""
    folder = tmp_path / "ws"
    (folder / "src").mkdir(parents=True)
    (folder / "home.md").write_text(HOME)
    (folder / "guide.md").write_text(GUIDE)
    (folder / "src" / "add.py").write_text(CODE)
    (folder / ".env").write_text("KEY=hunter2\n")
    return folder


def model(*wanted: Call) -> list[api.Reply]:
    """Make the replies of a model that makes these calls, one per round, and is done."""
    return [*(api.call(name, **arguments) for name, arguments in wanted), api.call("done", summary="Done.")]  # fmt: skip


def tool_results(server: OpenAIServer) -> list[str]:
    """Return the answers to the calls of the model, in order."""
    messages = server.requests[-1].body["messages"]
    return [one["content"] for one in messages if one["role"] == "tool"]


def text_and_mode(path: Path) -> tuple[str, int]:
    """Return the text of a file and its permission bits."""
    return path.read_text(), path.stat().st_mode & 0o777


def commands(*entries: dict[str, Any]) -> dict[str, Any]:
    """Make settings that list commands of Python."""
    listed = [{**entry, "argv": [sys.executable, "-I", "-c", *entry["argv"]]} for entry in entries]
    return {"agent": {"disabledTools": [], "commands": listed}}


async def test_files_are_opened_at_their_line(root: Path) -> None:
    wanted: list[Call] = [
        ("open_file", {"file": "src/add.py", "line": 2}),
        ("open_file", {"file": "src/add.py", "line": 3}),
        ("open_file", {"file": "src/sub.py"}),
        ("open_file", {"file": ".env"}),
        ("open_file", {"file": "home.md", "line": 0}),
    ]
    async with (
        OpenAIServer(model(*wanted)) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        turn = await run(editor, "Show me", uri=editor.open("home.md"))
        results = tool_results(server)
        assert results[0] == "src/add.py is shown to the user at line 2.\n"
        assert results[1] == "Error: 'src/add.py' has 2 lines; line 3 is past the end.\n"
        assert results[2].startswith("Error: There is no file 'src/sub.py'. `list_files`")
        assert results[3].startswith("Error: Refused by the rule secret")
        assert results[4].startswith("Error: 'open_file': line: Input should be greater")
        [shown] = editor.shown_documents
        assert shown.uri == editor.uri("src/add.py")
        assert shown.selection is not None
        assert shown.selection.start.line == 1
        assert turn["hunks"] == []
        assert [one["rule"] for one in turn["rejectedEdits"]] == ["secret"]


async def test_an_editor_that_opens_nothing_is_informed_where_to_look(root: Path) -> None:
    replies = model(("open_file", {"file": "src/add.py", "line": 2}))
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, client="kakoune", env=provider(server)) as editor,
    ):
        await run(editor, "Show me", uri=editor.open("home.md"))
        await editor.wait_for_message("src/add.py, line 2")
        assert editor.shown_documents == []


async def test_notes_are_linked_in_their_own_style(root: Path) -> None:
    wanted: list[Call] = [
        ("link_files", {"file": "home.md", "to": "src/add.py", "after": "## Related"}),
        ("link_files", {"file": "home.md", "to": "guide.md"}),
        ("link_files", {"file": "src/add.py", "to": "guide.md"}),
        ("link_files", {"file": "home.md", "to": "none.md"}),
        ("link_files", {"file": "home.md"}),
    ]
    async with (
        OpenAIServer(model(*wanted)) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("home.md")
        turn = await run(editor, "Link", uri=uri)
        results = tool_results(server)
        [hunk] = turn["hunks"]
        assert results[0] == (f"Proposed {hunk}: [[add.py]] in home.md. It waits for the user.\n")
        assert "links to guide.md there already, at line 3" in results[1]
        assert "is not a Markdown note" in results[2]
        assert "`edit_file`" in results[2]
        assert "no file 'none.md' to link to" in results[3]
        assert "to: Field required" in results[4]
        assert editor.text(uri) == HOME
        await editor.command("stet.accept", hunk)
        await wait_for_states(editor, **{hunk: "accepted"})
        assert editor.text(uri) == HOME + "- [[add.py]]\n"


async def test_files_are_gathered_in_a_document_of_stets_own(root: Path) -> None:
    wanted: list[Call] = [
        ("copy_files", {"files": ["home.md", "src/add.py", ".env"]}),
        ("copy_files", {"files": ["guide.md"]}),
        ("copy_files", {"files": ["none.md"]}),
        ("copy_files", {"files": []}),
        ("copy_files", {"files": ["a"] * 201}),
    ]
    async with (
        OpenAIServer(model(*wanted)) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("home.md")
        editor.change(uri, "# Home", "# Home, unsaved")
        turn = await run(editor, "Gather", uri=uri)
        results = tool_results(server)
        assert results[0].startswith("Shown to the user, 2 files, ")
        assert "looks like a secret" in results[0]
        assert "unsaved" not in results[0]
        assert results[2].startswith("Error: None of these files can be copied.")
        assert "at least 1 item" in results[3]
        assert "at most 200 items" in results[4]
        assert turn["filesCopied"] == ["home.md", "src/add.py", "guide.md"]
        assert turn["filesRead"] == []
        first, second = editor.shown_documents
        assert first.uri == second.uri  # the document is not open: the next one replaces it
        path = Path(first.uri.removeprefix("file://"))
        assert text_and_mode(path) == (f"## guide.md\n\n```md\n{GUIDE}```\n", 0o600)
        assert root not in path.parents

        # An open copy is not part of the context.
        copy = editor.open(first.uri)
        editor.focus(copy)
        shown = await editor.command("stet.showContext", {"prompt": "What is this?"})
        assert path.name not in str(shown)


@pytest.mark.parametrize("client", ["neovim", "vscode", "helix", "eglot", "kakoune"])
async def test_a_file_goes_to_the_trash_on_a_yes_and_comes_back(root: Path, client: str) -> None:
    wanted: list[Call] = [
        ("read_file", {"file": "guide.md"}),
        ("delete_file", {"file": "guide.md", "reason": "Old."}),
    ]
    async with (
        OpenAIServer(model(*wanted)) as server,
        FakeEditor.start(root, client=client, settings=ALL, env=provider(server)) as editor,
    ):
        uri = editor.open("home.md")
        turn = await ask(editor, "Tidy up", uri=uri)
        await question_of(editor, turn)
        waiting = await editor.command("stet.turn", turn)
        assert waiting["question"]["kind"] == "delete"
        assert waiting["question"]["choices"] == ["Delete", "Keep"]
        assert waiting["question"]["text"].startswith("Delete guide.md? Old.\n")
        assert waiting["hunks"] == []
        assert waiting["toolCalls"][-1]["state"] == "waitingForUserInput"
        assert (root / "guide.md").exists()

        await editor.choose(uri, "# Home", "Stet: Delete (turn ")
        await editor.wait_until(lambda: not (root / "guide.md").exists())
        await editor.wait_for_message("Stet: Done.")
        ended = await editor.command("stet.turn", turn)
        [hunk] = ended["hunks"]
        assert (await states(editor)) == {hunk: "accepted"}
        assert ended["toolCalls"][1]["state"] == "completed"
        assert tool_results(server)[1].startswith("The user says yes: guide.md is in the trash")

        await editor.command("stet.undo", hunk)
        await wait_for_states(editor, **{hunk: "undone"})
        assert (root / "guide.md").read_text() == GUIDE
        editor.from_server("guide.md")
        await editor.wait_for_message("Stet: guide.md was restored from the trash.")
        # Neovim would print the label.
        label = None if client == "neovim" else "Stet: Delete guide.md: Old."
        assert {one.label for one in editor.applied} <= {label}


async def test_a_file_that_is_kept_or_refused_stays(root: Path) -> None:
    wanted: list[Call] = [
        ("read_file", {"file": "guide.md"}),
        ("delete_file", {"file": "guide.md"}),
        ("delete_file", {"file": ".env"}),
        ("delete_file", {"file": "none.md"}),
        ("delete_file", {"file": "src/add.py"}),
        ("delete_file", {"files": ["guide.md"]}),
    ]
    async with (
        OpenAIServer(model(*wanted)) as server,
        FakeEditor.start(root, settings=ALL, env=provider(server)) as editor,
    ):
        turn = await run_answering(editor, "Tidy up", "keep", uri=editor.open("home.md"))
        results = tool_results(server)[1:]
        assert results[0] == "The user keeps guide.md. Go on without it, and do not ask again.\n"
        assert results[1].startswith("Error: Refused by the rule secret") or "secret" in results[1]
        assert results[2].startswith("Error: There is no file 'none.md'")
        assert results[3].startswith("Error: Refused by the rule edit.scope")
        assert "file: Field required" in results[4]
        assert turn["toolCalls"][1]["state"] == "canceled"
        assert turn["hunks"] == []
        assert editor.applied == []


async def test_a_listed_command_runs_after_a_yes_and_nothing_else_does(root: Path) -> None:
    script = "import os, sys; print(sys.argv[1:], os.getcwd(), 'OPENAI_API_KEY' in os.environ)"
    listed = commands(
        {"name": "say", "description": "Says it.", "argv": [script, "--to={who}", "{what}"]},
        {"name": "fail", "safe": True, "argv": ["print('x' * 50000); raise SystemExit(3)"]},
    )
    wanted: list[Call] = [
        ("execute_command", {"name": "say", "arguments": {"who": "a b", "what": "$HOME; ls"}}),
        ("execute_command", {"name": "say", "arguments": {"who": "-x", "what": "no"}}),
        ("execute_command", {"name": "fail"}),
        ("execute_command", {"name": "say", "arguments": {"who": "x", "what": "-rf"}}),
        ("execute_command", {"name": "sh", "arguments": {"c": "ls"}}),
        ("execute_command", {"name": "say", "arguments": "ls"}),
    ]
    async with (
        OpenAIServer(model(*wanted)) as server,
        FakeEditor.start(root, settings=listed, env=provider(server)) as editor,
    ):
        turn = await run_answering(editor, "Run", "Run it", "don't run", uri=editor.open("home.md"))
        [tool] = [
            one["function"]
            for one in server.requests[0].body["tools"]
            if one["function"]["name"] == "execute_command"
        ]
        assert tool["description"].endswith("The commands:\n- say(who, what): Says it.\n- fail()")
        results = tool_results(server)
        assert results[0].startswith("Exit code 0 after ")
        assert f"['--to=a b', '$HOME; ls'] {root} False\n" in results[0]
        assert results[1] == "The user does not want 'say' to run. Go on without it.\n"
        assert results[2].startswith("Exit code 3 after ")
        assert "bytes in the middle are left out" in results[2]
        assert len(results[2]) < 20_000
        assert "may not begin with '-'" in results[3]
        assert "There is no command 'sh'. The user allows: 'say', 'fail'." in results[4]
        assert "arguments: Input should be a valid dictionary" in results[5]
        assert [one["state"] for one in turn["toolCalls"]] == [
            "completed", "canceled", "completed", "error", "error", "error", "completed",
        ]  # fmt: skip


async def test_a_cancel_ends_the_program(root: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = f"import time; held = open({str(pipe)!r}, 'wb', 0); held.write(b'begun'); time.sleep(60)"
    listed = commands({"name": "wait", "safe": True, "argv": [code]})
    replies = model(("execute_command", {"name": "wait"}))
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, settings=listed, env=provider(server)) as editor,
    ):
        turn = await ask(editor, "Run", uri=editor.open("home.md"))
        with await asyncio.to_thread(pipe.open, "rb", 0) as reader:
            assert await asyncio.to_thread(reader.read, 5) == b"begun"
            assert (await editor.command("stet.cancel"))["turns"] == [turn]
            # The pipe ends when no process holds it any more.
            assert await asyncio.to_thread(reader.read) == b""
        found = await editor.command("stet.turn", turn)
        assert (found["state"], found["toolCalls"][0]["state"]) == ("cancelled", "canceled")


async def test_the_project_lists_no_commands(root: Path) -> None:
    (root / ".stet.toml").write_text(
        '[agent]\ndisabledTools = []\n[[agent.commands]]\nname = "x"\nargv = ["touch", "pwned"]\n'
        "safe = true\n"
    )
    replies = model(("execute_command", {"name": "x"}))
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, settings=ALL, env=provider(server)) as editor,
    ):
        await editor.wait_for_message("'agent.commands' is ignored")
        await run(editor, "Run", uri=editor.open("home.md"))
        assert tool_results(server)[0].startswith("Error: There is no tool 'execute_command'.")
    assert not (root / "pwned").exists()


async def test_text_of_the_user_reaches_the_model(root: Path) -> None:
    wanted: list[Call] = [
        ("ask_user", {"question": "Which?", "choices": ["One", "Two"]}),
        ("ask_user", {"question": ""}),
        ("ask_user", {"question": "Which?", "choices": ["x" * 61]}),
        ("ask_user", {"choices": ["One"]}),
    ]
    # The tool `ask_user` can't be switched off.
    settings = {"agent": {"disabledTools": ["ask_user"], "disabledGroups": ["action"]}}
    async with (
        OpenAIServer(model(*wanted)) as server,
        FakeEditor.start(root, settings=settings, env=provider(server)) as editor,
    ):
        await run_answering(editor, "Ask me", "two", uri=editor.open("home.md"), mode="ask")
        results = tool_results(server)
        assert results[0] == "The user answers: Two\n"
        assert "`question` is empty" in results[1]
        assert "at most 60 characters" in results[2]
        assert "question: Field required" in results[3]
