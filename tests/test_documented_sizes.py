"""The sizes that README.md names, compared with the packages that are installed here."""

import re
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from stet.llm.weights.catalog import CATALOG, SMALL

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TOLERANCE = 0.1
"""Versions and platforms differ."""


def packages(requirements: Iterable[str]) -> set[str]:
    """Return the names of the packages that these requirements install."""
    found: set[tuple[str, str]] = set()
    waiting = [(Requirement(text), "") for text in requirements]
    while waiting:
        requirement, _ = waiting.pop()
        name = requirement.name.lower().replace("_", "-")
        for extra in ("", *requirement.extras):
            if (name, extra) in found:
                continue
            found.add((name, extra))
            needed = map(Requirement, metadata.requires(name) or ())
            waiting += [
                (each, extra)
                for each in needed
                if each.marker is None or each.marker.evaluate({"extra": extra})
            ]
    return {name for name, _ in found}


def megabytes(names: Iterable[str]) -> float:
    """Return the size of the installed files of these packages."""
    paths = (Path(str(file.locate())) for name in names for file in metadata.files(name) or ())
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6


def documented(pattern: str) -> float:
    """Return the number of megabytes at the place of `N` in a sentence of README.md."""
    match = re.search(pattern.replace("N MB", r"(\d+) MB"), README)
    assert match, f"README.md does not say {pattern!r}"
    return float(match[1])


@pytest.mark.parametrize("extra", ["search", "web", "grammars"])
def test_documented_size_of_an_extra_is_the_installed_one(extra: str) -> None:
    base = packages(PROJECT["dependencies"])
    added = packages(PROJECT["optional-dependencies"][extra]) - base
    expected = pytest.approx(megabytes(added), rel=TOLERANCE)
    assert documented(rf"`{extra}` \([^)]*\+N MB\)") == expected


def test_documented_size_of_the_installation_is_the_installed_one() -> None:
    names = packages([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["local"]])
    own = sum(path.stat().st_size for path in (ROOT / "server").rglob("*.py")) / 1e6
    expected = pytest.approx(megabytes(names) + own, rel=TOLERANCE)
    assert documented(r"pip install '\.\[local\]'` \(N MB\)") == expected


def test_documented_size_of_the_model_is_that_of_its_file() -> None:
    expected = pytest.approx(SMALL.weights.size / 1e6, abs=0.5)
    assert documented(r"downloads the model \(N MB\)") == expected


def test_documented_table_of_local_models_is_the_catalog() -> None:
    text = (ROOT / "docs" / "local-models.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    table = {title.strip("` |"): cells for title, *cells in rows}
    assert table[CATALOG[0].size] == [f"`{CATALOG[1].size}`"]
    assert table["what it does"] == [one.purpose for one in CATALOG]
    assert table["licence"] == [one.licence for one in CATALOG]
    assert table["download"] == [f"{one.weights.size / 1e6:,.0f} MB" for one in CATALOG]
    assert table["memory"] == [f"{one.memory / 1e9:.1f} GB" for one in CATALOG]
    names = [cell.partition(",")[0] for cell in table["model"]]
    assert names == [one.weights.name for one in CATALOG]
    counts = [cells for title, cells in table.items() if "10" in title]
    for number, one in enumerate(CATALOG):
        scores = re.findall(r"(\d+) (?:docstring|bug|rewrite|sentence)", one.scores)
        assert scores == [cells[number] for cells in counts]
