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
    "an accepted deletion beside an accepted line that reads like it, undone": (
        41011525,
        (
            ("propose", 795971200),
            ("propose", 419034862),
            ("propose", 634328707),
            ("accept_all", 316317005),
            ("type_near", 428237052),
            ("type", 746806058),
            ("propose", 881714633),
            ("accept", 207158466),
            ("undo_in_editor", 793762136),
        ),
    ),
    "hunks that touch, taken back together and one of them restored": (
        41008333,
        (
            ("restart", 628142691),
            ("propose", 1065311575),
            ("propose", 73272016),
            ("propose", 1037317511),
            ("propose", 873123662),
            ("type", 37090439),
            ("type", 692873892),
            ("type_near", 817221629),
            ("reject", 316704257),
            ("amend", 514770026),
            ("propose", 83217955),
            ("accept", 453731376),
            ("undo", 846462275),
            ("restore", 637890734),
        ),
    ),
    "lines left out at one edge of a hunk show more at the other": (
        41015750,
        (
            ("type", 1032410111),
            ("type", 769202859),
            ("propose", 466118276),
            ("type_near", 113790694),
            ("type", 784517898),
            ("propose", 999756665),
            ("type_near", 869509233),
            ("propose", 928078464),
            ("type_near", 363467573),
            ("undo_in_editor", 758807325),
            ("reopen", 786072973),
            ("type_near", 883206615),
            ("propose", 620422667),
            ("resolve", 246306653),
            ("undo_in_editor", 520555746),
            ("type_near", 849262970),
            ("type_near", 653975717),
            ("propose", 924563444),
            ("reopen", 830018384),
            ("type", 401983871),
            ("at_once", 716373573),
        ),
    ),
    "a line put in and one like it taken out in one message, both as they were before": (
        11444,
        (
            ("line_ends", 842725698),
            ("propose", 495194922),
            ("type", 920585502),
            ("propose", 202917247),
            ("type_near", 1073371149),
            ("accept", 1033127938),
            ("type_near", 770416175),
            ("propose", 700008115),
            ("type_near", 229147001),
            ("at_once", 839819289),
            ("propose", 439295117),
            ("at_once", 5324597),
        ),
    ),
    "a hunk taken over at the end of the text, and an empty line put behind it": (
        1005334,
        (
            ("propose", 583577157),
            ("propose", 922802291),
            ("propose", 884037849),
            ("type", 363585974),
            ("line_ends", 332346449),
            ("type_near", 585377077),
            ("reject", 906603129),
            ("type_near", 47211021),
            ("replace_all", 944720723),
            ("resolve", 859803447),
            ("type_near", 769233765),
            ("type_near", 526062519),
        ),
    ),
    "line ends made alike, with empty lines round a hunk": (
        41009519,
        (
            ("replace_all", 533364256),
            ("type", 539262858),
            ("restart", 585923392),
            ("replace_all", 298420172),
            ("type", 927624947),
            ("propose", 994462984),
            ("type_near", 712892804),
            ("propose", 873807613),
            ("type_near", 27392735),
            ("propose", 1049634795),
            ("reopen", 245407914),
            ("type", 590235934),
            ("replace_all", 390035695),
            ("propose", 500126348),
            ("accept", 669563085),
            ("replace_all", 812238690),
            ("propose", 255015814),
            ("type_near", 367953742),
            ("propose", 216695145),
            ("propose", 516073609),
            ("replace_all", 337053557),
            ("propose", 825214373),
            ("at_once", 516548696),
            ("undo_in_editor", 581681221),
            ("reopen", 643062640),
            ("type", 746750444),
            ("type_near", 831448739),
            ("line_ends", 132906360),
        ),
    ),
    "line ends made alike, with lines round a hunk that read alike then": (
        61001244,
        (
            ("propose", 995375814),
            ("at_once", 309627935),
            ("restart", 37091667),
            ("type", 100486494),
            ("type", 517374023),
            ("propose", 458856299),
            ("propose", 192245640),
            ("type", 240294183),
            ("propose", 362675223),
            ("type_near", 214040662),
            ("type", 417835069),
            ("at_once", 635457548),
            ("accept", 281696980),
            ("undo", 164478930),
            ("type", 822667481),
            ("propose", 182752953),
            ("propose", 402339194),
            ("type_near", 306605179),
            ("type_near", 931639633),
            ("type_near", 334343178),
            ("accept", 202641451),
            ("type_near", 281627094),
            ("accept", 287235980),
            ("type_near", 97476209),
            ("propose", 365259288),
            ("line_ends", 825223694),
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
