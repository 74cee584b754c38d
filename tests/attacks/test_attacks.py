"""No attack has a forbidden effect, and each class detects its weakness."""

from pathlib import Path

import pytest

from tests.attacks.registry import AttackClass, Result
from tests.attacks.table import ALL, N_CLASSES, played, rows
from tests.attacks.turning import changed, turned
from tests.conftest import Part

SEED = 1
AT_ALL = 1_000
"""The minimum number of cases."""


def named(kind: AttackClass) -> str:
    return f"{kind.number} {kind.name}"


def test_every_published_class_has_its_cases_and_all_together_are_a_thousand() -> None:
    assert [kind.number for kind in ALL] == list(range(1, N_CLASSES + 1))
    assert min(kind.least for kind in ALL) >= 20
    assert sum(kind.least for kind in ALL) >= AT_ALL


@pytest.mark.parametrize("kind", ALL, ids=named)
def test_no_attack_of_a_class_has_an_effect(kind: AttackClass, tmp_path: Path, part: Part) -> None:
    part(kind.needs)
    result = played(kind, tmp_path, SEED)
    assert result.effects == []
    assert result.n_cases >= kind.least
    assert result.n_whole >= 5


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "weakness"),
    [
        pytest.param(kind, weakness, id=f"{named(kind)}: {weakness}")
        for kind in ALL
        for weakness in kind.weaknesses
    ],
)
def test_each_class_notices_a_weakened_policy(
    kind: AttackClass, weakness: str, tmp_path: Path, part: Part
) -> None:
    part(kind.needs)
    assert played(kind, tmp_path, SEED, weakness=weakness).effects != []


def test_table_has_the_cases_and_effects() -> None:
    table = rows({4: Result(75, 70, []), 29: Result(28, 28, ["process: ['git']"])})
    assert table.splitlines() == [
        "class                                         cases  protocol  effects",
        " 4 approval by its own write                     75        70        0",
        "29 git                                           28        28        1"
        "  (Stet runs no git: each case shows that nothing happens)",
        "   all                                          103        98        1",
    ]


def test_link_that_changes_all_the_time_is_never_followed(tmp_path: Path) -> None:
    read = turned(tmp_path.resolve(), 1_500)
    assert sum(read.values()) == 1_500
    assert "outside/a.md" not in read
    assert read["ws/folder/a.md"] > 0


def test_folder_swapped_for_a_link_all_the_time_changes_nothing_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    done = changed(tmp_path.resolve(), 4_000)
    assert done["outside"] == 0
    assert done["changed"] > 0
