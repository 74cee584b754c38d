"""How long a round waits, and for what."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.llm.model import ModelUnavailable
from stet.llm.retry import AttemptFailure, RetryLoop, RetryMode, RetryPolicy, retry_after

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "Fri, 02 Jan 2026 03:05:05 GMT"}, 60),
        ({"retry-after": "Fri, 02 Jan 2026 03:05:05 -0000"}, 60),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:00 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@given(st.text())
def test_any_retry_after_is_read_without_an_error(value: str) -> None:
    found = retry_after({"retry-after": value, "retry-after-ms": value}, NOW)
    assert found is None or found >= 0


async def test_backoff_doubles_up_to_its_cap_and_is_jittered() -> None:
    asked: list[tuple[float, float]] = []

    def jitter(low: float, high: float) -> float:
        asked.append((low, high))
        return 0.0

    retries = RetryLoop(RetryPolicy(tries=6, base=1, cap=4), lambda: NOW, jitter)
    for _ in range(5):
        await retries.wait_or_raise(
            AttemptFailure(ModelUnavailable("Busy."), RetryMode.LATER), lambda _: None
        )
    assert asked == [(0, 1), (0, 2), (0, 4), (0, 4), (0, 4)]


async def test_a_long_wait_names_the_time_of_day() -> None:
    retries = RetryLoop(RetryPolicy(), lambda: NOW)
    with pytest.raises(
        ModelUnavailable, match=r"^Wait 61 s and try again at \d\d:\d\d:06: Busy\.$"
    ):
        await retries.wait_or_raise(
            AttemptFailure(ModelUnavailable("Busy."), RetryMode.LATER, retry_after=61),
            lambda _: None,
        )


@pytest.mark.parametrize(
    "value",
    [
        *("1e18", "1e300", "9" * 90, "9" * 9000),
        *("Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 -2359"),
        *("Mon, 01 Jan 0001 00:00:00 +2359", "Mon, 01 Jan 99999 00:00:00 GMT"),
        *("Mon, 32 Foo 2026 99:99:99 GMT", "Mon, 01 Jan 2026 00:00:00 +9999999999"),
    ],
    ids=lambda value: value[:40],
)
async def test_a_wait_of_any_length_ends_the_round_with_a_sentence(value: str) -> None:
    for name in ("retry-after", "retry-after-ms"):
        wait = retry_after({name: value}, NOW)
        retries = RetryLoop(RetryPolicy(), lambda: NOW, lambda _low, _high: 0.0)
        failure = AttemptFailure(ModelUnavailable("Busy."), RetryMode.LATER, retry_after=wait)
        if wait is None or wait <= RetryPolicy().longest_wait:
            assert wait is None or wait >= 0
            continue
        with pytest.raises(
            ModelUnavailable, match=r"^Try again on 20\d\d-\d\d-\d\d at \d\d:\d\d: Busy\.$"
        ):
            await retries.wait_or_raise(failure, lambda _: None)
