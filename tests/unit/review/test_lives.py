"""Random lives of a document: whatever comes in whatever order, nothing is lost or misplaced.

See `tests/soak`: a simulated user, agent, editor and disk round the real ledger. `make soak` runs a
million operations.
"""

import pytest

from tests.soak.run import cut_down, play, soak


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_hundred_thousand_operations_in_any_order_break_nothing(seed: int) -> None:
    failure = soak(25_000, seed)
    assert failure is None, str(failure)


def test_a_failing_life_is_cut_down_to_what_it_needs() -> None:
    ops = (("type", 1), ("propose", 2), ("no_such_operation", 3), ("accept", 4), ("type", 5))
    message = play(7, ops)
    assert "no_such_operation" in message
    failure = cut_down(7, ops, message)
    assert (failure.seed, failure.ops) == (7, (("no_such_operation", 3),))
