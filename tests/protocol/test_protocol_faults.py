"""Faults of the protocol itself, P1 to P12 of the project's list, in the whole server.

After each, the server answers, accepts the next change, its text equals the editor's byte by byte,
and the pending hunk is still pending. One server must survive all faults except those of its start
and end.
"""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import pytest_asyncio

from tests.support.fault_scene import NEW, OLD, TEXT, checksum, command_result, isolated_home
from tests.support.proposals import PROPOSING_SERVER
from tests.support.raw_peer import (
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
NOT_INITIALIZED = -32002
URI = "untitled:a.txt"
STATUS = json.dumps(command("s", "stet.status"))
Errors = Sequence[tuple[object, int]]

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Session:
    """A document with a pending hunk, and a raw client."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.text = TEXT
        self.version = 1
        self.hunk = ""

    async def begin(self) -> None:
        """Open the document and propose the hunk."""
        self.peer.send(opened(URI, TEXT))
        while not (await self.command("stet.status"))["ready"]:
            pass  # each request is a round trip
        spec = {"edit": URI, "changes": [[OLD, NEW]]}
        [self.hunk] = (await self.command("test.propose", spec))["hunks"]
        self.peer.earlier()

    async def command(self, name: str, *arguments: object) -> Any:
        """Return the result of a command."""
        return await command_result(self.peer, name, *arguments)

    def type(self, text: str = "+") -> None:
        """Type at the start of the document."""
        self.version += 1
        self.text = text + self.text
        self.peer.send(changed(URI, self.version, replaced((0, 0), (0, 0), text)))

    async def survives(self, errors: Errors = ()) -> None:
        """Check that exactly these errors (id, code) were returned, and nothing was harmed."""
        self.type()
        assert (await self.command("stet.status"))["pending"] == 1
        found = [one for one in self.peer.earlier() if "error" in one]
        assert [(one["id"], one["error"]["code"]) for one in found] == list(errors)
        assert await self.command("test.checksums", URI) == [checksum(self.text)]
        [hunk] = await self.command("stet.proposals")
        assert (hunk["hunk"], hunk["state"], hunk["old"]) == (self.hunk, "pending", OLD)


@asynccontextmanager
async def begun() -> AsyncIterator[Session]:
    """Start a server with the document and the hunk."""
    with TemporaryDirectory() as home:
        async with connected(PROPOSING_SERVER, env=isolated_home(home)) as peer:
            session = Session(peer)
            await session.begin()
            yield session


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def survivor() -> AsyncIterator[Session]:
    """Yield the session that must survive all faults."""
    async with begun() as session:
        yield session


def named(fault: tuple[str, object, object]) -> str:
    """Return number and name."""
    return fault[0]


HEADERS = {
    "P1 names in lower case": "content-length: {}\r\n\r\n",
    "P1 names in upper case": "CONTENT-LENGTH: {}\r\n\r\n",
    "P1 no space behind the colon": "Content-Length:{}\r\n\r\n",
    "P1 spaces everywhere": "Content-Length \t:   {}  \r\n\r\n",
    "P1 a folded line": "Content-Length:\r\n {}\r\n\r\n",
    "P1 bare line feeds": "Content-Length: {}\n\n",
    "P1 the type first": "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"
    "Content-Length: {}\r\n\r\n",
    "P1 the type last": "Content-Length: {}\r\nContent-Type: application/vscode-jsonrpc\r\n\r\n",
    "P1 headers nobody knows": "X-A: 1\r\nContent-Length: {}\r\nX-B: 2\r\nX-A: 3\r\n\r\n",
    "P1 a header of a million characters": "X-Long: " + "x" * 1_000_000 + "\r\n"
    "Content-Length: {}\r\n\r\n",
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
async def test_a_message_is_read_under_any_headers(survivor: Session, header: str) -> None:
    survivor.peer.write(frame(STATUS, header))
    assert (await survivor.peer.answer("s"))["result"]["pending"] == 1
    await survivor.survives()


def deep(n: int, opening: bytes, closing: bytes) -> bytes:
    """Return JSON nested `n` levels deep."""
    return opening * n + b"1" + closing * n


BODY = STATUS.encode()
N = len(BODY)
IN_PARAMS = (
    b'{"jsonrpc":"2.0","id":1,"method":"workspace/executeCommand",'
    b'"params":{"command":"stet.ask","arguments":[%b]}}'
)
BYTES: list[tuple[str, bytes, Errors]] = [
    ("P2 no length", b"Content-Type: text/plain\r\n\r\n" + BODY, []),
    ("P2 no header at all", b"\r\n\r\n" + BODY + b"\r\n\r\n", []),
    ("P2 a negative length", b"Content-Length: -5\r\n\r\n" + BODY, []),
    ("P2 a length that is no number", b"Content-Length: 0x10\r\n\r\n" + BODY, []),
    ("P2 2 GB", b"Content-Length: 2147483648\r\n\r\n" + BODY, []),
    ("P2 more than any machine has", b"Content-Length: 9" + b"9" * 30 + b"\r\n\r\n" + BODY, []),
    ("P2 larger than the body", b"Content-Length: %d\r\n\r\n" % (N + 90) + BODY,
     [(None, PARSE_ERROR)]),
    ("P2 smaller than the body", b"Content-Length: %d\r\n\r\n" % (N - 9) + BODY,
     [(None, PARSE_ERROR)]),
    ("P2 two lengths", b"Content-Length: 7\r\nContent-Length: 2\r\n\r\n{}",
     [(None, INVALID_REQUEST)]),
    ("P3 a body of no bytes", frame(b""), [(None, PARSE_ERROR)]),
    ("P3 a thousand bodies of no bytes", frame(b"") * 1000, [(None, PARSE_ERROR)] * 1000),
    ("P4 half an object", frame(b'{"jsonrpc": "2.0", "id": 1'), [(None, PARSE_ERROR)]),
    ("P4 no JSON, then a bad message, then no JSON", frame(b"{") + frame(b"{}") + frame(b"x"),
     [(None, PARSE_ERROR), (None, INVALID_REQUEST), (None, PARSE_ERROR)]),
    ("P4 a number too long to read", frame(b'{"jsonrpc":"2.0","id":%b}' % (b"9" * 10_000)),
     [(None, PARSE_ERROR)]),
    ("P4 NaN for an id", frame(b'{"jsonrpc":"2.0","id":NaN,"method":"shutdown"}'),
     [(None, INVALID_REQUEST)]),
    ("P5 no UTF-8", frame(b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}'), [(None, PARSE_ERROR)]),
    ("P5 a surrogate as UTF-8", frame(b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}'),
     [(1, METHOD_NOT_FOUND)]),
    ("P5 bytes between two messages", b"\xff\x00" * 50_000 + b"\r\n\r\n", []),
    ("P6 arrays in arrays", frame(deep(100_000, b"[", b"]")), [(None, PARSE_ERROR)]),
    ("P6 objects in objects", frame(deep(100_000, b'{"a":', b"}")), [(None, PARSE_ERROR)]),
    ("P6 deep arguments", frame(IN_PARAMS % deep(100_000, b"[", b"]")), [(None, PARSE_ERROR)]),
    ("P6 arguments as deep as can be read", frame(IN_PARAMS % deep(700, b"[", b"]")),
     [(1, INVALID_PARAMS)]),
    ("P7 a batch", frame(b"[%b,%b]" % (BODY, BODY)), [(None, INVALID_REQUEST)]),
    ("P7 an empty batch", frame(b"[]"), [(None, INVALID_REQUEST)]),
    ("P7 no object", frame(b"null") + frame(b'"text"') + frame(b"7"),
     [(None, INVALID_REQUEST)] * 3),
]  # fmt: skip


@pytest.mark.parametrize("fault", BYTES, ids=named)
async def test_bytes_that_make_no_message_cost_nothing_else(
    survivor: Session, fault: tuple[str, bytes, Errors]
) -> None:
    _, data, errors = fault
    survivor.peer.write(data)
    await survivor.survives(errors)


def wrong(method: str, *params: object) -> list[Message]:
    """Make the same request with each of these params."""
    return [request(1, method, one) for one in params]


def commands(name: str, *arguments: object) -> list[Message]:
    """Make the same command with each of these arguments."""
    return [command(1, name, one) for one in arguments]


def refused(code: int, messages: Sequence[Message]) -> tuple[Sequence[Message], Errors]:
    """Expect this error as the answer to each message."""
    return messages, [(1, code)] * len(messages)


ODD: tuple[object, ...] = (
    5,
    "text",
    [],
    [[]],
    {},
    {"textDocument": 5},
    {"textDocument": {"url": URI}},
)
AT = {"textDocument": {"uri": URI}, "position": {"line": "1", "character": None}}
MESSAGES: dict[str, tuple[Sequence[Message], Errors]] = {
    "P8 initialize for the second time": refused(
        INVALID_REQUEST, wrong("initialize", {"capabilities": {}}, {}, None)
    ),
    "P9 commands": refused(
        INVALID_PARAMS,
        wrong("workspace/executeCommand", None, 5, [1, 2], {}, {"command": 5}, {"command": "x"}),
    ),
    "P9 arguments of commands": refused(
        INVALID_PARAMS,
        [
            *commands("stet.ask", 5, None, [], {"prompt": 7}, {"no": 1}),
            *commands("stet.accept", {}, {"hunk": 5}, {"all": "yes"}, [1]),
            command(1, "stet.proposals", {"state": {}}),
        ],
    ),
    "P9 code actions": refused(INVALID_PARAMS, wrong("textDocument/codeAction", *ODD)),
    "P9 code lenses": refused(INVALID_PARAMS, wrong("textDocument/codeLens", *ODD)),
    "P9 hovers": refused(INVALID_PARAMS, wrong("textDocument/hover", AT, *ODD)),
    "P9 highlights": refused(INVALID_PARAMS, wrong("textDocument/documentHighlight", AT, *ODD)),
    "P9 symbols": refused(INVALID_PARAMS, wrong("workspace/symbol", 5, "text", [], {})),
    "P9 a notification as a request": refused(
        INVALID_PARAMS, wrong("textDocument/didOpen", {"textDocument": {}})
    ),
    "P9 a change as a request": refused(
        INVALID_REQUEST,
        [{**changed(URI, 9, {"text": "lost"}), "id": 1}, {**notification("exit"), "id": 1}],
    ),
    "P9 changes": (
        [
            notification("textDocument/didChange", params)
            for params in (
                *ODD,
                None,
                {"textDocument": {"uri": URI, "version": "2"}, "contentChanges": []},
                {"textDocument": {"uri": URI, "version": 9}, "contentChanges": None},
                {"textDocument": {"uri": URI, "version": 9}, "contentChanges": [{"text": 5}]},
                {
                    "textDocument": {"uri": URI, "version": 9},
                    "contentChanges": [{"text": "lost"}, replaced((0, 1.5), (0, 2), "lost")],
                },
            )
        ],
        [],
    ),
    "P9 other notifications": (
        [
            notification(method, params)
            for method in (
                "textDocument/didOpen",
                "textDocument/didClose",
                "textDocument/didSave",
                "workspace/didChangeWatchedFiles",
                "workspace/didChangeWorkspaceFolders",
                "workspace/didRenameFiles",
                "workspace/didDeleteFiles",
                "window/workDoneProgress/cancel",
                "$/cancelRequest",
                "$/setTrace",
                "$/stet/didFocus",
                "$/stet/didChangeSelection",
            )
            for params in (None, *ODD, {"event": 5}, {"changes": [5, {"uri": 5}]}, {"files": [5]})
        ],
        [],
    ),
    "P10 unknown requests": refused(
        METHOD_NOT_FOUND,
        [request(1, "textDocument/formatting", {}), request(1, ""), request(1, "a" * 100_000)],
    ),
    "P10 unknown requests of the protocol": refused(METHOD_NOT_FOUND, [request(1, "$/unknown")]),
    "P10 unknown notifications": (
        [
            notification("unknown/method", {}),
            notification("$/unknown", {"deep": [{}]}),
            notification("", None),
            notification("initialize", {}),
            notification("textDocument/hover", AT),
            notification("shutdown"),
        ],
        [],
    ),
    "P11 ids that are none": (
        [
            request(None, "workspace/executeCommand"),
            request({}, "workspace/executeCommand"),
            request(1.5, "workspace/executeCommand"),
            request(True, "workspace/executeCommand"),
        ],
        [(None, INVALID_REQUEST)] * 4,
    ),
    "P11 answers that nobody asked for": (
        [
            {"jsonrpc": "2.0", "id": "nobody", "result": 1},
            {"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "x"}},
            {"jsonrpc": "2.0", "id": 99, "error": "text"},
            {"jsonrpc": "2.0", "id": 99, "result": {"applied": True}, "error": None},
        ],
        [],
    ),
    "P11 neither a request nor a response": (
        [{"jsonrpc": "2.0", "id": 1}, {"jsonrpc": "2.0", "result": 1}, {"jsonrpc": "2.0"}],
        [(None, INVALID_REQUEST)] * 3,
    ),
}


@pytest.mark.parametrize("fault", MESSAGES.values(), ids=MESSAGES)
async def test_messages_that_make_no_sense_are_refused_or_ignored(
    survivor: Session, fault: tuple[Sequence[Message], Errors]
) -> None:
    messages, errors = fault
    survivor.peer.send(*messages)
    await survivor.survives(errors)


async def test_p8_before_initialize_only_that_is_answered_and_text_is_not_taken(
    tmp_path: Path,
) -> None:
    env = isolated_home(tmp_path)
    async with connected(PROPOSING_SERVER, initialized=False, env=env) as peer:
        peer.send(
            opened(URI, "lost"),
            changed(URI, 2, {"text": "lost"}),
            command(1, "stet.status"),
            request(2, "shutdown"),
            request(3, "initialize", {"capabilities": 5}),
        )
        codes = [await peer.code(n) for n in (1, 2, 3)]
        assert codes == [NOT_INITIALIZED, NOT_INITIALIZED, INVALID_PARAMS]
        await peer.initialize()
        session = Session(peer)
        assert await session.command("test.checksums", URI) == [None]
        await session.begin()
        await session.survives()


async def test_p8_after_shutdown_everything_is_refused_and_the_text_is_left() -> None:
    async with begun() as session:
        peer = session.peer
        peer.send(
            request(1, "shutdown"),
            changed(URI, 2, {"text": "lost"}),
            command(2, "stet.accept", {"all": True}),
            request(3, "shutdown"),
            request(4, "initialize", {"capabilities": {}}),
            {"jsonrpc": "2.0", "id": 5},
        )
        assert (await peer.answer(1))["result"] is None
        assert [await peer.code(n) for n in (2, 3, 4, None)] == [INVALID_REQUEST] * 4
        peer.send(notification("exit"))
        assert await peer.ended() == 0


async def test_p11_duplicate_and_string_ids_are_each_answered(survivor: Session) -> None:
    asked = [command(n, "stet.status") for n in (1, 1, "1", "", 0, -1, 2**53)]
    survivor.peer.send(*asked)
    answers = [await survivor.peer.answer(one["id"]) for one in asked]
    assert [one["result"]["pending"] for one in answers] == [1] * len(asked)
    await survivor.survives()


async def test_p12_ten_thousand_messages_in_one_write_are_all_taken_in_order() -> None:
    async with begun() as session:
        session.peer.send(
            *(changed(URI, n + 2, replaced((0, n), (0, n), str(n % 10))) for n in range(10_000))
        )
        session.text = "0123456789" * 1_000 + TEXT
        session.version = 10_001
        await session.survives()


async def test_p12_a_message_in_single_bytes_is_read(survivor: Session) -> None:
    for byte in frame(STATUS):
        survivor.peer.write(bytes([byte]))
        await survivor.peer.drain()
    assert (await survivor.peer.answer("s"))["result"]["pending"] == 1
    await survivor.survives()
