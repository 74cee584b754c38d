"""Messages pass the wire in order, complete and unchanged, however they are sent."""

import json

import pytest

from tests.support.raw_peer import (
    changed,
    command,
    connected,
    frame,
    notification,
    opened,
    replaced,
    request,
)

INVALID_PARAMS = -32602
NOT_INITIALIZED = -32002

STATE = json.dumps(request("s", "test/state"))


pytestmark = pytest.mark.asyncio(loop_scope="module")


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
            "Unknown command 'wire.ecko'. Did you mean 'wire.echo'?"
        )


async def test_a_stray_print_stays_out_of_the_protocol() -> None:
    async with connected() as peer:
        peer.send(command(1, "wire.print"))
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}
