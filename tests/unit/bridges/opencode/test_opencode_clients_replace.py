"""One live part, whatever happens in between."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from stet.bridges.opencode.opencode_address import (
    NotOpenCode,
    OpenCodeAddress,
    OpenCodeError,
    OpenCodeRefused,
    OpenCodeUnreachable,
    SessionBusy,
    SessionStopped,
)
from stet.bridges.opencode.opencode_clients import METADATA, ReplaceClient
from stet.bridges.opencode.opencode_connection import OpenCodeConnection
from stet.bridges.opencode.session_context import ContextPart
from tests.support.fake_opencode import FakeOpenCode
from tests.support.http_server import HttpRequest

WS = ("/ws",)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[FakeOpenCode]:
    async with FakeOpenCode() as server:
        yield server


@pytest_asyncio.fixture
async def connection(server: FakeOpenCode) -> AsyncIterator[OpenCodeConnection]:
    address = OpenCodeAddress(server.url(""), "opencode", "", "", is_loopback=True)
    connection = OpenCodeConnection(address)
    yield connection
    await connection.close()


@pytest.fixture
def keeper(connection: OpenCodeConnection) -> ReplaceClient:
    return ReplaceClient(connection)


def is_write(asked: HttpRequest) -> bool:
    return asked.method != "GET"


async def test_first_part_is_posted_and_the_next_replaces_it(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    for text in ("one", "two", "two", "three"):
        await keeper.update(ContextPart(text, WS))
    assert server.parts(session) == [("three", True)]
    assert server.writes() == ["POST", "PATCH", "PATCH"]
    [posted, *patched] = [one.body for one in server.asked if is_write(one)]
    assert posted == {
        "noReply": True,
        "parts": [{"type": "text", "text": "one", "synthetic": True, "metadata": METADATA}],
    }
    assert patched[-1] == {
        "id": "prt_2",
        "sessionID": session,
        "messageID": "msg_2",
        "type": "text",
        "text": "three",
        "synthetic": True,
        "metadata": METADATA,
    }


async def test_old_part_is_hidden_before_a_new_one_follows_a_message_of_others(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    await keeper.update(ContextPart("one", WS))
    server.say(session, "a question")
    await keeper.update(ContextPart("two", WS))
    assert server.parts(session) == [("one", False), ("a question", True), ("two", True)]
    assert server.writes() == ["POST", "PATCH", "POST"]


async def test_unchanged_part_is_not_written_again(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    await keeper.update(ContextPart("one", WS))
    server.say(session, "a question")
    await keeper.update(ContextPart("one", WS))
    assert server.writes() == ["POST"]


async def test_part_without_text_is_hidden(server: FakeOpenCode, keeper: ReplaceClient) -> None:
    session = server.session("/ws")
    for text in ("", "one", "", ""):
        await keeper.update(ContextPart(text, WS))
    assert server.parts(session) == [("one", False)]
    assert server.writes() == ["POST", "PATCH"]


async def test_old_part_is_hidden_and_none_is_posted_while_the_agent_works(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    await keeper.update(ContextPart("one", WS))
    server.say(session, "a question")
    server.status = {session: {"type": "busy"}}
    for text in ("two", "one", "two"):
        with pytest.raises(SessionBusy):
            await keeper.update(ContextPart(text, WS))
        assert server.parts(session) == [("one", False), ("a question", True)]
    assert server.writes() == ["POST", "PATCH"]
    server.status = {session: {"type": "idle"}}
    await keeper.update(ContextPart("two", WS))
    assert server.parts(session) == [("one", False), ("a question", True), ("two", True)]


async def test_the_session_is_the_latest_of_the_folder_without_a_parent(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    older = server.session("/ws")
    own = server.session("/ws")
    child = server.session("/ws", parentID=own)
    put_away = server.session("/ws", time={"updated": 999, "archived": 999})
    elsewhere = server.session("/other")
    await keeper.update(ContextPart("one", WS))
    assert {name: len(server.messages[name]) for name in server.messages} == {
        older: 0, own: 1, child: 0, put_away: 0, elsewhere: 0,
    }  # fmt: skip


async def test_sessions_of_other_folders_are_ignored(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    server.session("/ws", directory="/other", location={})
    server.fault = lambda asked: (
        (200, list(server.sessions.values())) if asked.path.startswith("/session?") else None
    )
    await keeper.update(ContextPart("one", WS))
    assert server.writes() == []


async def test_session_directory_may_be_a_symbolic_link(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/real")
    server.fault = lambda asked: (
        (200, list(server.sessions.values())) if asked.path.startswith("/session?") else None
    )
    await keeper.update(ContextPart("one", ("/link", "/real")))
    assert server.parts(session) == [("one", True)]
    assert "directory=%2Freal" in server.asked[-1].path


async def test_new_session_gets_a_new_part_and_the_old_one_is_hidden(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    first = server.session("/ws")
    await keeper.update(ContextPart("one", WS))
    second = server.session("/ws")
    await keeper.update(ContextPart("one", WS))
    assert (server.parts(first), server.parts(second)) == ([("one", False)], [("one", True)])
    await keeper.update(ContextPart("one", WS, pinned=first))
    assert server.parts(first) == [("one", False), ("one", True)]
    assert server.parts(second) == [("one", False)]


async def test_without_a_session_nothing_is_written(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    await keeper.update(ContextPart("one", WS))
    await keeper.update(ContextPart("one", ()))
    await keeper.update(ContextPart("one", WS, pinned="ses_gone"))
    assert server.writes() == []


async def test_the_message_keeps_the_session_s_agent(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    server.session("/ws", agent="plan", model={"id": "m", "variant": "high"})
    await keeper.update(ContextPart("one", WS))
    body = server.asked[-1].body
    assert (body["agent"], body["variant"]) == ("plan", "high")


async def test_parts_of_an_earlier_run_are_taken_over_and_all_but_the_last_hidden(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    server.say(session, "old", METADATA)
    server.say(session, "a question")
    server.say(session, "of another editor", {"kind": "editor_context", "source": "other"})
    server.say(session, "new", METADATA)
    await keeper.update(ContextPart("now", WS))
    assert server.parts(session) == [
        ("old", False), ("a question", True), ("of another editor", True), ("now", True),
    ]  # fmt: skip
    assert server.writes() == ["PATCH", "PATCH"]


async def test_lost_answer_leaves_no_second_part(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    server.loses = is_write
    with pytest.raises(OpenCodeUnreachable):
        await keeper.update(ContextPart("one", WS))
    server.loses = lambda _: False
    await keeper.update(ContextPart("two", WS))
    assert server.parts(session) == [("two", True)]


async def test_a_part_that_somebody_has_removed_is_posted_again(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    await keeper.update(ContextPart("one", WS))
    server.messages[session].clear()
    await keeper.update(ContextPart("two", WS))
    assert server.parts(session) == [("two", True)]


async def test_part_that_cannot_be_hidden_blocks_a_new_one(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    await keeper.update(ContextPart("one", WS))
    server.say(session, "a question")
    server.fault = lambda asked: (500, {}) if asked.method == "PATCH" else None
    with pytest.raises(OpenCodeRefused):
        await keeper.update(ContextPart("two", WS))
    assert server.parts(session) == [("one", True), ("a question", True)]


def refuses_texts(asked: HttpRequest) -> tuple[int, object] | None:
    """Hiding is allowed, another text is not."""
    return (400, {}) if asked.method == "PATCH" and not asked.body.get("ignored") else None


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, 403, 404, 405, 409, 413, 422])
async def test_a_part_that_can_not_be_replaced_is_hidden_and_the_next_posted_anew(
    server: FakeOpenCode, keeper: ReplaceClient, status: int
) -> None:
    session = server.session("/ws")
    await keeper.update(ContextPart("one", WS))
    server.fault = lambda asked: (status, {}) if refuses_texts(asked) else None
    for text in ("two", "three", "three"):
        assert await keeper.update(ContextPart(text, WS))
    assert server.parts(session) == [("one", False), ("two", False), ("three", True)]
    # The refused one, then hidden and posted; it is not tried a second time in that session.
    assert server.writes() == ["POST", "PATCH", "PATCH", "POST", "PATCH", "POST"]
    other = server.session("/ws")
    server.fault = lambda _: None
    for text in ("four", "five"):
        await keeper.update(ContextPart(text, WS))
    assert server.parts(other) == [("five", True)]


async def test_a_part_that_can_not_be_replaced_is_hidden_at_once_while_the_agent_works(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    await keeper.update(ContextPart("one", WS))
    server.fault = refuses_texts
    server.status = {session: {"type": "busy"}}
    with pytest.raises(SessionBusy):
        await keeper.update(ContextPart("two", WS))
    assert server.parts(session) == [("one", False)]
    server.status = {}
    await keeper.update(ContextPart("two", WS))
    assert server.parts(session) == [("one", False), ("two", True)]


@pytest.mark.parametrize("refused", ["PATCH", "POST"])
async def test_session_that_refuses_everything_gets_no_more_parts(
    server: FakeOpenCode, keeper: ReplaceClient, refused: str
) -> None:
    session = server.session("/ws")
    if refused == "PATCH":
        await keeper.update(ContextPart("one", WS))
    server.fault = lambda asked: (400, {}) if asked.method == refused else None
    with pytest.raises(SessionStopped):
        await keeper.update(ContextPart("two", WS))
    n_writes = len(server.writes())
    for text in ("three", "four"):
        with pytest.raises(SessionStopped, match=session):
            await keeper.update(ContextPart(text, WS))
    await keeper.release()
    assert len(server.writes()) == n_writes <= 3
    server.fault = lambda _: None
    other = server.session("/ws")
    await keeper.update(ContextPart("five", WS))
    assert server.parts(other) == [("five", True)]


async def test_refused_update_is_tried_again_after_the_server_was_away(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    await keeper.update(ContextPart("one", WS))
    server.fault = lambda asked: (400, {}) if asked.method == "PATCH" else None
    with pytest.raises(SessionStopped):
        await keeper.update(ContextPart("two", WS))
    server.fault = lambda _: None
    server.loses = lambda _: True
    with pytest.raises(OpenCodeUnreachable):
        await keeper.update(ContextPart("two", WS))
    server.loses = lambda _: False
    await keeper.update(ContextPart("two", WS))
    assert server.parts(session) == [("two", True)]


async def test_a_refused_part_that_is_gone_from_its_message_is_posted_again(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    await keeper.update(ContextPart("one", WS))
    server.messages[session][0]["parts"] = []
    server.fault = lambda asked: (404, {}) if asked.method == "PATCH" else None
    await keeper.update(ContextPart("two", WS))
    assert server.parts(session) == [("two", True)]


async def test_a_session_too_long_to_read_is_searched_in_its_last_messages(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    server.say(session, "x" * 9_000_000)
    for n in range(10):
        server.say(session, str(n))
    await keeper.update(ContextPart("one", WS))
    assert server.parts(session)[-1] == ("one", True)


async def test_leaving_hides_the_part_also_one_that_was_posted_unseen(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    await keeper.release()
    server.loses = is_write
    with pytest.raises(OpenCodeUnreachable):
        await keeper.update(ContextPart("one", WS))
    server.loses = lambda _: False
    await keeper.release()
    assert server.parts(session) == [("one", False)]


async def test_leaving_a_removed_session_is_no_error(
    server: FakeOpenCode, keeper: ReplaceClient
) -> None:
    session = server.session("/ws")
    await keeper.update(ContextPart("one", WS))
    server.sessions.pop(session)
    server.messages.pop(session)
    await keeper.release()
    second = server.session("/ws")
    await keeper.update(ContextPart("one", WS))
    assert server.parts(second) == [("one", True)]


FAULTS = {
    "no JSON": (200, b"<html>"),
    "another form": (200, b'{"a": 1}'),
    "an id that leads elsewhere": (200, b'[{"id": "../../config", "directory": "/ws"}]'),
    "too deep": (200, b"[" * 100_000),
    "too long": (200, b" " * 8_000_001),
    "an error": (500, b"{}"),
    "elsewhere": (302, b""),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
async def test_any_invalid_answer_is_a_reported_error(
    server: FakeOpenCode, keeper: ReplaceClient, name: str
) -> None:
    status, body = FAULTS[name]
    head = f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\nlocation: http://127.0.0.1:1/"
    server.fault = lambda _: f"{head}\r\n\r\n".encode() + body
    with pytest.raises(OpenCodeError) as raised:
        await keeper.update(ContextPart("one", WS))
    assert isinstance(raised.value, OpenCodeRefused if status != 200 else NotOpenCode)
    assert server.writes() == []
