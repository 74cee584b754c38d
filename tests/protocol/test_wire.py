"""The wire survives what clients, and worse, send: framing, JSON, ids, phases, shapes."""

import json
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio

from tests.support.raw import (
    Message,
    Peer,
    changed,
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
NOT_INITIALIZED = -32002

STATE = json.dumps(request("s", "test/state"))


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def survivor() -> AsyncIterator[Peer]:
    """One server that has to survive all of this."""
    async with connected() as peer:
        yield peer


async def check_survives(
    peer: Peer, data: bytes, answers: Sequence[tuple[object, int]] = ()
) -> None:
    """After `data`, exactly these errors (id, code) come back, and the server goes on."""
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


async def test_positions_out_of_range_are_clamped_and_reversed_ranges_turned() -> None:
    async with connected() as peer:
        peer.send(
            opened("file:///a", "one\ntwo"),
            changed("file:///a", 1, replaced((0, 2**53), (0, 2**31), "!")),
            changed("file:///a", 0, replaced((7, 0), (2**53, 9), ".")),
            changed(
                "file:///a", -4, replaced((0, 1), (0, 0), "O"), replaced((-3, -1), (0, 0), ">")
            ),
        )
        assert await peer.text() == ">One!\ntwo."


async def test_form_feeds_and_other_lookalikes_do_not_end_lines() -> None:
    async with connected() as peer:
        peer.send(
            opened("file:///a", "a\fb\u2028c\x85d\rsecond\n"),
            changed("file:///a", 2, replaced((1, 0), (1, 6), "X")),
        )
        assert await peer.text() == "a\fb\u2028c\x85d\rX\n"


@pytest.mark.parametrize(
    ("offered", "columns"), [(["utf-8", "utf-16"], (4, 5)), (["utf-32"], (1, 2)), (None, (2, 3))]
)
async def test_columns_are_counted_in_the_encoding_agreed_on(
    offered: list[str] | None, columns: tuple[int, int]
) -> None:
    async with connected(initialized=False) as peer:
        result = await peer.initialize(general={"positionEncodings": offered} if offered else {})
        assert result["capabilities"]["positionEncoding"] == (offered or ["utf-16"])[0]
        first, second = columns
        peer.send(
            opened("file:///a", "𝄞xy"),
            changed("file:///a", 2, replaced((0, first), (0, second), "z")),
        )
        assert await peer.text() == "𝄞zy"


async def test_lone_surrogates_and_nul_come_back_as_they_went() -> None:
    async with connected() as peer:
        peer.send(opened("file:///a", "\ud800 \x00 \udfff"))
        assert await peer.text() == "\ud800 \x00 \udfff"


async def test_ten_thousand_messages_in_one_write_are_all_taken_in_order() -> None:
    async with connected() as peer:
        peer.send(
            opened("file:///a", ""),
            *(
                changed("file:///a", n, replaced((0, n), (0, n), str(n % 10)))
                for n in range(10_000)
            ),
        )
        assert await peer.text() == "0123456789" * 1_000


async def test_a_message_may_come_byte_by_byte() -> None:
    async with connected() as peer:
        for byte in frame(STATE):
            peer.write(bytes([byte]))
            await peer.drain()
        assert "result" in await peer.answer("s")


async def test_duplicate_and_string_ids_are_each_answered() -> None:
    async with connected() as peer:
        peer.send(request(1, "test/state"), request(1, "test/state"), request("1", "test/state"))
        assert [(await peer.receive())["id"] for _ in range(3)] == [1, 1, "1"]


async def test_only_initialize_is_answered_before_initialize() -> None:
    async with connected(initialized=False) as peer:
        peer.send(
            opened("file:///a", "lost"),
            changed("file:///a", 2, {"text": "lost"}),
            request(1, "test/text", {"uri": "file:///a"}),
            request(2, "shutdown"),
            request(3, "initialize", {"capabilities": 5}),
        )
        assert await peer.code(1) == NOT_INITIALIZED
        assert await peer.code(2) == NOT_INITIALIZED
        assert await peer.code(3) == INVALID_PARAMS
        await peer.initialize()
        assert await peer.text() is None


async def test_parameters_of_custom_notifications_arrive_as_plain_json() -> None:
    params = {"class": 1, "x-y": 2, "type_name": 3, "in": {"jsonrpc": "2.0", "method": "exit"}}
    async with connected() as peer:
        peer.send(notification("$/test/note", params))
        assert (await peer.state())["outcomes"] == [repr(params)]


async def test_commands_get_their_arguments_as_they_came() -> None:
    async with connected() as peer:
        arguments = ["a", {"b": [1, {"c": None}]}, 3.5, None]
        peer.send(command(1, "wire.echo", *arguments), command(2, "wire.echo"))
        assert [(await peer.answer(n))["result"] for n in (1, 2)] == [arguments, []]


async def test_a_wrong_command_name_is_answered_with_the_nearest() -> None:
    async with connected() as peer:
        peer.send(command(1, "wire.ecko"))
        assert (await peer.answer(1))["error"]["message"] == (
            "There is no command 'wire.ecko'. Did you mean 'wire.echo'?"
        )


async def test_a_stray_print_stays_out_of_the_protocol() -> None:
    async with connected() as peer:
        peer.send(command(1, "wire.print"))
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}


