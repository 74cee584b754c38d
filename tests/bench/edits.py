"""`python -m tests.bench.edits [GIT_REPO ...] [--limit N] [--seed N] [--package NAME] [--show N]`.

Takes hunks of the repositories' commits (or of made-up edits of installed packages), bends each as
models and typing users do, applies it, and prints who ended right, refused or WRONG, kind by kind.
Exits with 1 if a bar is missed: 85 % right, 0.1 % wrong, all right where the user types elsewhere.

A conflict counts as right where the user typed into a line that the edit changes: there, nobody
could know better. What the policy refuses counts as refused; a commit that writes the mark of a secret,
which no edit may, says nothing of typing elsewhere.
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
"""The rule against writing a mark that the file does not hold."""


@dataclass(slots=True)
class Tally:
    """How the edits ended.

    Attributes:
        ended: How many, by way, kind and verdict.
        marked: How many refusals were counted as right, by way and kind.
        barred: How many the policy refused for a mark that they would have written, by kind.
        bad: What was not right, for people: kind, verdict, why, and the draft.
    """

    ended: Counter[tuple[str, str, EditResult]] = field(default_factory=Counter)
    marked: Counter[tuple[str, str]] = field(default_factory=Counter)
    barred: Counter[str] = field(default_factory=Counter)
    bad: list[tuple[str, str, EditResult, str, Draft]] = field(default_factory=list)

    def share(self, way: str, judged: EditResult, kind: str | None = None) -> float:
        """Which part of the edits (of a kind) ended so, 0 to 1."""
        kinds = [kind] if kind else list(KINDS)
        n = sum(self.ended[way, one, judged] for one in kinds)
        return n / max(1, sum(self.ended[way, one, any_] for one in kinds for any_ in EditResult))

    @property
    def elsewhere(self) -> float:
        """Which part ended right while the user typed elsewhere, 0 to 1, of those that may be made."""
        n = sum(self.ended["ours", ELSEWHERE, judged] for judged in EditResult)
        right = self.ended["ours", ELSEWHERE, EditResult.RIGHT]
        return right / max(1, n - self.barred[ELSEWHERE])

    @property
    def holds(self) -> bool:
        """Whether every bar is cleared."""
        return (
            self.share("ours", EditResult.RIGHT) >= LEAST_RIGHT
            and self.share("ours", EditResult.WRONG) <= MOST_WRONG
            and self.elsewhere == 1
        )


def tally(changes: Iterable[Change], seed: int) -> Tally:
    """Bend every change by every kind that has a hold on it, and apply it both ways."""
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
    """The table for people."""
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
    """Edits from this project's history and two installed packages."""
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
    """Where an installed package's sources are."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def main(argv: list[str]) -> int:
    """Measure what the command line names; this project and two packages if nothing."""
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
