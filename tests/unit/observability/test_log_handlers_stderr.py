import logging
import os
import threading

from stet.observability.log_handlers import StderrHandler


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


def test_unread_records_are_dropped_and_counted_without_waiting() -> None:
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
