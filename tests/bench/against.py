"""Compare the benchmarks of this tree and another commit, run alternately.

Each commit runs its own benchmarks in its own process; rows are matched by their `what`.
"""

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

TREE = Path(__file__).parents[2]
RUNS = 5
ALLOWED = 0.05
"""The share by which a median may be worse before a row counts as worse."""
_OURS = re.compile(r"(?P<value>-?[\d,.]+(?:e[+-]?\d+)?) (?P<unit>.*)")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row, measured several times in both trees.

    Attributes:
        what: The name of the row.
        unit: The unit of the values.
        more_is_better: Whether a larger value is better.
        theirs: The values of the other commit, in the order of the runs.
        ours: The values of this tree.
    """

    what: str
    unit: str
    more_is_better: bool
    theirs: tuple[float, ...]
    ours: tuple[float, ...]

    @property
    def change(self) -> float:
        """Return how much worse this tree's median is, as a share; negative: better."""
        before, after = median(self.theirs), median(self.ours)
        if not before:
            return (
                0.0 if before == after else float("inf") * (1 if self._worse(before, after) else -1)
            )
        return (before - after if self.more_is_better else after - before) / abs(before)

    @property
    def is_worse(self) -> bool:
        """Tell whether the median is worse by more than `ALLOWED` and no values overlap."""
        best_ours = max(self.ours) if self.more_is_better else min(self.ours)
        worst_theirs = min(self.theirs) if self.more_is_better else max(self.theirs)
        return self.change > ALLOWED and self._worse(worst_theirs, best_ours)

    def _worse(self, before: float, after: float) -> bool:
        return after < before if self.more_is_better else after > before


@dataclass(frozen=True, slots=True)
class Measured:
    """One cell of a printed table.

    Attributes:
        value: The number.
        unit: The unit of the number.
        more_is_better: Whether a larger value is better.
    """

    value: float
    unit: str
    more_is_better: bool


def parse(output: str) -> dict[str, Measured]:
    """Return the rows of the printed tables by their `what`."""
    rows: dict[str, Measured] = {}
    for line in output.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| ") or len(cells) != 6 or not (match := _OURS.fullmatch(cells[1])):
            continue
        what, _, _, _, must, aim = cells
        unit = match["unit"]
        bars = f"{must} {aim}"
        more = "≥" in bars or ("≤" not in bars and unit.endswith(("/s", "%")))
        value = float(match["value"].replace(",", ""))
        # Rows beside several peers repeat our measurement: keep the first.
        rows.setdefault(what, Measured(value, unit, more))
    return rows


def compare(
    theirs: Sequence[Mapping[str, Measured]], ours: Sequence[Mapping[str, Measured]]
) -> list[Comparison]:
    """Match the rows of several runs of both trees; skip a row that is missing in a run."""
    common = [what for what in ours[0] if all(what in run for run in (*theirs, *ours))]
    return [
        Comparison(
            what,
            ours[0][what].unit,
            ours[0][what].more_is_better,
            tuple(run[what].value for run in theirs),
            tuple(run[what].value for run in ours),
        )
        for what in common
    ]


def render(comparisons: Sequence[Comparison], revision: str) -> str:
    """Return a Markdown table: medians with the lowest and the highest value, and the change."""
    lines = [f"| what | {revision} | this tree | change | |", "| --- | --- | --- | --- | --- |"]
    for row in comparisons:
        before, after = (_spread(values, row.unit) for values in (row.theirs, row.ours))
        change = (
            f"{abs(row.change):.1%} {'worse' if row.change > 0 else 'better'}"
            if row.change
            else "-"
        )
        lines.append(
            f"| {row.what} | {before} | {after} | {change} | {'WORSE' if row.is_worse else ''} |"
        )
    return "\n".join(lines)


def _spread(values: Sequence[float], unit: str) -> str:
    return f"{median(values):,.4g} {unit} ({min(values):,.4g} to {max(values):,.4g})"


def against(revision: str, names: Sequence[str], runs: int = RUNS) -> list[Comparison]:
    """Measure another commit and this tree alternately.

    Args:
        revision: The other commit, as git names it.
        names: The benchmarks to run; empty for all.
        runs: The number of runs of each tree.

    Raises:
        subprocess.CalledProcessError: If the commit does not exist or a run prints no table.
    """
    theirs: list[dict[str, Measured]] = []
    ours: list[dict[str, Measured]] = []
    with _checkout(revision) as (tree, python):
        for number in range(runs):
            sys.stderr.write(f"run {number + 1} of {runs} ...\n")
            theirs.append(_measure(tree, python, names))
            ours.append(_measure(TREE, Path(sys.executable), names))
    return compare(theirs, ours)


def _measure(tree: Path, python: Path, names: Sequence[str]) -> dict[str, Measured]:
    command = [str(python), "-m", "tests.bench", *names]
    # A missed limit is no failure here: only the difference counts.
    done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, text=True, check=False)
    if not (rows := parse(done.stdout)):
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout)
    return rows


@contextmanager
def _checkout(revision: str) -> Iterator[tuple[Path, Path]]:
    """Check a commit out into a new folder; yield the folder and a Python that imports its Stet.

    The environment has the same libraries as this one, so that only Stet differs.
    """
    with tempfile.TemporaryDirectory() as folder:
        tree, environment = Path(folder) / "tree", Path(folder) / "environment"
        _git("worktree", "add", "--detach", "--quiet", str(tree), revision)
        try:
            venv.create(environment, symlinks=True)
            packages = environment / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
            site = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})"
            # The first line takes precedence: this environment's Stet comes after the commit's.
            (packages / "commit.pth").write_text(f"{tree / 'server'}\n{site}\n")
            yield tree, environment / "bin" / "python"
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*arguments: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    _ = subprocess.run(["git", *arguments], cwd=TREE, env=env, check=True)
