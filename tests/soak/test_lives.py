"""Random lives of a document: whatever comes in whatever order, nothing is lost or misplaced.

See `tests/soak`: a simulated user, agent, editor and disk round the real ledger. `make soak` runs a
million operations.
"""

import pytest

from tests.soak.run import cut_down, play, soak
from tests.soak.world import Op

BROKEN_ONCE = {
    "what stands as proposed already, typed in between two turns of all line ends": (
        1005020,
        (
            ("propose", 156294949),
            ("type_near", 660477742),
            ("accept", 1006630968),
            ("propose", 965484850),
            ("propose", 281584902),
            ("at_once", 785890187),
            ("propose", 210299458),
            ("reject", 294503710),
            ("resolve", 310706143),
            ("accept_all", 945365905),
            ("accept", 901187443),
            ("line_ends", 1043132624),
            ("type_near", 397912710),
            ("line_ends", 696872975),
            ("undo", 130230876),
        ),
    ),
    "a lost insertion is not back where as many lines come": (
        909003775,
        (
            ("type", 54570285),
            ("replace_all", 336446057),
            ("propose", 940487773),
            ("type", 667753600),
            ("propose", 970307864),
            ("type", 946599686),
            ("accept_all", 1018349399),
            ("type", 908572808),
            ("propose", 823947894),
            ("type", 300162027),
            ("propose", 352965944),
            ("type", 276195606),
            ("propose", 598610242),
            ("propose", 960024515),
            ("replace_all", 385499087),
            ("type", 374366214),
            ("propose", 1023601518),
            ("at_once", 573640004),
        ),
    ),
    "a gap behind the last line end, pushed and pulled": (
        44000315,
        (
            ("type", 880329148),
            ("propose", 167734204),
            ("type", 326821315),
            ("propose", 1038406388),
            ("propose", 932933127),
            ("propose", 452383453),
            ("accept_all", 335996659),
            ("type", 648502797),
            ("propose", 40337933),
            ("propose", 259857492),
            ("type_near", 1024561523),
            ("propose", 1036926871),
            ("reject", 942325378),
            ("propose", 105352912),
            ("type_near", 847270776),
            ("type", 858211744),
            ("type", 569757728),
            ("type_near", 1013663786),
            ("at_once", 518181473),
        ),
    ),
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_hundred_thousand_operations_in_any_order_break_nothing(seed: int) -> None:
    failure = soak(25_000, seed)
    assert failure is None, str(failure)


@pytest.mark.parametrize(("seed", "ops"), BROKEN_ONCE.values(), ids=BROKEN_ONCE)
def test_a_life_that_broke_a_hunk_once_breaks_none(seed: int, ops: tuple[Op, ...]) -> None:
    assert not play(seed, ops)


def test_a_failing_life_is_cut_down_to_what_it_needs() -> None:
    ops = (("type", 1), ("propose", 2), ("no_such_operation", 3), ("accept", 4), ("type", 5))
    message = play(7, ops)
    assert "no_such_operation" in message
    failure = cut_down(7, ops, message)
    assert (failure.seed, failure.ops) == (7, (("no_such_operation", 3),))
