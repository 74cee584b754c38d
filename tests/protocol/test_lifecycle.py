"""The end of a session, by either side, and requests to an editor that answers oddly."""

import asyncio
import os
import sys
from functools import partial
from inspect import signature
from pathlib import Path

import pytest

from stet.lsp.editor_client import Client
from tests.support.raw_peer import (
    WIRE_SERVER,
    Message,
    Peer,
    command,
    connected,
    frame,
    notification,
    opened,
    request,
)

INVALID_REQUEST = -32600
EXIT = notification("exit")
EDITS: Message = {"workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}}}
APPLY = command(1, "wire.apply", "file:///a", 1)

begun = partial(connected, fresh=True)
"""Starts a new process, like an editor: the start itself is tested here."""


async def test_shutdown_and_exit_end_with_0() -> None:
    async with begun() as peer:
        peer.send(request(1, "shutdown"), EXIT)
        assert await peer.answer(1) == {"jsonrpc": "2.0", "id": 1, "result": None}
        assert await peer.ended() == 0


async def test_exit_without_shutdown_ends_with_1() -> None:
    async with begun() as peer:
        peer.send(EXIT, request(1, "test/state"))
        assert await peer.ended() == 1


async def test_exit_before_initialize_ends_with_1() -> None:
    async with begun(initialized=False) as peer:
        peer.send(EXIT)
        assert await peer.ended() == 1


@pytest.mark.parametrize(
    "half", [b"", b"Content-Le", frame("{}")[:-1], b"Content-Length: 5\r\n\r\n"]
)
async def test_an_editor_that_hangs_up_ends_the_server(half: bytes) -> None:
    async with begun() as peer:
        peer.write(half)
        peer.hang_up()
        assert await peer.ended() == 1


async def test_after_shutdown_requests_are_refused_and_text_is_left_alone() -> None:
    async with begun() as peer:
        peer.send(request(1, "shutdown"), opened("file:///a", ""), request(2, "test/state"))
        peer.send(request(3, "shutdown"), request(4, "initialize", {"capabilities": {}}), EXIT)
        assert [await peer.code(n) for n in (2, 3, 4)] == [INVALID_REQUEST] * 3
        assert await peer.ended() == 0


@pytest.mark.parametrize(
    "work", [("wire.hang",), ("wire.hang", "stubborn"), ("wire.hang", "thread")]
)
async def test_shutdown_with_work_in_flight_is_answered_and_ends(work: tuple[str, ...]) -> None:
    async with begun(initialized=False) as peer:
        await peer.initialize(**EDITS)
        peer.send(command(3, *work), APPLY)
        await peer.until("workspace/applyEdit")
        peer.send(request(2, "shutdown"), EXIT)
        assert (await peer.answer(2))["result"] is None
        assert await peer.ended() == 0


async def test_a_thread_that_never_returns_keeps_no_server_from_ending() -> None:
    async def code(how: str) -> int:
        async with begun() as peer:
            peer.send(command(1, "wire.hang", "closing"))
            await peer.answer(1)
            if how == "exit":
                peer.send(request(2, "shutdown"), EXIT)
            elif how == "hang up":
                peer.hang_up()
            else:
                peer.process.terminate()
            return await peer.ended()

    codes = await asyncio.gather(*map(code, ("exit", "hang up", "signal")))
    assert codes == [0, 1, 128 + 15]


async def test_the_server_ends_when_the_process_that_initialize_named_does() -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE
    )
    async with begun(initialized=False) as peer:
        params: Message = {"processId": parent.pid, "rootUri": None, "capabilities": {}}
        await peer.ask("initialize", params)
        await parent.communicate(b"\n")
        assert await peer.ended() == 1


async def test_a_process_that_never_was_does_not_end_the_server() -> None:
    async with begun(initialized=False) as peer:
        params: Message = {"processId": 2**31 - 1, "rootUri": None, "capabilities": {}}
        await peer.ask("initialize", params)
        assert (await peer.state())["tasks"] == 0
        peer.send(request(1, "shutdown"), EXIT)
        assert await peer.ended() == 0


async def test_sigterm_ends_the_server() -> None:
    async with begun() as peer:
        peer.process.terminate()
        assert await peer.ended() == 128 + 15


