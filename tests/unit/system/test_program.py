"""Running a program: its output, its end, and that nothing of it goes on."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from stet.lsp.tasks import Tasks
from stet.system.program import HEAD_BYTES, Program, ProgramResult
from stet.system.system import System
from tests.support.memory_system import MemorySystem

HOLDS = """
import sys, time
held = open(sys.argv[1], "wb", 0)
held.write(b"begun")
print("begun", flush=True)
time.sleep(60)
"""
LEAVES_ANOTHER = f"""
import subprocess, sys
argv = [sys.executable, "-I", "-c", {HOLDS!r}, sys.argv[1]]
child = subprocess.Popen(argv, stdout=subprocess.PIPE)
print(child.stdout.readline())
"""


def program(code: str, folder: Path, *arguments: str, seconds: float = 20.0) -> Program:
    return Program((sys.executable, "-I", "-c", code, *arguments), folder, {"X": "1"}, seconds)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A named pipe: who reads it sees when the last one who holds it is gone."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


async def test_both_outputs_come_back_with_the_code(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd(), sys.argv[1:], dict(os.environ).get('X'), flush=True)"
    code += "; print(repr(sys.stdin.read()), file=sys.stderr); sys.exit(3)"
    ran = await System().run(program(code, tmp_path, "$HOME; ls"))
    assert (ran.code, ran.tail, ran.n_left_out, ran.ended_for) == (3, b"", 0, "")
    assert ran.head.decode() == f"{tmp_path} ['$HOME; ls'] 1\n''\n"


async def test_nothing_but_what_is_given_is_in_the_environment(tmp_path: Path) -> None:
    ran = await System().run(program("import os; print(sorted(os.environ))", tmp_path))
    assert set(eval(ran.head)) - {"LC_CTYPE"} == {"X"}


async def test_of_a_long_output_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.write('first' + 'x' * 99990 + 'last!')"
    ran = await System().run(program(code, tmp_path))
    assert (len(ran.head), len(ran.tail), ran.n_left_out) == (
        HEAD_BYTES,
        HEAD_BYTES,
        100_000 - 2 * HEAD_BYTES,
    )
    assert (ran.head[:5], ran.tail[-5:]) == (b"first", b"last!")


async def test_an_output_that_fits_twice_is_whole(tmp_path: Path) -> None:
    text = "".join(f"{n:05}\n" for n in range(2 * HEAD_BYTES // 6))
    ran = await System().run(program(f"print({text!r}, end='')", tmp_path))
    assert (ran.head + ran.tail).decode() == text
    assert ran.n_left_out == 0


@pytest.mark.slow
async def test_timeout_ends_the_program(tmp_path: Path) -> None:
    code = "import time; print('begun', flush=True); time.sleep(60)"
    ran = await System().run(program(code, tmp_path, seconds=1.0))
    assert (ran.code, ran.ended_for) == (None, "time")
    assert ran.seconds < 30


async def test_endless_output_ends_the_program(tmp_path: Path) -> None:
    ran = await System().run(program("while True: print('x' * 10000)", tmp_path))
    assert (ran.code, ran.ended_for) == (None, "output")


async def test_children_end_with_the_program(tmp_path: Path, pipe: Path) -> None:
    left = program(LEAVES_ANOTHER, tmp_path, str(pipe))
    ran, held = await asyncio.gather(System().run(left), asyncio.to_thread(pipe.read_bytes))
    assert (ran.code, ran.head, held) == (0, b"b'begun\\n'\n", b"begun")
    assert ran.seconds < 30


async def test_cancel_ends_the_program(tmp_path: Path, pipe: Path) -> None:
    tasks = Tasks()
    running = tasks.spawn(System().run(program(HOLDS, tmp_path, str(pipe))), "it")
    with await asyncio.to_thread(pipe.open, "rb", 0) as reader:
        assert await asyncio.to_thread(reader.read, 5) == b"begun"
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await asyncio.to_thread(reader.read) == b""


async def test_missing_program_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await System().run(Program(("/no/such/program",), tmp_path, {}, 1.0))
    with pytest.raises(FileNotFoundError):
        await MemorySystem().run(Program(("ls",), tmp_path, {}, 1.0))


async def test_a_world_in_memory_runs_what_it_is_given() -> None:
    async def listing(given: Program) -> ProgramResult:
        return ProgramResult(0, repr(given.argv).encode())

    system = MemorySystem()
    system.programs["ls"] = listing
    ran = await system.run(Program(("ls", "-a"), Path("/ws"), {}, 1.0))
    assert ran == ProgramResult(0, b"('ls', '-a')")
