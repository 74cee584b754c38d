"""`python -m tests.bench.edits [GIT_REPO ...] [--limit N] [--seed N] [--package NAME] [--show N]`.

Take hunks of the repositories' commits (or made-up edits of installed packages), distort each as
models and typing users do, apply it, and print the right, refused and WRONG results of each kind.
Exit with 1 if a bar is missed: 85 % right, 0.1 % wrong, all right while the user types elsewhere.

A conflict counts as right if the user typed into a line that the edit changes: the outcome is
ambiguous. A refusal by the policy counts as refused; a commit that writes the mark of a secret,
which no edit may write, does not count for typing elsewhere.
"""

import argparse
import importlib.util
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.edits_apply import WAYS, EditResult, touches_typing
from tests.bench.edits_draft import Draft, draft_of
from tests.bench.edits_kinds import KINDS
from tests.bench.edits_sources import Change, from_history, from_sources
from tests.bench.table import Row, at_least, at_most

PROJECT = Path(__file__).parents[2]
PACKAGES = ("rich", "pydantic")
MOST_WRONG = 0.001
LEAST_RIGHT = 0.85
ELSEWHERE = "typing elsewhere"
NEW_MARK = "privacy.redactSecrets"
"""The rule against writing a redaction mark that the file does not contain."""


@dataclass(slots=True)
class Tally:
    """The results of the edits.

    Attributes:
        ended: Edits by way, kind and result.
        marked: Refusals that were counted as right, by way and kind.
        barred: Refusals by the policy because of a written redaction mark, by kind.
        bad: The edits that were not right, for display: kind, result, reason and draft.
    """

    ended: Counter[tuple[str, str, EditResult]] = field(default_factory=Counter)
    marked: Counter[tuple[str, str]] = field(default_factory=Counter)
    barred: Counter[str] = field(default_factory=Counter)
    bad: list[tuple[str, str, EditResult, str, Draft]] = field(default_factory=list)

    def share(self, way: str, judged: EditResult, kind: str | None = None) -> float:
        """Return the share of the edits (of a kind) with a result, 0 to 1."""
        kinds = [kind] if kind else list(KINDS)
        n = sum(self.ended[way, one, judged] for one in kinds)
        return n / max(1, sum(self.ended[way, one, any_] for one in kinds for any_ in EditResult))

    @property
    def elsewhere(self) -> float:
        """Return the share of allowed edits that ended right during typing elsewhere, 0 to 1."""
        n = sum(self.ended["ours", ELSEWHERE, judged] for judged in EditResult)
        right = self.ended["ours", ELSEWHERE, EditResult.RIGHT]
        return right / max(1, n - self.barred[ELSEWHERE])

    @property
    def holds(self) -> bool:
        """Tell whether every bar is met."""
        return (
            self.share("ours", EditResult.RIGHT) >= LEAST_RIGHT
            and self.share("ours", EditResult.WRONG) <= MOST_WRONG
            and self.elsewhere == 1
        )


def tally(changes: Iterable[Change], seed: int) -> Tally:
    """Distort every change by every kind that applies, and apply the edit both ways."""
    result = Tally()
    for number, change in enumerate(changes):
        for kind, bend in KINDS.items():
            rng = random.Random(f"{seed} {number} {kind}")
            draft = draft_of(change, rng)
            if not bend(draft, rng):
                continue
            for way, apply in WAYS.items():
                judged, why = apply(draft)
                if way == "ours" and judged is not EditResult.RIGHT:
                    result.bad.append((change.origin, kind, judged, why, draft))
                if why == NEW_MARK:
                    result.barred[kind] += 1
                elif judged is EditResult.REFUSED and touches_typing(draft):
                    judged = EditResult.RIGHT
                    result.marked[way, kind] += 1
                result.ended[way, kind, judged] += 1
    return result


def table(result: Tally) -> str:
    """Format the results as a table."""
    lines = [
        f"{'kind':<26}{'n':>7}{'right':>9}{'marked':>9}{'refused':>9}{'WRONG':>9}"
        f"{'exact: right':>15}{'WRONG':>9}"
    ]
    for kind in (*KINDS, None):
        n = sum(
            result.ended["ours", one, v] for one in KINDS for v in EditResult if kind in {one, None}
        )
        marked = sum(result.marked["ours", one] for one in KINDS if kind in {one, None})
        shares = [result.share("ours", judged, kind) for judged in EditResult]
        peer = [result.share("exact", v, kind) for v in (EditResult.RIGHT, EditResult.WRONG)]
        cells = [f"{100 * one:.2f}%" for one in (shares[0], marked / max(1, n), *shares[1:], *peer)]
        lines.append(
            f"{kind or 'all':<26}{n:>7}{cells[0]:>9}{cells[1]:>9}{cells[2]:>9}{cells[3]:>9}"
            f"{cells[4]:>15}{cells[5]:>9}"
        )
    return "\n".join(lines)


def rows() -> Iterator[Row]:
    """Measure edits from this project's history and two installed packages."""
    rng = random.Random(1)
    sources = {"history": from_history(PROJECT, rng, 150)}
    sources |= {name: from_sources(folder_of(name), rng, 75) for name in PACKAGES}
    for name, changes in sources.items():
        result = tally(changes, 1)
        right, wrong = (100 * result.share("ours", v) for v in (EditResult.RIGHT, EditResult.WRONG))
        peer = 100 * result.share("exact", EditResult.RIGHT)
        elsewhere = 100 * result.elsewhere
        bad = 100 * result.share("exact", EditResult.WRONG)
        rule = "exact and unique"
        bars = at_least(100 * LEAST_RIGHT), at_least(95)
        yield Row(f"edits applied right, {name}", "%", right, peer, rule, *bars)
        bars = at_most(100 * MOST_WRONG), at_most(0.02)
        yield Row(f"edits applied wrong, {name}", "%", wrong, bad, rule, *bars)
        what = f"right, {ELSEWHERE}, {name}"
        yield Row(what, "%", elsewhere, must=at_least(100), in_detail=True)


def folder_of(package: str) -> Path:
    """Return the folder of an installed package's sources."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def main(argv: list[str]) -> int:
    """Measure the given repositories or packages; by default this project and two packages."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.edits")
    parser.add_argument("repos", nargs="*", type=Path, help="git repositories")
    parser.add_argument("--package", action="append", default=[], help="an installed package")
    parser.add_argument("--limit", type=int, default=300, help="changes from each source")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="print so many that were not right")
    wanted = parser.parse_args(argv)
    if not wanted.repos and not wanted.package:
        wanted.repos, wanted.package = [PROJECT], list(PACKAGES)
    holds = True
    for source in (*wanted.repos, *wanted.package):
        rng = random.Random(wanted.seed)
        changes = (
            from_history(source, rng, wanted.limit)
            if isinstance(source, Path)
            else from_sources(folder_of(source), rng, wanted.limit)
        )
        result = tally(changes, wanted.seed)
        sys.stdout.write(f"\n{source}, seed {wanted.seed}\n{table(result)}\n")
        worst = sorted(result.bad, key=lambda one: one[2] is not EditResult.WRONG)
        for origin, kind, judged, why, draft in worst[: wanted.show]:
            sys.stdout.write(
                f"\n--- {judged.value}, {kind}: {origin}, line {draft.first + 1}\n"
                f"old: {draft.old_text!r}\nnew: {draft.new_text!r}\n{why[:2_000]}\n"
            )
        holds = holds and result.holds
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
