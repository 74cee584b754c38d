"""The control socket without a language server: who gets in, and what is answered."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from stet.control import control_server
from stet.control.control_client import (
    ControlClient,
    RequestRefused,
    ServerLost,
    choose_server,
    find_servers,
)
from stet.control.control_server import ControlServer, MethodRefused
from stet.control.descriptor import Descriptor, path_of_descriptor, read_descriptors
from stet.lsp.tasks import Tasks

SECONDS = 10.0


class Methods:
    """The methods of the server under test."""

    def __init__(self) -> None:
        self.is_waiting = asyncio.Event()
        self.was_cancelled = asyncio.Event()
        self.opened = ""

    def table(self) -> dict[str, Callable[[tuple[object, ...]], Awaitable[object]]]:
        return {
            "echo": self.echo,
            "refuse": self.refuse,
            "fail": self.fail,
            "wait": self.wait,
            "control.hasOpen": self.has_open,
        }

    async def echo(self, params: tuple[object, ...]) -> object:
        return params

    async def refuse(self, params: tuple[object, ...]) -> object:
        raise MethodRefused("not now", -32803)

    async def fail(self, params: tuple[object, ...]) -> object:
        raise ValueError("private")

    async def wait(self, params: tuple[object, ...]) -> object:
        self.is_waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.was_cancelled.set()
        return None

    async def has_open(self, params: tuple[object, ...]) -> object:
        [given] = params
        assert isinstance(given, dict)
        return given["path"] == self.opened


@asynccontextmanager
async def serving(
    folder: Path, *roots: str, methods: Methods | None = None
) -> AsyncIterator[Descriptor]:
    """Run a server; yield its descriptor."""
    tasks = Tasks()
    server = ControlServer((methods or Methods()).table(), tasks.spawn, "1.0")
    await server.open(folder, roots, now=1.0)
    try:
        [descriptor] = read_descriptors(folder)
        yield descriptor
    finally:
        await server.close()
        await tasks.close()


async def asked(descriptor: Descriptor, method: str, *params: object) -> Any:
    """Send one request from a client in a thread."""

    def run() -> Any:
        with ControlClient(descriptor, SECONDS) as client:
            return client.request(method, *params)

    return await asyncio.to_thread(run)


async def exchanged(descriptor: Descriptor, *lines: bytes) -> list[Any]:
    """Send raw lines; return the answers until the server or the client ends."""
    reader, writer = await asyncio.open_unix_connection(descriptor.socket)
    writer.write(b"".join(lines))
    answers = [json.loads(await reader.readline()) for _ in lines]
    writer.close()
    return answers


@pytest.fixture(params=["unix", "port"])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Choose the Unix socket, or the port of a system that has none."""
    if request.param == "port":
        monkeypatch.setattr(control_server, "is_supported", lambda: False)
    return str(request.param)


async def test_request_is_answered(transport: str, tmp_path: Path) -> None:
    async with serving(tmp_path) as descriptor:
        assert bool(descriptor.socket) == (transport == "unix")
        assert await asked(descriptor, "echo", {"a": 1}, "é") == [{"a": 1}, "é"]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only Linux has a shorter path")
async def test_socket_with_a_long_path_is_reached(tmp_path: Path) -> None:
    folder = await asyncio.to_thread(made, tmp_path / ("long" * 30))
    async with serving(folder) as descriptor:
        assert len(descriptor.socket) > 107
        assert await asked(descriptor, "echo", 1) == [1]
    assert list(folder.iterdir()) == []


def made(folder: Path) -> Path:
    """Make a folder, and return it."""
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("method", "code", "message"),
    [
        ("refuse", -32803, "not now"),
        ("fail", -32603, "internal error in Stet (ValueError); see its log"),
        ("stet.ask", -32601, "there is no method 'stet.ask'"),
    ],
)
async def test_error_is_answered(method: str, code: int, message: str, tmp_path: Path) -> None:
    async with serving(tmp_path) as descriptor:
        with pytest.raises(RequestRefused) as refused:
            await asked(descriptor, method)
    assert (refused.value.code, str(refused.value)) == (code, message)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{\n", -32700),
        (b"[1]\n", -32700),
        (b"\xff\n", -32700),
        (b'{"id": 1}\n', -32600),
        (b'{"id": 1, "method": "echo", "params": {}}\n', -32600),
        (b"[" * 100_000 + b"\n", -32700),
    ],
)
async def test_invalid_line_is_refused_and_the_next_is_answered(
    line: bytes, code: int, tmp_path: Path
) -> None:
    async with serving(tmp_path) as descriptor:
        refused, answered = await exchanged(
            descriptor, line, b'{"id": 2, "method": "echo", "params": [3]}\n'
        )
    assert (refused["error"]["code"], answered["result"]) == (code, [3])


