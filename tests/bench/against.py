"""The benchmarks of this tree and of another commit, run in turns, and what became worse.

Each commit is measured by its own benchmarks in its own process; rows are joined by what was measured.
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
"""How much worse a median may be, as a share, before a row counts as worse."""
_OURS = re.compile(r"(?P<value>-?[\d,.]+(?:e[+-]?\d+)?) (?P<unit>.*)")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row, measured several times in both trees.

    Attributes:
        what: What was measured.
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
        """How much worse this tree's median is, as a share of the other's; negative: better."""
        before, after = median(self.theirs), median(self.ours)
        if not before:
            return (
                0.0 if before == after else float("inf") * (1 if self._worse(before, after) else -1)
            )
        return (before - after if self.more_is_better else after - before) / abs(before)

    @property
    def is_worse(self) -> bool:
        """Whether the median is worse by more than `ALLOWED` and no two values of the trees overlap."""
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
        unit: Its unit.
        more_is_better: Whether a larger value is better.
    """

    value: float
    unit: str
    more_is_better: bool


def parse(output: str) -> dict[str, Measured]:
    """Return the rows of the printed tables by what was measured."""
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
        # The same row beside another peer is the same measurement of ours: the first counts.
        rows.setdefault(what, Measured(value, unit, more))
    return rows


def compare(
    theirs: Sequence[Mapping[str, Measured]], ours: Sequence[Mapping[str, Measured]]
) -> list[Comparison]:
    """Join the rows of several runs of both trees; a row that a run lacks is left out."""
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
    """Measure another commit and this tree in turns.

    Args:
        revision: The other commit, as git names it.
        names: The benchmarks; none: all of them.
        runs: How often each tree is measured.

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
    # A missed bar is no failure here: what counts is the difference.
    done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, text=True, check=False)
    if not (rows := parse(done.stdout)):
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout)
    return rows


@contextmanager
def _checkout(revision: str) -> Iterator[tuple[Path, Path]]:
    """Check a commit out into a folder of its own. Give it and a Python that imports its Stet.

    The environment has the same libraries as this one, so that only Stet differs.
    """
    with tempfile.TemporaryDirectory() as folder:
        tree, environment = Path(folder) / "tree", Path(folder) / "environment"
        _git("worktree", "add", "--detach", "--quiet", str(tree), revision)
        try:
            venv.create(environment, symlinks=True)
            packages = environment / Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
            site = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})"
            # The first line wins: this environment's own Stet comes after the commit's.
            (packages / "commit.pth").write_text(f"{tree / 'server'}\n{site}\n")
            yield tree, environment / "bin" / "python"
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*arguments: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    _ = subprocess.run(["git", *arguments], cwd=TREE, env=env, check=True)