async def test_an_editor_that_reads_no_stderr_does_not_stop_the_server() -> None:
    unread, stderr = os.pipe()
    try:
        async with begun(stderr=stderr) as peer:
            peer.send(command(1, "wire.flood"))
            assert (await peer.answer(1))["result"] == {"flooded": True}
            peer.send(request(2, "shutdown"), EXIT)
            assert await peer.ended() == 0
    finally:
        os.close(unread)
        os.close(stderr)


async def test_an_editor_that_reads_nothing_for_long_loses_nothing() -> None:
    async with begun() as peer:
        peer.send(*(command(n, "wire.floodOutput") for n in range(5)))
        peer.send(
            opened("file:///a", "x" * 5_000_000), request("last", "test/crc", {"uri": "file:///a"})
        )
        await peer.drain()  # the server continues to read although nobody reads its output
        assert "result" in await peer.answer("last")
        shown = [one for one in peer.earlier() if one.get("method") == "window/showMessage"]
        assert len(shown) == 5_000


async def test_standard_input_may_be_a_file(tmp_path: Path) -> None:
    session = tmp_path / "session"
    session.write_bytes(
        b"".join(
            frame(body)
            for body in (
                '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}',
                '{"jsonrpc":"2.0","id":2,"method":"shutdown"}',
                '{"jsonrpc":"2.0","method":"exit"}',
            )
        )
    )
    with session.open("rb") as stdin, (tmp_path / "out").open("wb") as stdout:
        process = await asyncio.create_subprocess_exec(*WIRE_SERVER, stdin=stdin, stdout=stdout)
        async with asyncio.timeout(60):
            assert await process.wait() == 0
    assert (tmp_path / "out").read_bytes().endswith(b'{"id": 2, "jsonrpc": "2.0", "result": null}')


async def test_standard_input_may_be_empty() -> None:
    process = await asyncio.create_subprocess_exec(
        *WIRE_SERVER, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL
    )
    async with asyncio.timeout(60):
        assert await process.wait() == 1


async def ask_for_edit(peer: Peer) -> Message:
    """Make the server send an edit; return its request. The reply comes before it."""
    peer.send(APPLY)
    assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"sent": True}}
    message = await peer.receive()
    assert message["method"] == "workspace/applyEdit"
    return message


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"result": {"applied": True}}, "True"),
        ({"result": {"applied": True}, "error": None}, "True"),
        ({"result": {"applied": False, "failureReason": "no"}}, "False no"),
        ({"result": {"applied": False}}, "False The editor rejected the edit without a reason."),
        ({"result": {"applied": None}}, "False The editor rejected the edit without a reason."),
        (
            {"error": {"code": -32603, "message": "stale"}},
            "False The editor returned an error: stale",
        ),
        ({"error": "bare"}, "False The editor returned an error: bare"),
        (
            {"result": None},
            "False The editor returned an error: The answer is malformed: invalid value for "
            "type, expected ApplyWorkspaceEditResult @ $.result",
        ),
    ],
    ids=str,
)
async def test_every_answer_to_an_edit_is_an_outcome(answer: Message, outcome: str) -> None:
    async with connected(initialized=False) as peer:
        await peer.initialize(**EDITS)
        message = await ask_for_edit(peer)
        peer.send({"jsonrpc": "2.0", "id": message["id"], **answer})
        await peer.until("window/showMessage")
        state = await peer.state()
        assert state["outcomes"] == [outcome]
        assert (state["futures"], state["resultTypes"], state["tasks"]) == (0, 0, 0)


async def test_silence_after_an_edit_is_an_outcome_and_a_late_answer_is_ignored() -> None:
    async with connected([*WIRE_SERVER, "0.5"], initialized=False) as peer:
        await peer.initialize(**EDITS)
        message = await ask_for_edit(peer)
        await peer.until("window/showMessage")
        peer.send({"jsonrpc": "2.0", "id": message["id"], "result": {"applied": True}})
        state = await peer.state()
        assert state["outcomes"] == ["False The editor did not respond within 0.5 s."]
        assert (state["futures"], state["resultTypes"], state["tasks"]) == (0, 0, 0)


def test_an_edit_is_waited_for_ten_seconds() -> None:
    assert signature(Client).parameters["apply_seconds"].default == 10


async def test_an_editor_without_edits_is_not_asked_for_any() -> None:
    async with connected() as peer:
        peer.send(APPLY)
        await peer.until("window/showMessage")
        assert (await peer.state())["outcomes"] == [
            "False This editor does not accept edits from a language server."
        ]
