"""The table of results, with paired differences between Stet's agent and the others."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from tests.agent_eval.results import Conditions, Result

PAGE = Path(__file__).parents[2] / "docs" / "agent-quality.md"
BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->\n"
RESAMPLES = 10_000
LEVEL = 0.95
OURS = ("stet-agent", "stet-rewrite")
OTHERS = ("aider", "opencode")
ORDER = (*OURS, *OTHERS)
_HEADINGS = (
    "arm", "tasks", "solved", "bugs", "rewrites", "projects", "edit applied", "wrong file",
    "call shown", "ended", "rounds", "tokens in", "of them cached", "tokens out", "seconds",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference of a number between two arms, over the tasks that both have.

    Attributes:
        value: The mean of ours less the other's.
        low: The lower end of the bootstrap interval.
        high: The upper end.
    """

    value: float
    low: float
    high: float


def report(results: Iterable[Result]) -> str:
    """Return Markdown: for each half under the same conditions, the table and the differences."""
    latest = _latest(results)
    groups = dict.fromkeys((one.conditions, one.held_out) for one in latest)
    parts = []
    for conditions, is_held_out in groups:
        chosen = [
            one for one in latest if (one.conditions, one.held_out) == (conditions, is_held_out)
        ]
        half = "held-out tasks" if is_held_out else "tuning tasks"
        parts.append(f"### {conditions.model}, {half}")
        parts.append(_conditions(conditions))
        parts.append(_arms(chosen))
        if differences := _differences(chosen):
            parts.append(differences)
    return "\n\n".join(parts) if parts else "No results."


def difference(
    ours: Sequence[Result], others: Sequence[Result], number: Callable[[Result], float]
) -> Difference | None:
    """Return the paired difference of a number; None if no task is common to both.

    The interval is that of the bootstrap over tasks, with a fixed seed.
    """
    by_task = {one.task: number(one) for one in others}
    pairs = [number(one) - by_task[one.task] for one in ours if one.task in by_task]
    if not pairs:
        return None
    chance = random.Random(0)
    means = sorted(mean(chance.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    cut = int(RESAMPLES * (1 - LEVEL) / 2)
    return Difference(mean(pairs), means[cut], means[-1 - cut])


def write(results: Iterable[Result], page: Path = PAGE) -> None:
    """Replace the table of the page."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    text = f"{before}{BEGIN}\n{report(results)}\n\n{END}{after}"
    page.write_text(text, encoding="utf-8")


def _latest(results: Iterable[Result]) -> list[Result]:
    """Return the results of the version of each arm that was measured last.

    Results of several versions are never in one row, and those of other conditions never in one
    table.
    """
    found = list(results)
    versions = {_row_key(one): one.version for one in found}
    return [one for one in found if versions[_row_key(one)] == one.version]


def _row_key(of: Result) -> tuple[str, bool, Conditions]:
    return of.arm, of.held_out, of.conditions


def _conditions(of: Conditions) -> str:
    return (
        f"Model file sha256 `{of.sha256[:12]}`, context {of.context}, {of.threads} threads,"
        f" temperature 0, at most {of.limit} s a task."
    )


def _arms(results: Sequence[Result]) -> str:
    rows: list[Sequence[str]] = [_HEADINGS]
    for arm in ORDER:
        of_arm = [one for one in results if one.arm == arm]
        if of_arm:
            rows.append(_row(arm, of_arm))
    return _table(rows)


def _row(arm: str, results: Sequence[Result]) -> tuple[str, ...]:
    def count(holds: Callable[[Result], object]) -> str:
        return str(sum(bool(holds(one)) for one in results))

    def solved(kind: str) -> str:
        of_kind = [one for one in results if one.kind == kind]
        return f"{sum(one.solved for one in of_kind)} of {len(of_kind)}" if of_kind else "-"

    return (
        f"{arm} {results[0].version}",
        str(len(results)),
        count(lambda one: one.solved),
        *(solved(kind) for kind in ("bug", "rewrite", "project")),
        count(lambda one: one.applied),
        count(lambda one: one.wrong_files),
        "-" if arm == "aider" else count(lambda one: one.shows_call),
        count(lambda one: one.is_ended),
        f"{mean(one.rounds for one in results):.1f}",
        f"{mean(one.prompt_tokens for one in results):.0f}",
        f"{mean(one.cached_tokens for one in results):.0f}",
        f"{mean(one.completion_tokens for one in results):.0f}",
        f"{mean(one.seconds for one in results):.0f}",
    )


def _differences(results: Sequence[Result]) -> str:
    rows: list[Sequence[str]] = [("difference", "tasks", "solved, points", "tokens", "seconds")]
    for ours in OURS:
        for other in OTHERS:
            pairs = [[one for one in results if one.arm == arm] for arm in (ours, other)]
            shown = [
                difference(pairs[0], pairs[1], number)
                for number in (
                    lambda one: 100.0 * one.solved,
                    lambda one: float(one.tokens),
                    lambda one: one.seconds,
                )
            ]
            if shown[0] is not None:
                common = {one.task for one in pairs[0]} & {one.task for one in pairs[1]}
                cells = [_interval(one) for one in shown if one is not None]
                rows.append((f"{ours} - {other}", str(len(common)), *cells))
    return _table(rows) if len(rows) > 1 else ""


def _interval(of: Difference) -> str:
    return f"{of.value:+.0f} ({of.low:+.0f} to {of.high:+.0f})"


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *rest = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, f"|{' --- |' * len(rows[0])}", *rest])
