"""Random lives of a document that two sessions of other agents edit at once."""

from collections import Counter
from collections.abc import Iterable

import pytest

from stet.review.proposal import Hunk
from stet.review.resolve.pending_view import PendingView
from stet.text.document import TextDocument
from tests.soak.run import plan, play, soak
from tests.soak.shared_world import SharedWorld
from tests.soak.simulated_world import Op

REFUSALS = {"refused: changed the same lines"}
HAPPENS = ("written", "merged", "replaced", "decisions learned", "between", "in conflict")
"""What happens in every run of a few thousand operations."""

_CONFLICTS: tuple[Op, ...] = (
    ("write_by_session", 344866139),
    ("write_by_session", 243834317),
    ("write_by_session", 501048498),
    ("undo_in_editor", 907655702),
    ("restart", 410630852),
    ("type", 980786828),
    ("replace_all", 688131949),
    ("write_by_session", 555060121),
    ("write_by_session", 148384340),
    ("write_by_session", 427507376),
    ("write_by_session", 740790253),
    ("type_near", 954802085),
    ("write_by_both", 487125758),
    ("write_by_session", 672213330),
    ("begin_turn_of_session", 713449202),
    ("type_near", 423413518),
    ("propose", 369220726),
    ("reject", 70719133),
    ("type_near", 902005376),
    ("propose", 304425631),
    ("write_by_session", 1038401822),
    ("move_lines", 192950402),
    ("write_by_session", 390674650),
    ("reject_with_reason", 63362436),
    ("move_lines", 9907633),
    ("accept", 268276091),
    ("write_by_both", 419355137),
    ("type_near", 851376738),
    ("type", 338028689),
)
"""Two agents and the user change the same lines; two of the lives below begin so."""
BROKEN_ONCE: dict[str, tuple[int, tuple[Op, ...]]] = {
    "a joined line was split between two conflicts": (
        1004262,
        (
            ("write_by_session", 418707248),
            ("write_by_session", 537127563),
            ("type_near", 154145985),
            ("type", 711200460),
            ("write_by_session", 637560352),
            ("type_near", 553862171),
            ("write_by_both", 590061441),
            ("type", 721745750),
        ),
    ),
    "a late edit without effect": (
        1004219,
        (
            *_CONFLICTS,
            ("accept", 1011636513),
            ("at_once", 596996816),
        ),
    ),
    "nested hunks were undone around a hunk": (
        1004219,
        (
            *_CONFLICTS,
            ("accept", 592051967),
            ("accept", 1011636513),
            ("undo", 167741724),
        ),
    ),
    "a line end was undone by a change of other lines": (
        1007429,
        (
            ("type", 329357156),
            ("write_by_session", 874546724),
            ("type", 828566573),
            ("move_lines", 613627145),
            ("write_by_both", 866527057),
            ("write_by_session", 435278505),
            ("reject_with_reason", 321457843),
            ("write_by_session", 186340981),
            ("accept", 765919872),
            ("write_by_session", 933042907),
            ("write_by_session", 472250337),
            ("type", 943192612),
            ("type_near", 315267505),
            ("write_by_both", 744571472),
            ("write_by_session", 881579294),
            ("accept", 573658129),
            ("type_near", 55455566),
            ("propose", 96258684),
            ("move_lines", 807855321),
            ("write_by_session", 565048566),
            ("type_near", 27873064),
            ("undo_in_editor", 1047745356),
            ("write_by_both", 165141278),
            ("write_by_session", 524478936),
            ("accept", 529000297),
            ("write_by_session", 646928960),
            ("write_by_session", 219396216),
            ("reopen", 769636837),
            ("type", 1058186797),
            ("accept", 670256895),
            ("type_and_undo", 629127444),
            ("type_and_undo", 31517753),
        ),
    ),
    "a hunk was joined with the last line": (
        1008727,
        (
            ("write_by_session", 214833051),
            ("type_near", 889747370),
            ("write_by_session", 385674352),
            ("type_near", 733822214),
            ("write_by_session", 1060973639),
            ("write_by_session", 940759044),
            ("type_near", 552137335),
        ),
    ),
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 3, 4))])
def test_two_agents_and_a_user_in_one_file_break_nothing(seed: int) -> None:
    counts: Counter[str] = Counter()
    failure = soak(4_000, seed, SharedWorld, counts)
    assert failure is None, str(failure)
    assert all(counts[what] > 20 for what in HAPPENS), counts
    assert not {what for what in counts if what.startswith("refused: ")} - REFUSALS


@pytest.mark.parametrize(("seed", "ops"), BROKEN_ONCE.values(), ids=BROKEN_ONCE)
def test_operations_that_broke_a_hunk_once_break_none(seed: int, ops: tuple[Op, ...]) -> None:
    assert not play(seed, ops, SharedWorld)


def test_a_session_that_sees_the_hunks_of_another_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build = PendingView.build

    def build_of_all(live: TextDocument, hunks: Iterable[Hunk], chat: str) -> PendingView:
        hunks = list(hunks)
        others = [one.chat for one in hunks if one.chat]
        return build(live, hunks, others[0] if others else chat)

    monkeypatch.setattr(PendingView, "build", build_of_all)
    found = play(1, plan(1, SharedWorld), SharedWorld)
    assert "Violation: " in found
    assert " sees " in found
