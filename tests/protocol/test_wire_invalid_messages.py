"""The wire survives invalid messages: framing, JSON, ids, shapes."""

import json
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio

from tests.support.raw_peer import (
    Message,
    Peer,
    command,
    connected,
    frame,
    notification,
    opened,
    replaced,
    request,
)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

STATE = json.dumps(request("s", "test/state"))


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def survivor() -> AsyncIterator[Peer]:
    """Yield one server that must survive all of this."""
    async with connected() as peer:
        yield peer


async def check_survives(
    peer: Peer, data: bytes, answers: Sequence[tuple[object, int]] = ()
) -> None:
    """Send `data`; check that exactly these errors (id, code) return, and the server continues."""
    peer.write(data)
    peer.send(request("last", "test/state"))
    assert "result" in await peer.answer("last")
    errors = [(one["id"], one["error"]["code"]) for one in peer.earlier()]
    assert errors == list(answers)


@pytest.mark.parametrize(
    "header",
    [
        "content-length: {}\r\n\r\n",
        "CONTENT-LENGTH:{}\r\n\r\n",
        "Content-Length :   {}  \r\n\r\n",
        "Content-Length:\r\n {}\r\n\r\n",
        "Content-Length: {}\n\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
        "Content-Length: {}\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
        "Content-Length: {}\r\nX-Long: " + "x" * 1_000_000 + "\r\n\r\n",
        "X-Long: " + "x" * 1_000_000 + "\r\nContent-Length: {}\r\n\r\n",
        "\r\n\r\nContent-Length: {}\r\n\r\n",
    ],
    ids=lambda header: header[:40].strip(),
)
async def test_headers_are_read_leniently(survivor: Peer, header: str) -> None:
    survivor.write(frame(STATE, header))
    assert "result" in await survivor.answer("s")


@pytest.mark.parametrize(
    "header",
    [
        "Content-Type: text/plain\r\n\r\n",
        "Content-Length: -5\r\n\r\n",
        "Content-Length: many\r\n\r\n",
        "Content-Length: 2147483648\r\n\r\n",
        "Content-Length: 99999999999999999999999999\r\n\r\n",
    ],
    ids=lambda header: header.strip(),
)
async def test_a_wrong_length_costs_one_message(survivor: Peer, header: str) -> None:
    await check_survives(survivor, header.encode() + STATE.encode())


async def test_a_length_larger_than_the_body_does_not_take_the_next_message(survivor: Peer) -> None:
    body = STATE.encode()
    await check_survives(
        survivor, b"Content-Length: %d\r\n\r\n" % (len(body) + 80) + body, [(None, PARSE_ERROR)]
    )


async def test_a_length_smaller_than_the_body_costs_one_message(survivor: Peer) -> None:
    body = STATE.encode()
    await check_survives(
        survivor, b"Content-Length: %d\r\n\r\n" % (len(body) - 9) + body, [(None, PARSE_ERROR)]
    )


