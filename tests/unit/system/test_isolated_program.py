"""Programs in overlays, and a process that writes what they see."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from stet.system.isolated_program import (
    FAILED,
    IsolationLayers,
    isolated_command,
    layers_fault,
)
from stet.system.namespace_writer import write_in_namespace
from stet.system.overlay import NOT_FOUND, Overlay
from stet.system.system import System
from tests.conftest import Part
from tests.parts.isolation import isolation

LAYERS = ("folder", "seed", "upper", "work", "hidden")
NOBODY = 2**22 + 1
"""No process id: the kernel gives none above 2**22."""
RACE = """
import errno, json, os, shutil, sys
from pathlib import Path
from stet.system.overlay_writer import write_in_overlay
name, text, session, outside = json.load(sys.stdin)
folder = os.path.dirname(name)
def replace(event, arguments):
    if event == "open" and str(arguments[0]) == "/proc/self/mountinfo" and not os.path.islink(folder):
        shutil.rmtree(folder)
        os.symlink(outside, folder)
        print("replaced")
sys.addaudithook(replace)
try:
    write_in_overlay(Path(name), text, session)
except OSError as error:
    print(errno.errorcode[error.errno], error.filename)
"""
"""Writes a file whose folder is replaced by a link while the path is checked."""


@pytest.fixture
def layers(tmp_path: Path, part: Part) -> IsolationLayers:
    part(isolation)
    for name in LAYERS:
        (tmp_path / name).mkdir()
    (tmp_path / "folder" / "a.txt").write_text("one\n")
    *paths, hidden = (tmp_path / name for name in LAYERS)
    return IsolationLayers([Overlay(*paths)], hidden, "s1")


def folder_of(layers: IsolationLayers) -> Path:
    return layers.overlays[0].folder


@asynccontextmanager
async def shell(layers: IsolationLayers) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run an isolated shell that reads its commands from stdin."""
    command = isolated_command(layers, ["sh"], folder_of(layers))
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def output(process: asyncio.subprocess.Process, command: str) -> str:
    """Run a command of one line of output; return the line."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{command}\n".encode())
    return (await process.stdout.readline()).decode()


async def test_program_is_the_process_and_writes_into_the_layer(layers: IsolationLayers) -> None:
    assert await layers_fault(System(), layers) == ""
    async with shell(layers) as process:
        assert await output(process, "echo $$") == f"{process.pid}\n"
        assert await output(process, "echo 2 >>a.txt; tail -n 1 a.txt; pwd >p") == "2\n"
        assert await output(process, "cat p") == f"{folder_of(layers)}\n"
    assert (folder_of(layers) / "a.txt").read_text() == "one\n"
    assert (layers.overlays[0].upper / "a.txt").read_text() == "one\n2\n"


async def test_file_is_written_where_the_program_sees_it(layers: IsolationLayers) -> None:
    folder = folder_of(layers)
    a, new, gone = folder / "a.txt", folder / "deep" / "new.txt", folder / "gone.txt"
    gone.write_text("x\n")
    async with shell(layers) as process:
        assert await output(process, "echo 1 >a.txt; chmod 700 a.txt; cat a.txt") == "1\n"
        files = {a: "ünsaved\n", new: "new\n", gone: None}
        assert await write_in_namespace(System(), process.pid, "s1", files) == []
        assert await output(process, "cat a.txt") == "ünsaved\n"
        assert await output(process, "cat deep/new.txt") == "new\n"
        assert await output(process, "stat -c %a a.txt; test -e gone.txt && echo there") == "700\n"
        assert await output(process, "echo end") == "end\n"
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "gone.txt"]


async def test_nothing_is_written_past_the_overlay(layers: IsolationLayers) -> None:
    folder, outside = folder_of(layers), folder_of(layers).parent / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("mine\n")
    async with shell(layers) as process:
        links = f"ln -s {outside} folder; ln -sf {outside}/a.txt a.txt; mkfifo pipe; echo made"
        assert await output(process, links) == "made\n"
        paths = [folder / "folder" / "a.txt", folder / "a.txt", folder / "pipe", outside / "a.txt"]
        files = dict.fromkeys(paths, "not mine\n")
        failed = await write_in_namespace(System(), process.pid, "s1", files)
        assert failed == [str(path) for path in paths]
        files = {folder / "b.txt": "b\n"}
        failed = await write_in_namespace(System(), process.pid, "another", files)
        assert failed == [str(folder / "b.txt")]
    assert (outside / "a.txt").read_text() == "mine\n"


@pytest.mark.parametrize("text", ["not mine\n", None])
async def test_folder_replaced_by_a_link_after_the_check_is_not_followed(
    layers: IsolationLayers, text: str | None
) -> None:
    folder, outside = folder_of(layers), folder_of(layers).parent / "outside"
    for parent in (outside, folder / "sub"):
        parent.mkdir()
        (parent / "a.txt").write_text("mine\n")
    path = folder / "sub" / "a.txt"
    process = await asyncio.create_subprocess_exec(
        *isolated_command(layers, [sys.executable, "-c", RACE], folder),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    task = json.dumps([str(path), text, "s1", str(outside)]).encode()
    output, _ = await process.communicate(task)
    assert (process.returncode, output.decode()) == (0, f"replaced\nELOOP {path.parent}\n")
    assert (outside / "a.txt").read_text() == "mine\n"
    assert path.read_text() == "mine\n"


async def test_pipe_that_is_read_is_not_written(layers: IsolationLayers) -> None:
    path = folder_of(layers) / "pipe"
    async with shell(layers) as process:
        assert await output(process, "mkfifo pipe; exec 3<>pipe; echo made") == "made\n"
        failed = await write_in_namespace(System(), process.pid, "s1", {path: "text\n"})
        assert failed == [str(path)]
        assert await output(process, "echo end >&3; head -n 1 <&3") == "end\n"


@pytest.mark.usefixtures("layers")
async def test_ended_program_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="can't be joined"):
        await write_in_namespace(System(), NOBODY, "s1", {tmp_path / "a.txt": "1\n"})


async def test_layers_that_can_not_be_mounted_have_a_reason(layers: IsolationLayers) -> None:
    broken = layers._replace(hidden=layers.hidden / "absent")
    assert await layers_fault(System(), broken) == "mount: No such file or directory"
    process = await asyncio.create_subprocess_exec(
        *isolated_command(broken, ["true"], folder_of(layers)), stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert (process.returncode, errors.decode()) == (
        FAILED,
        "stet: the program can't be isolated: mount: No such file or directory\n",
    )


async def test_missing_program_ends_as_in_a_shell(layers: IsolationLayers) -> None:
    command = isolated_command(layers, ["no-such-program"], folder_of(layers))
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    _, errors = await process.communicate()
    assert process.returncode == NOT_FOUND
    assert errors == b"stet: no-such-program: No such file or directory\n"


def test_program_ends_with_the_process_that_has_started_it(layers: IsolationLayers) -> None:
    command = isolated_command(layers, ["sh", "-c", "echo begun; cat"], folder_of(layers))
    # The parent that the program is to end with is another one than that which starts it.
    command[-4] = command[-4].replace(f'"parent": {os.getpid()}', '"parent": 1')
    ended = asyncio.run(_output_of(command))
    assert ended == b""


async def _output_of(command: list[str]) -> bytes:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    found, _ = await process.communicate()
    return found
