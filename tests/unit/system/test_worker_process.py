"""A process that answers requests: it can be killed, it limits itself, and its death has an
answer.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import wait

import pytest

from stet.system.worker_process import WorkerEnded, WorkerProcess

SECONDS = 20.0
"""The most that a test waits for an answer."""


@pytest.fixture
def start() -> Iterator[Callable[[str], WorkerProcess]]:
    """A function that starts a process; it is ended after the test."""
    started: list[WorkerProcess] = []

    def start(function: str) -> WorkerProcess:
        started.append(WorkerProcess(function, memory=300_000_000))
        return started[-1]

    yield start
    for worker in started:
        worker.kill()


Start = Callable[[str], WorkerProcess]


def test_requests_are_answered_in_order(start: Start) -> None:
    worker = start("builtins:len")
    answers = [worker.submit("a" * n) for n in (3, 1_000_000, 0)]
    assert [answer.result(SECONDS) for answer in answers] == [3, 1_000_000, 0]
    assert not worker.has_ended


def test_none_means_that_the_process_runs(start: Start) -> None:
    assert start("builtins:len").submit(None).result(SECONDS) is None


def test_what_is_printed_is_no_answer(start: Start) -> None:
    worker = start("builtins:print")
    assert worker.submit("no pickle").result(SECONDS) is None
    assert worker.submit("nor this").result(SECONDS) is None


def test_large_requests_and_answers_do_not_wait_for_each_other(start: Start) -> None:
    worker = start("builtins:bytes")
    answers = [worker.submit(bytes(2_000_000)) for _ in range(4)]
    assert [len(answer.result(SECONDS)) for answer in answers] == [2_000_000] * 4


def test_a_busy_process_is_killed_at_once(start: Start) -> None:
    worker = start("time:sleep")
    worker.submit(None).result(SECONDS)
    answers = [worker.submit(60.0), worker.submit(60.0)]
    with pytest.raises(TimeoutError):
        answers[0].result(0.01)
    began = time.monotonic()
    worker.kill()
    for answer in answers:
        with pytest.raises(WorkerEnded):
            answer.result(SECONDS)
    assert time.monotonic() - began < 10
    assert worker.has_ended


@pytest.mark.parametrize(
    ("function", "request_"),
    [("builtins:len", 1), ("os:_exit", 0), ("stet.no_such_module:answer", ""), ("os:no_such", "")],
)
def test_a_process_that_ends_by_itself_answers_nothing(
    start: Start, function: str, request_: object
) -> None:
    worker = start(function)
    answers = [worker.submit(request_), worker.submit(None)]
    wait(answers, SECONDS)
    for answer in answers:
        with pytest.raises(WorkerEnded, match="it exited on its own"):
            answer.result(SECONDS)


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not limit address space")
def test_a_process_that_takes_too_much_memory_ends(start: Start) -> None:
    worker = start("builtins:bytearray")
    assert len(worker.submit(1_000_000).result(SECONDS)) == 1_000_000
    with pytest.raises(WorkerEnded):
        worker.submit(400_000_000).result(SECONDS)


def test_process_that_cannot_be_started_is_reported_with_a_reason(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no process left")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    worker = start("builtins:len")
    assert worker.has_ended
    with pytest.raises(WorkerEnded, match="no process left"):
        worker.submit("").result(SECONDS)
