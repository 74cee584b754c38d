"""The context part in the sessions of a real OpenCode server, through the protocol."""

import json
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.conftest import Part
from tests.parts.opencode import opencode
from tests.support.editor import FakeEditor
from tests.support.openai_server import End, OpenAIServer, Reply, delta
from tests.support.opencode import PASSWORD, OpenCode, RecordingProxy

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

CANARY = "canary-5f0e"
FILES = {
    "src/app.py": "".join(f"app = {n}\n" for n in range(100, 150)),
    "notes.md": "".join(f"note {n}\n" for n in range(100, 150)),
    ".env": f"KEY={CANARY}\n",
    ".gitignore": "private/\n",
    "private/diary.md": f"Dear diary {CANARY}\n",
}
ENVIRONMENT = {"THE_PASSWORD": PASSWORD}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(part: Part, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OpenCode]:
    """Yield the server of all tests here, which requires a password."""
    async with OpenCode.start(part(opencode), tmp_path_factory.mktemp("home")) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="module")
async def wire(server: OpenCode) -> AsyncIterator[RecordingProxy]:
    """Yield a new proxy for the server."""
    async with RecordingProxy.tap(server) as wire:
        yield wire


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """Make a workspace folder for one test, which thus has its own sessions."""
    root = (tmp_path / "ws").resolve()
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    yield root
    shutil.rmtree(root)


def settings(wire: RecordingProxy, **more: object) -> dict[str, Any]:
    given = {"url": wire.url(""), "passwordEnv": "THE_PASSWORD", "debounceSeconds": 0.01, **more}
    return {"bridges": {"opencode": given}}


def reminder(*files: str, selected: str = "", source: str = "") -> str:
    """Return the text of the part with the first of `files` in focus."""
    lines = ["Currently open files in the editor, the one in focus first:"]
    lines += [f"- {file}" for file in files]
    if selected:
        lines += ["", f"Selected text (from {source or files[0]}):", '"""', selected, '"""']
    return "\n".join(["<system-reminder>", *lines, "</system-reminder>"])


async def test_fifty_changes_of_focus_and_selection_leave_one_live_part(
    server: OpenCode, wire: RecordingProxy, root: Path
) -> None:
    session = await server.session(root)
    async with FakeEditor.start(root, settings=settings(wire), env=ENVIRONMENT) as editor:
        editor.open("src/app.py")
        editor.open("notes.md")
        for n in range(25):
            name, needle = [("src/app.py", "app = "), ("notes.md", "note ")][n % 2]
            editor.focus(name)
            editor.select(name, f"{needle}{101 + n}")
            await wire.wait_for(f'{needle}{101 + n}\\n"""')
        assert await server.ours(session, root) == [
            (reminder("src/app.py", "notes.md", selected="app = 125"), False)
        ]
        assert len(await server.messages(session, root)) == 1
    # The editor has exited: nothing would correct the part's text.
    assert await server.live(session, root) == []


async def test_after_a_message_of_others_the_old_part_is_hidden_and_a_new_one_posted(
    server: OpenCode, wire: RecordingProxy, root: Path
) -> None:
    session = await server.session(root)
    async with FakeEditor.start(root, settings=settings(wire), env=ENVIRONMENT) as editor:
        editor.open("src/app.py")
        await wire.wait_for("- src/app.py")
        await server.say(session, root, "What is this?", agent="plan")
        editor.open("notes.md")
        editor.focus("notes.md")
        await wire.wait_for("- notes.md")
        old, new = await server.ours(session, root)
        assert old == (reminder("src/app.py"), True)
        assert new == (reminder("notes.md", "src/app.py"), False)
        editor.focus("src/app.py")
        await wire.wait_until(lambda: wire.reported[-1].method == "PATCH")
        assert await server.live(session, root) == [reminder("src/app.py", "notes.md")]
    messages = await server.messages(session, root)
    assert [message["parts"][0]["text"] for message in messages][1] == "What is this?"
    # A message without the session's agent would switch the user's agent.
    assert [message["info"]["agent"] for message in messages][1:] == ["plan", "plan"]
    assert not [one.path for one in wire.asked if "revert" in one.path]


async def test_while_the_agent_answers_the_old_part_is_hidden_at_once_and_a_new_one_comes_later(
    server: OpenCode, wire: RecordingProxy, root: Path
) -> None:
    asked_of_model = {"agent": "plan", "model": {"providerID": "here", "modelID": "m"}}
    hanging = Reply([delta(content="It is")], end=End.HANG)
    async with OpenAIServer([hanging] * 5) as model:
        here = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": model.base_url, "apiKey": "none"},
            "models": {"m": {}},
        }
        config = {"provider": {"here": here}, "model": "here/m", "small_model": "here/m"}
        (root / "opencode.json").write_text(json.dumps(config))
        session = await server.session(root)
        async with FakeEditor.start(root, settings=settings(wire), env=ENVIRONMENT) as editor:
            editor.open("src/app.py")
            await wire.wait_for("- src/app.py")
            await server.ask_agent(session, root, "What is this?", **asked_of_model)
            await model.asked(1)
            editor.open("notes.md")
            editor.focus("notes.md")
            await wire.wait_until(lambda: "status" in wire.asked[-1].path)
            assert await server.ours(session, root) == [(reminder("src/app.py"), True)]
            assert await server.is_busy(session, root)
            await server.ask("POST", f"/session/{session}/abort", root)
            await wire.wait_for("- notes.md")
            assert await server.live(session, root) == [reminder("notes.md", "src/app.py")]


