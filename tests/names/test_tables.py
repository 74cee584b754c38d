"""The tables are what they say: names with their sources, each once, in two halves."""

import unicodedata

import pytest

from tests.names.tables import (
    Entry,
    protected,
    protected_later,
    secrets,
    secrets_later,
    touched,
)


@pytest.mark.parametrize(
    ("entries", "least"), [(protected(), 400), (secrets(), 200)], ids=["protected", "secrets"]
)
def test_a_table_has_its_names_once_with_their_sources_in_two_halves(
    entries: list[Entry], least: int
) -> None:
    names = [one.name for one in entries]
    assert len(names) >= least
    assert len(set(names)) == len(names)
    assert [name for name in names if not _is_plain(name)] == []
    assert [one for one in entries if not (one.group and one.program)] == []
    assert [one for one in entries if not one.source.startswith(("https://", "http://"))] == []
    held_out = sum(one.is_held_out for one in entries)
    assert 0.4 < held_out / len(names) < 0.6


@pytest.mark.parametrize(
    ("later", "before", "least"),
    [
        (protected_later(2), protected(), 50),
        (protected_later(3), [*protected(), *protected_later(2)], 35),
        (secrets_later(2), secrets(), 80),
        (secrets_later(3), [*secrets(), *secrets_later(2)], 60),
    ],
    ids=["protected 2", "protected 3", "secrets 2", "secrets 3"],
)
def test_what_was_listed_later_is_in_no_table_before(
    later: list[Entry], before: list[Entry], least: int
) -> None:
    names = {one.name for one in later}
    assert len(later) == len(names) >= least
    assert not names & {one.name for one in before}
    assert all(one.group and one.program and "://" in one.source for one in later)


def test_the_ordinary_edits_are_of_two_hundred_packages() -> None:
    rows = touched()
    assert len({one.package for one in rows}) == 200
    assert len(set(rows)) == len(rows)
    assert [one for one in rows if not _is_plain(one.name) or not one.version] == []


def _is_plain(name: str) -> bool:
    """Whether a name is relative, without empty parts, and of visible characters."""
    return (
        bool(name)
        and not {"", ".", ".."} & set(name.split("/"))
        and all(unicodedata.category(letter)[0] not in "CZ" or letter == " " for letter in name)
    )
