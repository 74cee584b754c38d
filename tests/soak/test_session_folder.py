"""Random lives of a folder that a session of another agent changes by its view."""

from collections import Counter

import pytest

from stet.bridges.session_view import SessionView
from tests.soak.checks import Violation
from tests.soak.session_folder import SessionFolder

LENGTH = 15


def lives(seeds: range) -> Counter[str]:
    """Run the lives; return how often each operation was done.

    Raises:
        AssertionError: If a life fails; the message has its seed.
    """
    counts: Counter[str] = Counter()
    for seed in seeds:
        folder = SessionFolder(seed)
        try:
            for _ in range(LENGTH):
                folder.do_one()
            folder.accept_all()
        except Violation as violation:
            raise AssertionError(f"seed {seed}: {violation}") from violation
        counts += folder.counts
    return counts


@pytest.mark.parametrize(
    "seeds", [range(80), pytest.param(range(80, 2_000), marks=pytest.mark.long)]
)
def test_a_view_is_like_a_folder_and_the_disk_is_like_the_view_after_all_is_accepted(
    seeds: range,
) -> None:
    counts = lives(seeds)
    assert all(counts[what] > 20 for what in ("write", "create", "delete", "move")), counts


def test_a_move_that_loses_a_new_file_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    move = SessionView.move

    async def move_without_text(self: SessionView, uri: str, new_uri: str) -> object:
        await self.delete(uri)
        return await move(self, uri, new_uri)

    monkeypatch.setattr(SessionView, "move", move_without_text)
    with pytest.raises(AssertionError, match="seed "):
        lives(range(20))
