"""Random schedules of late editors, typing users and restarts; `tests/soak/schedules.py` runs
more.
"""

import asyncio

import pytest

from tests.soak.schedules import CLIENTS, run_schedules

FIRST_SEED = 1000


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + len(CLIENTS)))
async def test_no_approval_is_lost_and_nothing_pending_is_denied(seed: int) -> None:
    # With and without restarts, concurrently: each waits for its user most of the time.
    both = (run_schedules(3, one, together=3) for one in (seed, seed + len(CLIENTS)))
    for figures in await asyncio.gather(*both):
        assert (figures.lost, figures.wrong_nothing) == ([], []), str(figures)
        assert figures.most_in_flight == 1
        assert figures.n_accepted == 6