async def test_a_cancel_ends_the_work_of_what_may_be_stopped_and_of_nothing_else() -> None:
    cancelled = -32800
    async with connected() as peer:
        peer.send(
            request("r", "test/wait"),
            command(0, "wire.stop", "search"),
            command("w", "wire.wait", "write"),
        )
        while len((await peer.state())["outcomes"]) < 3:
            pass  # each question is a round trip
        for name in ("r", 0, "w"):
            peer.send(notification("$/cancelRequest", {"id": name}))
        answers = [await peer.receive() for _ in range(3)]
        assert {one["id"]: one["error"]["code"] for one in answers} == dict.fromkeys(
            ("r", 0, "w"), cancelled
        )
        while len((await peer.state())["outcomes"]) < 5:
            pass
        assert sorted((await peer.state())["outcomes"]) == [
            "request stopped", "request waits", "search stopped", "search waits", "write waits",
        ]  # fmt: skip


@pytest.mark.parametrize("name", [{}, [1]])
async def test_what_comes_together_with_an_odd_cancel_is_answered(name: object) -> None:
    async with connected() as peer:
        peer.send(notification("$/cancelRequest", {"id": name}), request(1, "test/state"))
        assert "error" not in await peer.answer(1)


async def test_a_stray_answer_settles_no_request_of_the_editors_own() -> None:
    async with connected() as peer:
        peer.send(request("r", "test/wait"), command("w", "wire.wait", "write"))
        while len((await peer.state())["outcomes"]) < 2:
            pass  # each question is a round trip
        peer.send(
            {"jsonrpc": "2.0", "id": "r", "result": 7},
            {"jsonrpc": "2.0", "id": "w", "error": {"code": 1, "message": "x"}},
        )
        assert (await peer.state())["outcomes"] == ["request waits", "write waits"]
        peer.send(*(notification("$/cancelRequest", {"id": name}) for name in ("r", "w")))
        assert [(await peer.receive())["error"]["code"] for _ in range(2)] == [-32800, -32800]


async def test_a_shutdown_leaves_nothing_behind_of_a_command_that_was_never_begun() -> None:
    async with connected(stderr=PIPE) as peer:
        peer.send(command("w", "wire.wait", "write"), request("s", "shutdown"))
        assert (await peer.answer("s"))["result"] is None
        peer.send(notification("exit"))
        assert await peer.ended() == 0
        assert peer.process.stderr is not None
        assert b"never awaited" not in await peer.process.stderr.read()


async def leaks(peer: Peer) -> dict[str, object]:
    """What the server still keeps of finished messages."""
    state = await peer.state()
    return {name: state[name] for name in ("futures", "resultTypes", "tokens", "tasks")}


async def test_nothing_is_kept_of_notifications_requests_and_commands() -> None:
    async with connected() as peer:
        for n in range(100):
            peer.send(
                opened("file:///a", ""),
                changed("file:///a", n, {"text": "x"}),
                notification("initialized", {}),
                notification("$/setTrace", {"value": "off"}),
                notification("$/test/note", {}),
                notification("window/workDoneProgress/cancel", {"token": "nobody"}),
                notification(
                    "workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": []}}
                ),
                command("c", "wire.echo"),
                command("c", "wire.refuse", "failed"),
                request("r", "test/broken"),
                notification("textDocument/didClose", {"textDocument": {"uri": "file:///a"}}),
            )
        assert await leaks(peer) == {"futures": 0, "resultTypes": 0, "tokens": 0, "tasks": 0}
