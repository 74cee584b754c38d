"""What may be written to the log."""

import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stet.observability.log_format import PrivateFormatter, anonymous_line, is_loggable
from tests.secret_forms.forms import halves
from tests.support.canaries import keys, private_key

LEVELS = [logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL]
TEXT = "the heron stood in the reeds"


@pytest.fixture(autouse=True)
def _level() -> Iterator[None]:
    ours = logging.getLogger("stet")
    before = ours.level
    ours.setLevel(logging.WARNING)
    yield
    ours.setLevel(before)


def record(level: int, message: str, *arguments: object, error: bool = False) -> logging.LogRecord:
    exc_info = sys.exc_info() if error else None
    return logging.LogRecord("stet.test", level, "", 0, message, arguments, exc_info)


def written(of: logging.LogRecord) -> str:
    return PrivateFormatter("%(levelname)s %(message)s").format(of)


def raised(work: Callable[[], object], level: int = logging.ERROR) -> logging.LogRecord:
    """What is logged when this fails."""
    try:
        work()
    except (OSError, RecursionError, ValueError):
        return record(level, "stet.ask failed", error=True)
    raise AssertionError("it did not fail")


def failed(message: str, level: int = logging.ERROR) -> logging.LogRecord:
    def work() -> None:
        try:
            os.environ[message]
        except KeyError as inner:
            raise ValueError(f"because of {message}") from inner

    return raised(work, level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", keys())
def test_record_holds_no_key_at_any_level(kind: str, level: int) -> None:
    key = keys()[kind]
    logging.getLogger("stet").setLevel(logging.DEBUG)  # messages of errors are logged at that level
    for one in (
        record(level, f"key = '{key}'"),
        record(level, "key = %r", key),
        failed(key, level),
    ):
        assert key not in written(one)


@pytest.mark.parametrize("level", LEVELS)
def test_record_holds_no_line_of_a_private_key(level: int) -> None:
    key = private_key()
    logged = written(record(level, "%s", key))
    assert not any(line in logged for line in key.splitlines()[1:-1])


def test_key_of_the_environment_is_redacted_even_if_it_is_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_GATEWAY_KEY", "correct-horse")
    assert written(record(logging.WARNING, "refused: %s", "Bearer correct-horse!")).endswith(
        "Bearer [redacted: from the environment]!"
    )


def test_message_of_an_error_is_logged_at_debug_only() -> None:
    one = failed(TEXT)
    logged = written(one)
    assert TEXT not in logged
    assert "ValueError" in logged
    assert "caused by" in logged
    assert "KeyError" in logged
    logging.getLogger("stet").setLevel(logging.DEBUG)
    assert f"ValueError: because of {TEXT}" in written(one)


def test_cached_exception_text_of_another_formatter_is_not_used() -> None:
    one = failed(TEXT)
    logging.Formatter("%(message)s").format(one)
    assert TEXT not in written(one)


def test_system_error_is_logged_by_number_without_the_file() -> None:
    logged = written(raised(lambda: Path("/nowhere/private-name").read_bytes()))
    assert logged.endswith("FileNotFoundError (ENOENT)")
    assert "private-name" not in logged


def test_endless_error_is_logged_in_few_lines() -> None:
    def deeper(n: int) -> None:
        deeper(n + 1)

    logged = written(raised(lambda: deeper(0)))
    assert len(logged.splitlines()) < 100
    assert "calls more" in logged


def test_libraries_are_logged_from_warnings_on() -> None:
    for name, level, is_logged in (
        ("openai", logging.DEBUG, False),
        ("httpx", logging.INFO, False),
        ("stetson", logging.INFO, False),
        ("stet.lsp", logging.DEBUG, True),
        ("openai", logging.WARNING, True),
    ):
        assert is_loggable(logging.makeLogRecord({"name": name, "levelno": level})) is is_logged


def test_anonymous_line_keeps_numbers_and_drops_other_arguments() -> None:
    assert anonymous_line(record(logging.WARNING, "%s: version %d", TEXT, 3)).endswith(
        ": ...: version 3"
    )
    assert anonymous_line(record(logging.WARNING, "%d", TEXT)).endswith(": %d")
    strange = logging.makeLogRecord({"name": "asyncio", "msg": TEXT, "levelname": "ERROR"})
    assert anonymous_line(strange) == "ERROR asyncio: ..."


def test_secrets_of_many_forms_are_left_out_of_a_record_at_every_level() -> None:
    _, held_out = halves()
    examples = [form.example(1) for form in held_out]
    for level in LEVELS:
        text = written(record(level, "%s", "\n".join(one.text for one in examples)))
        logged = [
            one.text[start:end]
            for one in examples
            for start, end in one.made
            if end - start >= 20 and one.text[start:end] in text
        ]
        assert len(logged) <= 0.02 * len(examples), logged
    netrc = "machine a.org\n  login me\n  password tr0ub4dor&3x\n"
    assert "tr0ub4dor" not in written(record(logging.INFO, "%s", netrc))


def test_no_secret_is_cut_in_two_by_the_end_of_a_record() -> None:
    key = keys()["Stripe key"]
    for n in range(1, len(key)):
        form = PrivateFormatter("%(message)s", most=100)
        assert key[: max(n, 12)] not in form.format(
            record(logging.INFO, "%s", "." * (99 - n) + " " + key)
        )
