"""Cancels, stray answers and an early exit on the wire: nothing of them is stored."""

from asyncio.subprocess import PIPE

import pytest

from tests.support.raw_peer import Peer, changed, command, connected, notification, opened, request

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_cancel_ends_the_work_of_what_may_be_stopped_and_of_nothing_else() -> None:
    cancelled = -32800
    async with connected() as peer:
        peer.send(
            request("r", "test/wait"),
            command(0, "wire.stop", "search"),
            command("w", "wire.wait", "write"),
        )
        while len((await peer.state())["outcomes"]) < 3:
            pass  # each request is a round trip
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
            pass  # each request is a round trip
        peer.send(
            {"jsonrpc": "2.0", "id": "r", "result": 7},
            {"jsonrpc": "2.0", "id": "w", "error": {"code": 1, "message": "x"}},
        )
        assert (await peer.state())["outcomes"] == ["request waits", "write waits"]
        peer.send(*(notification("$/cancelRequest", {"id": name}) for name in ("r", "w")))
        assert [(await peer.receive())["error"]["code"] for _ in range(2)] == [-32800, -32800]


async def test_shutdown_drops_a_command_that_was_never_started() -> None:
    async with connected(stderr=PIPE) as peer:
        peer.send(command("w", "wire.wait", "write"), request("s", "shutdown"))
        assert (await peer.answer("s"))["result"] is None
        peer.send(notification("exit"))
        assert await peer.ended() == 0
        assert peer.process.stderr is not None
        assert b"never awaited" not in await peer.process.stderr.read()


async def leaks(peer: Peer) -> dict[str, object]:
    """Return the data that the server still stores of finished messages."""
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
