import logging
import os
import sys
import threading

from stet.lsp.logs import StderrHandler
from tests.support.canaries import keys


def record(text: str) -> logging.LogRecord:
    return logging.LogRecord("test", logging.WARNING, "", 0, text, (), None)


def test_records_are_written_as_they_come() -> None:
    reading, writing = os.pipe()
    try:
        StderrHandler(writing).handle(record("one"))
        assert os.read(reading, 100) == b"one\n"
    finally:
        os.close(reading)
        os.close(writing)


def test_no_secret_stands_in_a_record_or_in_the_error_behind_it() -> None:
    key, other = keys()["GitHub token"], keys(2)["AWS key"]
    reading, writing = os.pipe()
    try:
        try:
            raise ValueError(f"no such thing: {other}")  # noqa: TRY301 - as a library does
        except ValueError:
            failed = record(f"token is '{key}'")
            failed.exc_info = sys.exc_info()
        StderrHandler(writing).handle(failed)
        written = os.read(reading, 10_000).decode()
    finally:
        os.close(reading)
        os.close(writing)
    assert written.startswith("token is '[redacted: GitHub token]'\n")
    assert written.endswith("ValueError: no such thing: [redacted: AWS key]\n")
    assert key not in written
    assert other not in written.partition("ValueError")[2]


def test_what_nobody_reads_is_dropped_and_counted_and_never_waits() -> None:
    reading, writing = os.pipe()
    handler = StderrHandler(writing)
    done = threading.Event()

    def flood() -> None:
        for _ in range(1000):
            handler.handle(record("x" * 999))
        done.set()

    try:
        threading.Thread(target=flood, daemon=True).start()
        assert done.wait(20)
        n_read = len(os.read(reading, 10_000_000))
        handler.handle(record("again"))
        n_lost = 1000 - n_read // 1000
        assert os.read(reading, 1000).decode() == (
            f"({n_lost} log lines dropped: stderr was not read)\nagain\n"
        )
    finally:
        os.close(reading)
        os.close(writing)


def test_a_closed_stderr_is_survived() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    os.close(writing)
    StderrHandler(writing).handle(record("nobody"))
