"""A person's hour, shortened: the server has no more memory at the end than at the start."""

import sys
from pathlib import Path

import pytest

from tests.soak.hour import live

# Enough turns that both stretches have each kind of decision and a branch switch.
WARM_UP, MINUTES, STROKES = 5, 7, 30


@pytest.mark.timeout(300)
@pytest.mark.skipif(sys.platform != "linux", reason="what a process holds is read from /proc")
async def test_a_person_at_work_makes_the_server_grow_in_nothing(tmp_path: Path) -> None:
    hour = await live(tmp_path, MINUTES, seed=3, warm_up=WARM_UP, strokes=STROKES)
    assert hour.faults() == []
    assert hour.did["turns"] == WARM_UP + MINUTES
    assert min(hour.did[what] for what in ("accepted", "rejected", "undone", "branches")) >= 1
