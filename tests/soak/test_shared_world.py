"""Random lives of a document that two sessions of other agents edit at once."""

from collections import Counter
from collections.abc import Iterable

import pytest

from stet.review.proposal import Hunk
from stet.review.resolve.pending_view import PendingView
from stet.text.document import TextDocument
from tests.soak.run import plan, play, soak
from tests.soak.shared_world import SharedWorld

HAPPENS = (
    "written", "merged", "replaced", "decisions learned", "between",
    "refused: changed the same lines",
)  # fmt: skip
"""What happens in every run of a few thousand operations."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 3, 4))])
def test_two_agents_and_a_user_in_one_file_break_nothing(seed: int) -> None:
    counts: Counter[str] = Counter()
    failure = soak(4_000, seed, SharedWorld, counts)
    assert failure is None, str(failure)
    assert all(counts[what] > 20 for what in HAPPENS), counts
    assert not {what for what in counts if what.startswith("refused: ")} - {*HAPPENS}


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
