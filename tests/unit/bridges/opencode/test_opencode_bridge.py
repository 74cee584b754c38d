"""When the server is informed, and what happens while it is away."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest
import pytest_asyncio

from stet.bridges.opencode import opencode_bridge as module
from stet.bridges.opencode.opencode_bridge import OpenCodeBridge
from stet.lsp.tasks import Tasks
from stet.privacy.request_log import Recipient
from stet.settings.values import BridgeSettings, OpenCodeSettings, Settings
from stet.text.position import Position, Range
from stet.workspace.activity import ActivitySource
from stet.workspace.workspace import Workspace
from tests.support.canaries import keys
from tests.support.fake_opencode import FakeOpenCode
from tests.support.http_server import HttpServer
from tests.support.memory_system import MemorySystem
from tests.support.workspaces import open_document, uri_at

A, B = uri_at("/ws/a.py"), uri_at("/ws/b.py")


class Editor:
    """A workspace with two open files, and the bridge that listens to it."""

    def __init__(self) -> None:
        system = MemorySystem()
        self.world = Workspace(system)
        self.world.add_root("file:///ws")
        self.tasks = Tasks()
        self.warnings: list[str] = []
        self.bridge = OpenCodeBridge(self.world, system, self.tasks.start, self.warnings.append)
        self.world.activity.moved = self.bridge.focus_changed
        for uri in (A, B):
            open_document(self.world, uri, "one\ntwo\n")

    def set(self, server: HttpServer | None = None, **more: object) -> None:
        """Take other settings over."""
        given = OpenCodeSettings(url="" if server is None else server.url(""), debounce_seconds=0)
        changed = replace(given, **more)  # type: ignore[arg-type]
        self.world.with_settings(Settings(bridges=BridgeSettings(changed)))
        self.bridge.settings_changed()

    async def rest(self) -> None:
        """Wait until nothing is done any more."""
        while len(self.tasks):
            await asyncio.gather(*self.tasks._tasks)


def text(*files: str) -> str:
    head = "Currently open files in the editor, the one in focus first:"
    named = "\n".join(f"- {file}" for file in files)
    return f"<system-reminder>\n{head}\n{named}\n</system-reminder>"


@pytest_asyncio.fixture
async def editor() -> AsyncIterator[Editor]:
    editor = Editor()
    yield editor
    await editor.tasks.close()
    await editor.bridge.close()


async def test_bridge_without_an_address_does_nothing(editor: Editor) -> None:
    editor.bridge.settings_changed()
    editor.world.activity.focus(A)
    assert len(editor.tasks) == 0


async def test_server_is_informed_when_it_is_configured_and_at_each_change(editor: Editor) -> None:
    async with FakeOpenCode() as server:
        session = server.session("/ws")
        editor.set(server)
        await editor.rest()
        assert server.parts(session) == [(text("b.py", "a.py"), True)]
        editor.world.activity.focus(A)
        await editor.rest()
        assert server.parts(session) == [(text("a.py", "b.py"), True)]


async def test_burst_of_changes_is_one_update_with_the_last_state(editor: Editor) -> None:
    async with FakeOpenCode() as server:
        session = server.session("/ws")
        editor.set(server, debounce_seconds=0.05)
        for _ in range(50):
            editor.world.activity.focus(A)
            editor.world.activity.focus(B)
            await asyncio.sleep(0)
        await editor.rest()
        assert server.parts(session) == [(text("b.py", "a.py"), True)]
        assert server.writes() == ["POST"]


async def test_change_during_an_update_is_sent_after_it(editor: Editor) -> None:
    async with FakeOpenCode() as server:
        session = server.session("/ws")

        def lost(_: object) -> bool:
            editor.world.activity.focus(A)
            server.loses = lambda _: False
            return False

        server.loses = lost
        editor.set(server)
        await editor.rest()
        assert server.parts(session) == [(text("a.py", "b.py"), True)]


async def test_bridge_that_is_switched_off_hides_its_part_and_sends_nothing_more(
    editor: Editor,
) -> None:
    async with FakeOpenCode() as server:
        session = server.session("/ws")
        editor.set(server)
        await editor.rest()
        editor.set(server, enabled=False)
        await editor.rest()
        assert server.parts(session) == [(text("b.py", "a.py"), False)]
        editor.world.activity.focus(A)
        assert len(editor.tasks) == 0


async def test_new_server_is_informed_and_the_old_one_is_left(editor: Editor) -> None:
    async with FakeOpenCode() as first, FakeOpenCode() as second:
        sessions = first.session("/ws"), second.session("/ws")
        editor.set(first)
        await editor.rest()
        editor.set(second)
        await editor.rest()
        assert first.parts(sessions[0]) == [(text("b.py", "a.py"), False)]
        assert second.parts(sessions[1]) == [(text("b.py", "a.py"), True)]


@pytest.mark.slow
async def test_unreachable_server_is_reported_once_and_informed_when_it_is_back(
    editor: Editor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "stet.bridges")
    async with FakeOpenCode() as server:
        session = server.session("/ws")
        server.loses = lambda _: True
        editor.set(server)
        await server.wait_until(lambda: len(server.asked) > 2)
        server.loses = lambda _: False  # nobody does anything; it is tried again all the same
        await editor.rest()
        assert server.parts(session) == [(text("b.py", "a.py"), True)]
        logged = [(record.levelname, record.message) for record in caplog.records]
        assert [level for level, _ in logged] == ["WARNING", "INFO"]
        assert logged[0][1].startswith(f"OpenCode at {server.url('')} can't be informed: ")
        assert logged[1][1].endswith("is informed again")
        assert editor.warnings == []


@pytest.mark.slow
async def test_wrong_password_is_reported_once_with_a_remedy(
    editor: Editor, caplog: pytest.LogCaptureFixture
) -> None:
    async with FakeOpenCode() as server:
        server.session("/ws")
        server.fault = lambda _: (401, {})
        editor.set(server)
        await server.wait_until(lambda: len(server.asked) > 2)
        server.fault = lambda _: None
        await editor.rest()
    [reported] = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
    assert "it requires a password: set OPENCODE_SERVER_PASSWORD" in reported


async def test_user_action_retries_the_server_at_once(
    editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MIN_WAIT", 3600.0)
    monkeypatch.setattr(module, "MAX_WAIT_AWAY", 3600.0)
    async with FakeOpenCode() as server:
        session = server.session("/ws")
        server.loses = lambda _: True
        editor.set(server)
        await server.wait_until(lambda: len(server.asked) == 1)
        server.loses = lambda _: False
        editor.world.activity.focus(A)
        await editor.rest()
        assert server.parts(session) == [(text("a.py", "b.py"), True)]


async def test_busy_session_is_awaited_without_a_message(
    editor: Editor, caplog: pytest.LogCaptureFixture
) -> None:
    async with FakeOpenCode() as server:
        session = server.session("/ws")
        server.status = {session: {"type": "busy"}}
        editor.set(server)
        await server.wait_until(lambda: sum("status" in one.path for one in server.asked) > 1)
        server.status = {}
        await editor.rest()
        assert server.parts(session) == [(text("b.py", "a.py"), True)]
    assert caplog.records == []


async def test_server_that_returns_with_another_api_is_informed_through_it(editor: Editor) -> None:
    async with FakeOpenCode() as server:
        session = server.session("/ws")
        editor.set(server)
        await editor.rest()
        server.is_newer = True
        editor.world.activity.focus(A)
        await editor.rest()
        assert [one for one, _ in server.parts(session)] == [
            text("b.py", "a.py"),
            text("a.py", "b.py"),
        ]


async def test_unusable_setting_is_reported_once(editor: Editor) -> None:
    for _ in range(2):
        editor.set(url="http://192.168.0.9:4096")
    assert len(editor.tasks) == 0
    [warning] = editor.warnings
    assert warning.startswith("Stet: settings: bridges.opencode.url is on another machine")
    assert warning.endswith("Nothing is sent to OpenCode.")


async def test_session_that_refuses_everything_is_reported_once_and_left_alone(
    editor: Editor, caplog: pytest.LogCaptureFixture
) -> None:
    assert editor.bridge.to_json() == {"state": "off", "why": ""}
    async with FakeOpenCode() as server:
        editor.set(server)
        await editor.rest()
        assert editor.bridge.to_json()["state"] == "no session"
        session = server.session("/ws")
        editor.world.activity.focus(A)
        await editor.rest()
        assert editor.bridge.to_json() == {"state": "told", "why": ""}
        server.fault = lambda asked: (400, {}) if asked.method == "PATCH" else None
        editor.world.activity.focus(B)
        await editor.rest()  # nothing is tried again by itself
        n_writes = len(server.writes())
        editor.world.activity.focus(A)
        await editor.rest()
        assert len(server.writes()) == n_writes == 3
        shape = editor.bridge.to_json()
        assert shape["state"] == "stopped"
        assert session in shape["why"]
        server.fault = lambda _: None
        other = server.session("/ws")
        editor.world.activity.focus(B)
        await editor.rest()
        assert server.parts(other) == [(text("b.py", "a.py"), True)]
        assert editor.bridge.to_json() == {"state": "told", "why": ""}
    [reported] = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
    assert reported.endswith("start another one, or restart OpenCode")


async def test_close_hides_the_part(editor: Editor) -> None:
    async with FakeOpenCode() as server:
        session = server.session("/ws")
        editor.set(server)
        await editor.rest()
        editor.tasks.cancel()
        await editor.bridge.close()
        assert server.parts(session) == [(text("b.py", "a.py"), False)]


async def test_close_does_not_wait_for_a_server_that_hangs(
    editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LEAVE_SECONDS", 0.01)
    async with FakeOpenCode() as server:
        server.session("/ws")
        editor.set(server)
        await editor.rest()
        server.fault = lambda _: b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"
        async with asyncio.timeout(60):
            await editor.bridge.close()


async def test_the_password_goes_to_a_server_that_asks_for_it(
    editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeOpenCode() as server:
        server.login = "Basic b3BlbmNvZGU6c2VjcmV0"
        session = server.session("/ws")
        environ: Callable[[], dict[str, str]] = lambda: {"MINE": "secret"}  # noqa: E731
        monkeypatch.setattr(editor.bridge._system, "environ", environ)
        editor.set(server, password_env="MINE")
        await editor.rest()
        assert server.parts(session) == [(text("b.py", "a.py"), True)]
        given = [one.headers.get("authorization", "") for one in server.asked]
        assert given[0] == ""
        assert set(given[1:]) == {server.login}


async def test_selection_is_sent_with_marks_and_recorded_once(editor: Editor) -> None:
    key = keys()["Stripe key"]
    uri = uri_at("/ws/c.py")
    open_document(editor.world, uri, f"key = '{key}'\n")
    selected = Range(Position(0, 0), Position(0, 25))
    async with FakeOpenCode() as server:
        session = server.session("/ws")
        editor.world.activity.focus(uri, ActivitySource.NOTIFIED)
        editor.world.activity.select(uri, (selected,), ActivitySource.NOTIFIED)
        editor.set(server)
        await editor.rest()
        editor.world.activity.focus(uri, ActivitySource.NOTIFIED)
        await editor.rest()
        sent = str(server.parts(session))
        assert key[:12] not in sent
        assert "[redacted: Stripe key #2]" in sent
        [noted] = editor.world.request_log.latest
        assert (noted.to, noted.host, noted.kinds) == (
            Recipient.OPENCODE,
            server.url("").partition("//")[2],
            (("Stripe key", 1),),
        )
