"""Run lives until a number of messages is sent, and minimize a failing life."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

from tests.fuzz.grammar import WORDS
from tests.fuzz.life import CLIENTS, Figures, Life, Op, plan, play

LENGTH = 8_000
"""The number of words of a life."""
MOST_GROWTH = 0.02
"""The share by which memory may grow between the middle and the end of a life."""
CUT_SECONDS = 600.0
"""Seconds for minimizing a failing life."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A life that ended in a violation.

    Attributes:
        seed: The seed of the life.
        ops: The minimized words; some faults need luck as well, and are reduced less.
        violation: The violation.
    """

    seed: int
    ops: tuple[Op, ...]
    violation: str

    def __str__(self) -> str:
        editor = CLIENTS[self.seed % len(CLIENTS)]
        shown = list(self.ops[:60])
        return (
            f"seed {self.seed} ({editor}), {len(self.ops)} words {shown}:\n{self.violation}\n"
            f"Again: python -m tests.fuzz 1 {self.seed}"
        )


@dataclass(slots=True)
class Result:
    """The results of many lives.

    Attributes:
        n_messages: The number of messages sent to servers.
        n_lives: The number of servers.
        n_edits: The number of edits made in texts for the servers.
        failure: The first failure, minimized.
        figures: The usage of the last life's server at its quarters.
    """

    n_messages: int = 0
    n_lives: int = 0
    n_edits: int = 0
    failure: Failure | None = None
    figures: list[Figures] = field(default_factory=list)

    def __str__(self) -> str:
        if self.failure is not None:
            return str(self.failure)
        reported = f"{self.n_messages:,} messages in {self.n_lives} lives, {self.n_edits:,} edits, 0 violations"
        return "\n".join((reported, *table(self.figures)))


def fuzz(n_messages: int, seed: int, *, n_words: int = LENGTH, broken: str = "") -> Result:
    """Run lives until `n_messages` are sent, or one life fails.

    Args:
        n_messages: The approximate number of messages.
        seed: The seed of the first life; the next lives count up.
        n_words: The number of words of a life.
        broken: The name of the piece to remove from every server.
    """
    result = Result()
    while result.n_messages < n_messages:
        life_seed = seed + result.n_lives
        ops = plan(life_seed, n_words)
        life = _lived(life_seed, ops, broken)
        result.n_messages += life.n_messages
        result.n_edits += life.n_edits
        result.n_lives += 1
        if life.violation:
            result.failure = cut_down(life_seed, ops, life.violation, broken)
            break
    return result


def measured(
    n_words: int, seed: int, *, broken: str = "", words: Collection[str] = WORDS
) -> Result:
    """Run one life with memory measurements; growth in its second half is a failure too.

    Args:
        n_words: The number of planned words.
        seed: The seed of the life.
        broken: The name of the piece to remove from the server.
        words: The words of the plan to send; the others are left out.
    """
    ops = tuple(op for op in plan(seed, n_words) if op[0] in words)
    life = asyncio.run(play(seed, ops, broken=broken, counts_memory=True))
    violation = life.violation or grown(life.figures)
    failure = Failure(seed, ops, violation) if violation else None
    return Result(life.n_messages, 1, life.n_edits, failure, life.figures)


def grown(figures: Sequence[Figures]) -> str:
    """Describe excessive growth between the middle of a life and its end; empty for none."""
    middle, end = figures[len(figures) // 2 - 1], figures[-1]
    growth = end.in_use / middle.in_use - 1
    if growth > MOST_GROWTH:
        return "\n".join((f"{growth:.1%} more memory in use than in the middle", *table(figures)))
    if end.descriptors > middle.descriptors + 3:
        return f"{end.descriptors} descriptors are open, not {middle.descriptors} as in the middle"
    return ""


def table(figures: Sequence[Figures]) -> Iterator[str]:
    """Yield one line for each measurement."""
    for one in figures:
        yield (
            f"behind {one.n_messages:,} messages: {one.in_use / 1e6:.1f} MB in use, "
            f"{one.resident / 1e6:.1f} MB resident, {one.descriptors} descriptors"
        )


def cut_down(seed: int, ops: tuple[Op, ...], violation: str, broken: str = "") -> Failure:
    """Leave out words as long as the life fails (Zeller's delta debugging, greedily)."""

    def fails(fewer: tuple[Op, ...]) -> str:
        return _lived(seed, fewer, broken).violation

    ops, violation = cut_down_by(fails, ops, violation)
    return Failure(seed, ops, violation)


def cut_down_by(
    fails: Callable[[tuple[Op, ...]], str], ops: tuple[Op, ...], violation: str
) -> tuple[tuple[Op, ...], str]:
    """Minimize with `fails`, which returns the violation of fewer words, or an empty string."""
    until = monotonic() + CUT_SECONDS
    size = len(ops) // 2
    while size:
        at = 0
        while at < len(ops) and monotonic() < until:
            fewer = ops[:at] + ops[at + size :]
            if found := fails(fewer):
                ops, violation = fewer, found
            else:
                at += size
        size //= 2
    return ops, violation


def _lived(seed: int, ops: Sequence[Op], broken: str) -> Life:
    return asyncio.run(play(seed, ops, broken=broken))