async def test_a_refused_part_is_hidden_and_posted_anew_and_where_that_is_refused_it_stops(
    server: OpenCode, wire: RecordingProxy, root: Path
) -> None:
    session = await server.session(root)
    async with FakeEditor.start(root, settings=settings(wire), env=ENVIRONMENT) as editor:
        editor.open("src/app.py")
        await wire.wait_for("- src/app.py")
        wire.refuses = lambda asked: asked.method == "PATCH" and not asked.body.get("ignored")
        editor.open("notes.md")
        await wire.wait_for("- notes.md")
        assert [is_hidden for _, is_hidden in await server.ours(session, root)] == [True, False]
        wire.refuses = lambda asked: asked.method == "PATCH"
        editor.focus("src/app.py")
        refused = len(wire.asked)
        await wire.wait_until(lambda: sum(map(wire.refuses, wire.asked[refused:])) == 1)
        shape: dict[str, str] = {}
        while shape.get("state") != "stopped":  # after the refusal the bridge searches for the part
            shape = (await editor.command("stet.status"))["bridges"]["opencode"]
        assert session in shape["why"]
        assert len(await server.live(session, root)) == 1


async def test_nothing_of_a_secret_or_ignored_file_is_sent_not_even_its_name(
    server: OpenCode, wire: RecordingProxy, root: Path
) -> None:
    session = await server.session(root)
    async with FakeEditor.start(root, settings=settings(wire), env=ENVIRONMENT) as editor:
        editor.open("notes.md")
        for name in (".env", "private/diary.md"):
            editor.open(name)
            editor.focus(name)
            editor.select(name, CANARY)
            await wire.wait_for("Currently open files in the editor:\\n- notes.md\\n</")
            editor.focus("notes.md")
            editor.select("notes.md", "note 101")
            await wire.wait_for("note 101")
            editor.select("notes.md", "note 102")
            await wire.wait_for("note 102")
        assert await server.live(session, root) == [reminder("notes.md", selected="note 102")]
    sent = str(wire.asked)
    assert [word for word in (CANARY, ".env", "diary") if word in sent] == []


async def test_without_a_session_nothing_is_done_and_a_newer_one_is_found(
    server: OpenCode, wire: RecordingProxy, root: Path
) -> None:
    async with FakeEditor.start(root, settings=settings(wire), env=ENVIRONMENT) as editor:
        editor.open("notes.md")
        await wire.wait_until(lambda: any("/session?" in one.path for one in wire.asked))
        first = await server.session(root)
        await server.session(root, parentID=first)  # a subagent's session, which users do not see
        editor.focus("notes.md")
        editor.select("notes.md", "note 101")
        await wire.wait_for("note 101")
        assert [one.method for one in wire.reported] == ["POST"]
        assert await server.live(first, root) == [reminder("notes.md", selected="note 101")]
        second = await server.session(root)
        editor.select("notes.md", "note 102")
        await wire.wait_for("note 102")
        assert await server.live(second, root) == [reminder("notes.md", selected="note 102")]
        assert await server.live(first, root) == []


async def test_a_pinned_session_is_the_one_that_is_informed(
    server: OpenCode, wire: RecordingProxy, root: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    pinned = await server.session(elsewhere)
    newest = await server.session(root)
    given = settings(wire, session=pinned)
    async with FakeEditor.start(root, settings=given, env=ENVIRONMENT) as editor:
        editor.open("notes.md")
        await wire.wait_for("- notes.md")
        assert await server.live(pinned, elsewhere) == [reminder("notes.md")]
        assert await server.ours(newest, root) == []


async def test_with_a_wrong_password_nothing_is_reported_and_nobody_disturbed(
    server: OpenCode, wire: RecordingProxy, root: Path
) -> None:
    session = await server.session(root)
    env = {"THE_PASSWORD": "wrong"}
    async with FakeEditor.start(root, settings=settings(wire), env=env) as editor:
        editor.open("notes.md")
        await wire.wait_until(lambda: len(wire.asked) > 2)
        assert [message.message for message in editor.messages] == []
    assert {one.path for one in wire.asked} == {"/global/health"}
    assert await server.messages(session, root) == []


async def test_by_the_newer_api_what_changes_is_appended(
    server: OpenCode, wire: RecordingProxy, root: Path
) -> None:
    wire.hides = lambda path: not path.startswith("/api/")
    made = await server.ask("POST", "/api/session", None, {"location": {"directory": str(root)}})
    async with FakeEditor.start(root, settings=settings(wire), env=ENVIRONMENT) as editor:
        editor.open("notes.md")
        await wire.wait_for("- notes.md")
    [reported] = wire.reported
    assert reported.path == f"/api/session/{made['data']['id']}/prompt"
    assert reported.body == {"prompt": {"text": reminder("notes.md")}, "resume": False}


async def test_a_server_that_was_killed_is_reported_again_when_it_is_back(
    server: OpenCode, wire: RecordingProxy, root: Path
) -> None:
    session = await server.session(root)
    async with FakeEditor.start(root, settings=settings(wire), env=ENVIRONMENT) as editor:
        editor.open("src/app.py")
        await wire.wait_for("- src/app.py")
        n_asked = len(wire.asked)
        await server.kill()
        editor.open("notes.md")
        editor.focus("notes.md")
        await wire.wait_until(lambda: len(wire.asked) > n_asked)  # without success
        await server.run()
        editor.select("notes.md", "note 105")
        await wire.wait_for("note 105")
        assert await server.ours(session, root) == [
            (reminder("notes.md", "src/app.py", selected="note 105"), False)
        ]
        assert editor.messages == []