async def test_rubbish_between_messages_is_skipped(survivor: Peer) -> None:
    await check_survives(survivor, b"rubbish\n\n{}\r\n\r\n" + b"\xff\x00" * 50_000 + b"\r\n\r\n")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", PARSE_ERROR),
        (b"{", PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": 1', PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "test/\xff\xfe"}', PARSE_ERROR),
        (b"[" * 100_000 + b"]" * 100_000, PARSE_ERROR),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": %s, "method": "test/state"}' % (b"9" * 10_000), PARSE_ERROR),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "test/state"}]', INVALID_REQUEST),
        (b"[]", INVALID_REQUEST),
        (b"null", INVALID_REQUEST),
        (b'"text"', INVALID_REQUEST),
        (b"{}", INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 1}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "result": 1}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": null, "method": "test/state"}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "test/state"}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "test/state"}', INVALID_REQUEST),
    ],
    ids=lambda value: str(value)[:50],
)
async def test_what_is_no_message_is_answered_without_an_id(
    survivor: Peer, body: bytes, code: int
) -> None:
    await check_survives(survivor, frame(body), [(None, code)])


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"id": 1, "method": "test/state"}, INVALID_REQUEST),
        ({"jsonrpc": "1.0", "id": 1, "method": "test/state"}, INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 1, "method": 7}, INVALID_REQUEST),
        (request(1, "textDocument/didOpen", {"textDocument": {}}), INVALID_PARAMS),
        (
            request(1, "textDocument/didClose", {"textDocument": {"uri": "file:///a"}}),
            INVALID_REQUEST,
        ),
        (request(1, "initialize", {"capabilities": {}}), INVALID_REQUEST),
        (request(1, "workspace/executeCommand", {"command": 5}), INVALID_PARAMS),
        (request(1, "workspace/executeCommand", {}), INVALID_PARAMS),
        (request(1, "workspace/executeCommand", [1, 2]), INVALID_PARAMS),
        (request(1, "workspace/executeCommand", 5), INVALID_PARAMS),
        (request(1, "workspace/executeCommand"), INVALID_PARAMS),
        (command(1, "wire.none"), INVALID_PARAMS),
        (request(1, "textDocument/formatting", {}), METHOD_NOT_FOUND),
        (request(1, "$/unknown"), METHOD_NOT_FOUND),
        (request(1, ""), METHOD_NOT_FOUND),
        (request(1, "test/broken"), INTERNAL_ERROR),
        (request(1, "test/broken", {"how": "answer"}), INTERNAL_ERROR),
        (command(1, "wire.refuse", "params"), INVALID_PARAMS),
        (command(1, "wire.refuse", "failed"), -32803),
        (command(1, "wire.refuse", "modified"), -32801),
    ],
    ids=lambda value: json.dumps(value)[:70],
)
async def test_a_request_that_fails_is_answered_with_an_error(
    survivor: Peer, message: Message, code: int
) -> None:
    await check_survives(survivor, frame(json.dumps(message)), [(1, code)])


@pytest.mark.parametrize(
    "message",
    [
        notification("unknown/method", {}),
        notification("$/unknown", {"deep": [{}]}),
        notification("$/cancelRequest", {"id": "nobody"}),
        notification("$/cancelRequest", {}),
        notification("$/cancelRequest", {"id": {}}),
        notification("$/cancelRequest", {"id": [1]}),
        notification("$/cancelRequest", {"id": None}),
        notification("$/setTrace", {"value": "verbose"}),
        notification("$/setTrace", {"value": 7}),
        notification("$/test/note", "boom"),
        notification("initialize", {}),
        notification("textDocument/didOpen", None),
        notification("textDocument/didOpen", {"textDocument": {"uri": 5}}),
        notification("textDocument/didClose", {"textDocument": {"uri": "file:///never"}}),
        notification("window/workDoneProgress/cancel", {"token": "nobody"}),
        notification("workspace/didChangeWorkspaceFolders", {"event": 5}),
        {"jsonrpc": "2.0", "id": "nobody", "result": 1},
        {"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "x"}},
        {"jsonrpc": "2.0", "id": 99, "error": "text"},
    ],
    ids=lambda value: json.dumps(value)[16:90],
)
async def test_a_notification_never_brings_an_answer(survivor: Peer, message: Message) -> None:
    await check_survives(survivor, frame(json.dumps(message)))


@pytest.mark.parametrize(
    "params",
    [
        None,
        5,
        [],
        {},
        {"textDocument": None, "contentChanges": []},
        {"textDocument": {"uri": "file:///a", "version": "2"}, "contentChanges": []},
        {"textDocument": {"uri": 7, "version": 2}, "contentChanges": []},
        {"textDocument": {"uri": "file:///closed", "version": 2}, "contentChanges": [{"text": ""}]},
        {"textDocument": {"uri": "file:///a", "version": 2}, "contentChanges": None},
        {"textDocument": {"uri": "file:///a", "version": 2}, "contentChanges": [None]},
        {"textDocument": {"uri": "file:///a", "version": 2}, "contentChanges": [{"text": 5}]},
        {
            "textDocument": {"uri": "file:///a", "version": 2},
            "contentChanges": [{"range": {}, "text": ""}],
        },
        {
            "textDocument": {"uri": "file:///a", "version": 2},
            "contentChanges": [replaced((0, 0), (0, 1), "lost"), replaced((0, 1.5), (0, 2), "x")],
        },
        {
            "textDocument": {"uri": "file:///a", "version": 2},
            "contentChanges": [replaced((0, "1"), (None, 2), "x")],
        },
    ],
    ids=lambda value: json.dumps(value)[:100],
)
async def test_a_malformed_change_is_ignored_as_a_whole(survivor: Peer, params: object) -> None:
    survivor.send(opened("file:///a", "text\n"), notification("textDocument/didChange", params))
    assert await survivor.text() == "text\n"
