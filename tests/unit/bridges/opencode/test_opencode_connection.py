"""What goes out to whoever listens at OpenCode's port, and in which order."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from stet.bridges.opencode import opencode_schema
from stet.bridges.opencode.opencode_address import (
    NotOpenCode,
    OpenCodeAddress,
    OpenCodeRefused,
    OpenCodeUnreachable,
)
from stet.bridges.opencode.opencode_connection import APPENDING, REPLACING, OpenCodeConnection
from tests.support.fake_opencode import FakeOpenCode

PASSWORD = "a-password-91c4"
LOGIN = "Basic b3BlbmNvZGU6YS1wYXNzd29yZC05MWM0"
BODY = {"parts": [{"type": "text", "text": "what is selected"}]}
OTHERS_UID = 65534


def connect(url: str, uid: int | None = None) -> OpenCodeConnection:
    address = OpenCodeAddress(url, "opencode", PASSWORD, "THE_PASSWORD", is_loopback=True)
    return OpenCodeConnection(address, uid)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[FakeOpenCode]:
    async with FakeOpenCode() as server:
        server.login = LOGIN
        server.session("/ws")
        yield server


@pytest_asyncio.fixture
async def connection(server: FakeOpenCode) -> AsyncIterator[OpenCodeConnection]:
    connection = connect(server.url(""))
    yield connection
    await connection.close()


async def post(connection: OpenCodeConnection) -> None:
    path = "/session/ses_1/message"
    await connection.request(
        "POST", path, opencode_schema.NOTHING, query={"directory": "/ws"}, body=BODY
    )


def sent(server: FakeOpenCode) -> list[tuple[str, str, bool, bool]]:
    """Of each request: the method, the path, whether it has the password, whether it has a body."""
    return [
        (
            one.method,
            one.path.partition("?")[0],
            "authorization" in one.headers,
            one.body is not None,
        )
        for one in server.asked
    ]


async def test_password_and_text_are_sent_after_the_server_identifies_itself(
    server: FakeOpenCode, connection: OpenCodeConnection
) -> None:
    for _ in range(2):
        await post(connection)
    assert sent(server) == [
        ("GET", REPLACING, False, False),
        ("GET", REPLACING, True, False),
        ("POST", "/session/ses_1/message", True, True),
        ("POST", "/session/ses_1/message", True, True),
    ]
    assert server.n_connections == 1
    assert {one.headers.get("authorization", LOGIN) for one in server.asked} == {LOGIN}


async def test_a_server_that_asks_for_no_password_is_sent_none(
    server: FakeOpenCode, connection: OpenCodeConnection
) -> None:
    server.login = ""
    await post(connection)
    assert sent(server) == [
        ("GET", REPLACING, False, False),
        ("POST", "/session/ses_1/message", False, True),
    ]


async def test_server_with_an_open_health_check_may_ask_for_the_password_later(
    server: FakeOpenCode, connection: OpenCodeConnection
) -> None:
    server.fault = lambda asked: (200, {"healthy": True}) if asked.path == REPLACING else None
    await post(connection)
    assert [has_password for _, _, has_password, _ in sent(server)] == [False, False, True]


@pytest.mark.parametrize(
    "challenge",
    ["", "Bearer", 'Basic realm="router"', "Basic", 'Digest realm="Secure Area", nonce="1"'],
)
async def test_server_with_another_authentication_scheme_gets_nothing(
    server: FakeOpenCode, connection: OpenCodeConnection, challenge: str
) -> None:
    server.challenge = challenge
    with pytest.raises(NotOpenCode, match="not like OpenCode"):
        await post(connection)
    assert sent(server) == [("GET", REPLACING, False, False)]


@pytest.mark.parametrize(
    "reply",
    [
        (200, {}),
        (200, {"healthy": False}),
        (200, "<html>"),
        (404, {}),
        (500, {}),
        (403, {}),
        (407, {}),
    ],
)
async def test_server_that_is_not_opencode_gets_nothing(
    server: FakeOpenCode, connection: OpenCodeConnection, reply: tuple[int, object]
) -> None:
    server.fault = lambda _: reply
    with pytest.raises((NotOpenCode, OpenCodeRefused)):
        await post(connection)
    assert {one[1:] for one in sent(server)} <= {
        (REPLACING, False, False),
        (APPENDING, False, False),
    }


async def test_next_process_on_the_port_gets_neither_password_nor_text(
    server: FakeOpenCode, connection: OpenCodeConnection
) -> None:
    await post(connection)
    server.closes = True
    await post(connection)
    n_asked = len(server.asked)
    server.fault = lambda _: (200, {"something": "else"})
    with pytest.raises(NotOpenCode):
        await post(connection)
    assert sent(server)[n_asked:] == [
        ("GET", REPLACING, False, False),
        ("GET", APPENDING, False, False),
    ]


async def test_server_that_closes_each_connection_is_informed(
    server: FakeOpenCode, connection: OpenCodeConnection
) -> None:
    server.closes = True
    for _ in range(2):
        await post(connection)
    assert len(server.messages["ses_1"]) == 2


async def test_wrong_password_is_reported_and_no_text_is_sent(
    server: FakeOpenCode, connection: OpenCodeConnection
) -> None:
    server.login = "Basic another"
    with pytest.raises(OpenCodeRefused, match="it requires a password: set THE_PASSWORD"):
        await post(connection)
    assert {has_body for *_, has_body in sent(server)} == {False}


async def test_closed_port_is_reported(
    connection: OpenCodeConnection, server: FakeOpenCode
) -> None:
    nobody = connect("http://127.0.0.1:1")
    with pytest.raises(OpenCodeUnreachable):
        await post(nobody)
    await nobody.close()


def listener_of_another() -> tuple[socket.socket, int]:
    """A listener and the user to connect as, who is not its owner."""
    ours = os.geteuid()
    if ours != 0:  # only root can act as another: the listener is ours, and we say we are another
        return socket.create_server(("127.0.0.1", 0)), ours + 1
    os.seteuid(OTHERS_UID)
    try:
        return socket.create_server(("127.0.0.1", 0)), ours
    finally:
        os.seteuid(ours)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists owners")
async def test_port_of_another_user_gets_nothing() -> None:
    listener, uid = listener_of_another()
    received: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.set_result(await reader.read())
        writer.close()

    async with await asyncio.start_server(receive, sock=listener):
        port = listener.getsockname()[1]
        connection = connect(f"http://127.0.0.1:{port}", uid)
        with pytest.raises(NotOpenCode, match=f"the port {port} belongs to another user"):
            await post(connection)
        await connection.close()
        assert await received == b""
