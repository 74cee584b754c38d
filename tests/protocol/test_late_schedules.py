"""Random schedules of late editors, typing users and restarts; `tests/soak/schedules.py` runs more."""

import pytest

from tests.soak.schedules import CLIENTS, run_schedules


@pytest.mark.parametrize("seed", range(2 * len(CLIENTS)))
async def test_no_approval_is_lost_and_nothing_pending_is_denied(seed: int) -> None:
    figures = await run_schedules(3, 1000 + seed, together=3)
    assert (figures.lost, figures.wrong_nothing) == ([], []), str(figures)
    assert figures.most_in_flight == 1
    assert figures.n_accepted == 6
