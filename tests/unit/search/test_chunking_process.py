"""A second process cuts what the first would cut, and is done without where it dies."""

import os
import signal
import subprocess
from concurrent.futures import wait

import pytest

from stet.search.chunk import FileStamp, SourceFile
from stet.search.chunking_process import ChunkingProcess
from stet.search.search_engine import digest, make_entry


def sources(*names: str) -> list[SourceFile]:
    """Files of one function each."""
    texts = {name: f"def {name}(boat):\n    return boat\n" for name in names}
    return [
        SourceFile(
            f"file:///{name}.py", f"{name}.py", text, FileStamp(1.0, len(text), digest(text))
        )
        for name, text in texts.items()
    ]


def kill_process(cutter: ChunkingProcess) -> None:
    """End the process as something else on the machine would."""
    assert cutter._worker is not None
    assert cutter._worker._process is not None
    os.kill(cutter._worker._process.pid, signal.SIGKILL)


def test_batches_come_back_in_order_as_they_would_have_been_cut_here() -> None:
    cutter = ChunkingProcess()
    batches = [sources("moor", "land"), sources("sail"), sources(*(f"f{n}" for n in range(500)))]
    for batch in batches:
        cutter.send(batch)
    assert cutter.n_under_way == 3
    assert [cutter.receive() for _ in batches] == [
        [make_entry(source) for source in batch] for batch in batches
    ]
    assert (cutter.n_under_way, cutter.receive()) == (0, [])
    cutter.close()


def test_files_of_a_dead_process_are_chunked_here(caplog: pytest.LogCaptureFixture) -> None:
    cutter = ChunkingProcess()
    cutter.send(sources("moor"))
    cutter.receive()
    kill_process(cutter)
    cutter.send(sources("land"))
    cutter.send(sources("sail"))
    assert cutter.receive() == [make_entry(sources("land")[0])]
    assert cutter.receive() == [make_entry(sources("sail")[0])]
    assert "exited on its own" in caplog.text
    cutter.close()


def test_batches_after_a_crash_come_in_order_and_complete(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cutter = ChunkingProcess()
    cutter.send(sources("moor"))
    cutter.receive()
    kill_process(cutter)
    names = ["land", "sail", "row", "drift"]
    cutter.send(sources("land"))
    cutter.send(sources("sail"))
    received = [cutter.receive()]
    cutter.send(sources("row"))
    received.append(cutter.receive())
    cutter.send(sources("drift"))
    wait([answer for _, answer in cutter._under_way], timeout=10)
    assert cutter.has_done
    received += [cutter.receive(), cutter.receive()]
    assert received == [[make_entry(sources(name)[0])] for name in names]
    assert (cutter.n_under_way, cutter.has_done) == (0, False)
    assert caplog.text.count("exited on its own") == 1
    cutter.close()


def test_process_chunks_again_after_the_end_of_a_scan() -> None:
    cutter = ChunkingProcess()
    cutter.send(sources("moor"))
    kill_process(cutter)
    cutter.receive()
    cutter.close()
    cutter.send(sources("land"))
    assert cutter._worker is not None
    assert not cutter._worker.has_ended
    assert cutter.receive() == [make_entry(sources("land")[0])]
    cutter.close()


def test_close_drops_running_batches() -> None:
    cutter = ChunkingProcess()
    cutter.send(sources("moor"))
    cutter.close()
    assert (cutter.n_under_way, cutter.receive()) == (0, [])
    cutter.send(sources("land"))
    assert cutter.receive() == [make_entry(sources("land")[0])]
    cutter.close()


def test_files_are_cut_here_if_no_process_can_be_started(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no process left")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    cutter = ChunkingProcess()
    cutter.send(sources("moor"))
    cutter.send(sources("land"))
    wait([answer for _, answer in cutter._under_way], timeout=10)
    assert cutter.has_done
    assert [cutter.receive(), cutter.receive()] == [
        [make_entry(sources(name)[0])] for name in ("moor", "land")
    ]
    assert caplog.messages.count("no process cuts files: no process left") == 1
    cutter.close()