async def test_request_of_a_client_that_leaves_is_cancelled(tmp_path: Path) -> None:
    methods = Methods()
    async with serving(tmp_path, methods=methods) as descriptor:
        _, writer = await asyncio.open_unix_connection(descriptor.socket)
        writer.write(b'{"id": 1, "method": "wait", "params": []}\n')
        async with asyncio.timeout(SECONDS):
            await methods.is_waiting.wait()
            writer.close()
            await methods.was_cancelled.wait()


async def test_other_user_is_not_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(tmp_path) as descriptor:
        monkeypatch.setattr("stet.control.peer.os.geteuid", lambda: os.getuid() + 1)
        with pytest.raises(ServerLost):
            await asked(descriptor, "echo")


@pytest.mark.parametrize("hello", [b'{"token": "guess"}\n', b"{}\n", b"\n", b"1\n", b'"t"\n'])
async def test_port_without_the_token_is_not_answered(
    hello: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_server, "is_supported", lambda: False)
    async with serving(tmp_path) as descriptor:
        reader, writer = await asyncio.open_connection("127.0.0.1", descriptor.port)
        writer.write(hello + b'{"id": 1, "method": "echo", "params": []}\n')
        async with asyncio.timeout(SECONDS):
            assert await reader.read() == b""
        writer.close()


async def test_find_servers_returns_the_server_of_a_folder(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(work)
    async with serving(tmp_path, str(work)) as descriptor:
        for folder in (work, work / "deep", tmp_path / "link"):
            assert find_servers(tmp_path, str(folder)) == [descriptor]
        assert find_servers(tmp_path, str(tmp_path / "workshop")) == []


async def test_find_servers_returns_a_server_without_folders_by_its_open_files(
    tmp_path: Path,
) -> None:
    methods = Methods()
    methods.opened = str(tmp_path / "notes")
    async with serving(tmp_path, methods=methods) as descriptor:

        def servers_of(folder: Path) -> list[Descriptor]:
            return find_servers(tmp_path, str(folder))

        assert await asyncio.to_thread(servers_of, tmp_path / "notes") == [descriptor]
        assert await asyncio.to_thread(servers_of, tmp_path / "others") == []


async def test_server_with_the_file_open_is_chosen(tmp_path: Path) -> None:
    methods = Methods()
    methods.opened = str(tmp_path / "a.py")
    async with serving(tmp_path, methods=methods) as older:
        newer = older._replace(socket=str(tmp_path / "gone.sock"), started=2.0)
        chosen = await asyncio.to_thread(choose_server, [newer, older], str(tmp_path / "a.py"))
        assert chosen == older
        assert choose_server([newer, older], "") == newer


def test_files_of_a_killed_server_are_removed(tmp_path: Path) -> None:
    pid = 2**22 + 1  # above the largest process id of Linux
    path = path_of_descriptor(tmp_path, pid)
    path.write_text(json.dumps(Descriptor(pid, 1.0, "1", ("/a",), str(tmp_path / "x"))._asdict()))
    (tmp_path / f"serve-{pid}.sock").touch()
    (tmp_path / "serve-1.json").write_text("{")
    assert read_descriptors(tmp_path) == []
    assert sorted(one.name for one in tmp_path.iterdir()) == ["serve-1.json"]


async def test_server_that_has_ended_is_reported(tmp_path: Path) -> None:
    async with serving(tmp_path) as descriptor:
        pass
    with pytest.raises(ServerLost, match=rf"process {os.getpid()}\) can't be reached"):
        await asked(descriptor, "echo")
