"""The newer API: what changes is appended, seldom."""

import pytest

from stet.bridges.opencode.opencode_address import (
    NotOpenCode,
    OpenCodeAddress,
    OpenCodeUnreachable,
    SessionBusy,
    SessionStopped,
)
from stet.bridges.opencode.opencode_clients import (
    SECONDS_BETWEEN,
    AppendClient,
    ReplaceClient,
    create_part_client,
)
from stet.bridges.opencode.opencode_connection import OpenCodeConnection
from stet.bridges.opencode.session_context import ContextPart
from tests.support.fake_opencode import FakeOpenCode

WS = ("/ws",)


def connect(server: FakeOpenCode) -> OpenCodeConnection:
    return OpenCodeConnection(OpenCodeAddress(server.url(""), "opencode", "", "", is_loopback=True))


async def test_a_session_that_refuses_a_message_is_sent_no_other() -> None:
    async with FakeOpenCode() as server:
        server.is_newer = True
        server.session("/ws")
        connection = connect(server)
        keeper = AppendClient(connection, lambda: 0.0)
        server.fault = lambda asked: (400, {}) if asked.method == "POST" else None
        for text in ("one", "two", "two"):
            with pytest.raises(SessionStopped):
                await keeper.update(ContextPart(text, WS))
        assert server.writes() == ["POST"]
        await connection.close()


async def test_change_is_appended_with_a_note_that_it_replaces_the_earlier_text() -> None:
    now = 0.0
    async with FakeOpenCode() as server:
        server.is_newer = True
        session = server.session("/ws")
        connection = connect(server)
        keeper = AppendClient(connection, lambda: now)
        part = ContextPart("<system-reminder>\none\n</system-reminder>", WS)
        await keeper.update(part)
        await keeper.update(part)
        with pytest.raises(SessionBusy):
            await keeper.update(ContextPart("<system-reminder>\ntwo\n</system-reminder>", WS))
        now = SECONDS_BETWEEN
        await keeper.update(ContextPart("<system-reminder>\ntwo\n</system-reminder>", WS))
        now *= 2
        await keeper.update(ContextPart("", WS, pinned=session))
        await keeper.release()
        await connection.close()
    assert [text for text, _ in server.parts(session)] == [
        "<system-reminder>\none\n</system-reminder>",
        "<system-reminder>\n(in place of what was said of the editor before)\ntwo\n"
        "</system-reminder>",
        "<system-reminder>\nNo file is open in the editor any more.\n</system-reminder>",
    ]
    assert {str(one.body["resume"]) for one in server.asked if one.body} == {"False"}


async def test_without_a_session_nothing_is_appended() -> None:
    async with FakeOpenCode() as server:
        server.is_newer = True
        connection = connect(server)
        keeper = AppendClient(connection, lambda: 0.0)
        for part in (
            ContextPart("one", WS),
            ContextPart("one", ()),
            ContextPart("one", WS, pinned="ses_gone"),
        ):
            await keeper.update(part)
        await connection.close()
    assert server.writes() == []


@pytest.mark.parametrize(("is_newer", "kind"), [(False, ReplaceClient), (True, AppendClient)])
async def test_api_version_is_detected_by_the_health_check(*, is_newer: bool, kind: type) -> None:
    async with FakeOpenCode() as server:
        server.is_newer = is_newer
        connection = connect(server)
        assert isinstance(await create_part_client(connection, lambda: 0.0), kind)
        await connection.close()


async def test_web_page_instead_of_the_health_check_is_refused() -> None:
    async with FakeOpenCode() as server:
        server.fault = lambda asked: (200, "<html>") if "global" in asked.path else None
        server.is_newer = True
        connection = connect(server)
        assert isinstance(await create_part_client(connection, lambda: 0.0), AppendClient)
        server.fault = lambda _: (404, {})
        with pytest.raises(NotOpenCode, match="not a supported OpenCode server"):
            await create_part_client(connection, lambda: 0.0)
        await connection.close()


async def test_closed_port_is_reported() -> None:
    connection = OpenCodeConnection(
        OpenCodeAddress("http://127.0.0.1:1", "opencode", "", "", is_loopback=True)
    )
    with pytest.raises(OpenCodeUnreachable, match="onnect"):
        await create_part_client(connection, lambda: 0.0)
    await connection.close()
