"""The context of the model: the editor's text, the user's position, and nothing private."""

import asyncio
import json
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.support import openai_server as api
from tests.support.editor import FakeEditor
from tests.support.editor_session import WAIT_SECONDS
from tests.support.live_turns import calls, done, provider, run, scripted
from tests.support.openai_server import OpenAIServer

CANARY = "sk-canary-7f3a"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a workspace with something to hide."""
    folder = tmp_path / "ws"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\ny = 2\n")
    (folder / "b.py").write_text("from a import x\n")
    (folder / ".env").write_text(f"KEY={CANARY}\n")
    (folder / ".gitignore").write_text("secret/\n")
    (folder / "secret").mkdir()
    (folder / "secret" / "k.txt").write_text(CANARY)
    (tmp_path / "outside.txt").write_text(CANARY)
    (folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    return folder


async def shown(editor: FakeEditor, **arguments: object) -> dict[str, str]:
    """Return the sections of a question by name."""
    # The server does not announce that it is ready; each request is a round trip.
    async with asyncio.timeout(WAIT_SECONDS):
        while not (await editor.command("stet.status"))["ready"]:
            pass
    answer = await editor.command("stet.showContext", {"prompt": "Why?", **arguments})
    assert answer["tokens"] == sum(part["tokens"] for part in answer["sections"])
    return {part["name"]: part["text"] for part in answer["sections"]}


async def test_the_sections_show_unsaved_text_cursor_and_selection(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, env=scripted(tmp_path)) as editor:
        editor.open("b.py")
        uri = editor.open("a.py")
        editor.change(uri, "y = 2", "y = 22")
        editor.select(uri, "y = 22")
        sections = await shown(editor)
        assert "     2\ty = 22\n" in sections["current_file"]
        assert "Path: a.py\n" in sections["current_file"]
        assert '<file_contents path="b.py" mtime="' in sections["attached_files"]
        assert 'lines="1-1" total_lines="1"' in sections["attached_files"]
        assert (
            '<manually_added_selection path="a.py" lines="2">'
            in sections["manually_added_selection"]
            or '<manually_added_selection path="a.py" lines="2-2">'
            in sections["manually_added_selection"]
        )
        assert str(root) in sections["workspace"]
        assert sections["user_query"] == "<user_query>\nWhy?\n</user_query>"


async def test_a_selection_that_ends_beyond_every_number_ends_with_the_text(
    root: Path, tmp_path: Path
) -> None:
    async with FakeEditor.start(root, env=scripted(tmp_path)) as editor:
        uri = editor.open("a.py", "x = 1\ny = 2\nlast")
        selection = {
            "anchor": {"line": 1, "character": 0},
            "active": {"line": 2, "character": 2**31},
        }
        params = {"textDocument": {"uri": uri}, "selections": [selection]}
        editor.protocol.notify("$/stet/didChangeSelection", params)
        sections = await shown(editor)
        assert 'lines="2-3">\ny = 2\nlast\n' in sections["manually_added_selection"]


async def test_what_is_closed_is_not_shown(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, env=scripted(tmp_path)) as editor:
        editor.open("a.py")
        editor.open("b.py")
        editor.close("b.py")
        sections = await shown(editor)
        assert "b.py" not in "".join(text for name, text in sections.items() if name != "tools")
        assert "Path: a.py\n" in sections["current_file"]


async def test_the_active_file_follows_the_focus(root: Path, tmp_path: Path) -> None:
    async with FakeEditor.start(root, env=scripted(tmp_path)) as editor:
        editor.open("a.py")
        editor.open("b.py")
        editor.focus("a.py")
        assert "Path: a.py\n" in (await shown(editor))["current_file"]
        await editor.command("stet.focus", {"file": "b.py", "line": 1})
        assert "Path: b.py\n" in (await shown(editor))["current_file"]


async def test_nothing_private_is_in_any_request(root: Path) -> None:
    """Obey an attacker as the model, and read everything by every name."""
    names = [".env", "secret/k.txt", "link.txt", "../outside.txt", str(root / ".env"), "./.env"]
    reads = [api.call("read_file", file=name) for name in names]
    searches = [
        api.call("search_workspace", query="canary"),
        api.call("search_workspace", query="sk-.*", mode="regex"),
        api.call("list_files"),
    ]
    replies = [*reads, *searches, api.call("done", summary="Nothing found.")]
    settings = {"agent": {"maxIterations": 20}}
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server), settings=settings) as editor,
    ):
        editor.open(".env")
        editor.open("a.py")
        turn = await run(editor, "What is the key?", file="a.py")
        assert turn["state"] == "completed", turn["error"]
        assert [call["state"] for call in turn["toolCalls"][: len(names)]] == ["error"] * len(names)
        sent = json.dumps([asked.body for asked in server.requests])
        assert CANARY not in sent
        assert len(server.requests) == len(replies)


async def test_requests_of_a_turn_extend_the_same_beginning(root: Path) -> None:
    replies = [
        api.call("read_file", file="a.py"),
        api.call("list_files"),
        api.call("done", summary="Read."),
        api.call("done", summary="Again."),
    ]
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open("a.py")
        await run(editor, "Read", uri=uri)
        editor.change(uri, "x = 1", "x = 11")
        await run(editor, "Read again", uri=uri)
        first, second, third, again = [asked.body for asked in server.requests]
        assert second["messages"][: len(first["messages"])] == first["messages"]
        assert third["messages"][: len(second["messages"])] == second["messages"]
        assert again["messages"][0] == first["messages"][0]
        assert again["tools"] == first["tools"]


async def test_policy_refuses_what_the_settings_forbid(root: Path, tmp_path: Path) -> None:
    env = scripted(
        tmp_path,
        calls(("read_file", {"file": "b.py"})),
        calls(
            ("edit_file", {"file": "b.py", "old_text": "from a import x", "new_text": "import a"}),
            ("edit_file", {"file": "a.py", "position": "delete:1"}),
            ("create_file", {"file": "c.py", "content": "z = 3\n"}),
        ),
        calls(("edit_file", {"file": "a.py", "position": "end", "content": "z = 3"})),
        done(),
    )
    settings = {"edit": {"scope": "current", "canDelete": False, "canCreate": False}}
    async with FakeEditor.start(root, env=env, settings=settings) as editor:
        uri = editor.open("a.py")
        turn = await run(editor, "All of it", uri=uri)
        assert [(e["file"], e["rule"]) for e in turn["rejectedEdits"]] == [
            ("b.py", "edit.scope"),
            ("a.py", "edit.canDelete"),
            ("c.py", "edit.canCreate"),
        ]
        [hunk] = await editor.command("stet.proposals")
        assert (hunk["kind"], hunk["new"]) == ("add", "z = 3\n")


async def test_settings_that_change_hold_for_the_next_question(root: Path, tmp_path: Path) -> None:
    new = calls(("create_file", {"file": "c.py", "content": "z = 3\n"}))
    env = scripted(tmp_path, new, done(), new, done())
    async with FakeEditor.start(root, client="vscode", env=env) as editor:
        uri = editor.open("a.py")
        assert (await run(editor, "Before", uri=uri))["rejectedEdits"] == []
        assert [one.method for one in editor.registered] == [
            "workspace/didChangeConfiguration",
            "workspace/didChangeWatchedFiles",
        ]
        settings = {"stet": {"edit": {"canCreate": False}, "log": {"level": "loud"}}}
        editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(settings))
        await editor.wait_for_message("log.level")
        turn = await run(editor, "After", uri=uri)
        assert [one["rule"] for one in turn["rejectedEdits"]] == ["edit.canCreate"]


async def test_positions_create_and_open_a_file(root: Path, tmp_path: Path) -> None:
    new = ("edit_file", {"file": "c.py", "position": "create", "content": "z = 3\n"})
    see = ("edit_file", {"file": "b.py", "position": "open"})
    env = scripted(tmp_path, calls(new, see), done(), calls(new, see), done())
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.py")
        turn = await run(editor, "Both", uri=uri)
        assert [call["state"] for call in turn["toolCalls"]] == [
            "waitingForUserInput",
            "completed",
            "completed",
        ]
        [hunk] = await editor.command("stet.proposals")
        assert (hunk["kind"], hunk["new"]) == ("create", "z = 3\n")
        await editor.wait_until(lambda: editor.shown_documents)
        assert editor.shown_documents[0].uri == editor.uri("b.py")
        # Switching the tools off also forbids these values of `position`.
        off = ["create_file", "open_file"]
        turn = await run(editor, "Again", uri=uri, disabledTools=off)
        assert [e["rule"] for e in turn["rejectedEdits"]] == ["edit.canCreate", "edit.canNavigate"]
        assert len(editor.shown_documents) == 1


async def test_a_question_only_answers(root: Path, tmp_path: Path) -> None:
    env = scripted(
        tmp_path,
        calls(("edit_file", {"file": "a.py", "old_text": "x = 1", "new_text": "x = 9"})),
        {"text": "It is one."},
    )
    async with FakeEditor.start(root, env=env) as editor:
        uri = editor.open("a.py")
        turn = await run(editor, "What is x?", uri=uri, mode="ask")
        assert (turn["state"], turn["answer"], turn["hunks"]) == ("completed", "It is one.", [])
        assert turn["toolCalls"][0]["state"] == "error"
        await editor.wait_for_message("It is one.")


@pytest.mark.parametrize("mode", ["agent", "ask", "rewrite"])
async def test_a_secret_file_is_not_sent_though_it_is_open_and_asked_about(
    root: Path, mode: str
) -> None:
    async with (
        OpenAIServer([api.call("done", summary="I see nothing.")]) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        uri = editor.open(".env")
        editor.select(uri, CANARY)
        turn = await run(editor, "What is this?", uri=uri, mode=mode, line=1)
        assert CANARY not in json.dumps([asked.body for asked in server.requests])
        if mode == "rewrite":
            assert (turn["state"], len(server.requests)) == ("failed", 0)
            assert "may not be shown" in turn["error"]


SECRET_FILES = (
    "id_rsa", "prod.tfvars.json", ".claude/.credentials.json", ".zsh_history", "recovery-codes.txt",
    "secrets.production",
)  # fmt: skip


async def test_no_kind_of_secret_file_is_sent_when_it_is_opened_and_asked_about(root: Path) -> None:
    """Ask by focus, name, selection and attachment; a file beside it is sent as usual."""
    for name in SECRET_FILES:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(f"{CANARY}\n")
    replies = [api.call("done", summary="I see nothing.")] * (len(SECRET_FILES) * 2)
    async with (
        OpenAIServer(replies) as server,
        FakeEditor.start(root, env=provider(server)) as editor,
    ):
        editor.open("a.py")
        for name in SECRET_FILES:
            uri = editor.open(name)
            editor.select(uri, CANARY)
            by_name = await run(editor, "What is this?", uri=uri, mode="ask", line=1)
            attached = await run(editor, f"And @{name} beside @a.py?", mode="ask")
            assert (by_name["hunks"], attached["hunks"]) == ([], [])
        sent = json.dumps([asked.body for asked in server.requests])
        assert len(server.requests) >= len(SECRET_FILES) * 2
        assert CANARY not in sent
        assert "y = 2" in sent


async def test_folders_come_and_go(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.py").write_text("z = 3\n")
    (other / "a.py").write_text("x = 3\n")
    async with FakeEditor.start(root, env=scripted(tmp_path)) as editor:
        with pytest.raises(JsonRpcException, match="outside the workspace"):
            await shown(editor, file=str(other / "c.py"))
        folder = lsp.WorkspaceFolder(other.as_uri(), "other")
        added = lsp.WorkspaceFoldersChangeEvent(added=[folder], removed=[])
        editor.workspace_did_change_workspace_folders(
            lsp.DidChangeWorkspaceFoldersParams(event=added)
        )
        sections = await shown(editor, file="other/c.py")
        assert "z = 3" in sections["current_file"]
        assert f"{root};{other}" in sections["workspace"]
        with pytest.raises(JsonRpcException) as raised:
            await shown(editor, file="a.py")
        assert "ws/a.py" in raised.value.message
        assert "other/a.py" in raised.value.message
