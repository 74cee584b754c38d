"""Lives one after the other until so many messages are sent, and how a failing one is cut down."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

from tests.fuzz.grammar import WORDS
from tests.fuzz.life import CLIENTS, Figures, Life, Op, plan, play

LENGTH = 8_000
"""Words of a life."""
MOST_GROWTH = 0.02
"""How much more memory may be in use at the end of a life than in its middle."""
CUT_SECONDS = 600.0
"""How long a failing life is cut down."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A life that ended in a violation.

    Attributes:
        seed: Of the life.
        ops: What it takes; some faults need luck as well, and are not cut down as far.
        violation: What must not be.
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
    """What came of many lives.

    Attributes:
        n_messages: Sent to servers.
        n_lives: How many servers there were.
        n_edits: Made in texts for them.
        failure: The first, cut down.
        figures: What the server of the last life took, at its quarters.
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
    """Live until so many messages are sent, or one life ends badly.

    Args:
        n_messages: How many, about.
        seed: Of the first life; the others follow.
        n_words: Of a life.
        broken: The piece that is taken out of every server.
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
    """One life in which memory is measured; growth in its second half is a failure too.

    Args:
        n_words: How many are planned.
        seed: Of the life.
        broken: The piece that is taken out of the server.
        words: Those of the plan that are said; the others are left out.
    """
    ops = tuple(op for op in plan(seed, n_words) if op[0] in words)
    life = asyncio.run(play(seed, ops, broken=broken, counts_memory=True))
    violation = life.violation or grown(life.figures)
    failure = Failure(seed, ops, violation) if violation else None
    return Result(life.n_messages, 1, life.n_edits, failure, life.figures)


def grown(figures: Sequence[Figures]) -> str:
    """What has grown too much between the middle of a life and its end; empty: nothing."""
    middle, end = figures[len(figures) // 2 - 1], figures[-1]
    growth = end.in_use / middle.in_use - 1
    if growth > MOST_GROWTH:
        return "\n".join((f"{growth:.1%} more memory in use than in the middle", *table(figures)))
    if end.descriptors > middle.descriptors + 3:
        return f"{end.descriptors} descriptors are open, not {middle.descriptors} as in the middle"
    return ""


def table(figures: Sequence[Figures]) -> Iterator[str]:
    """One line for each time of measuring."""
    for one in figures:
        yield (
            f"behind {one.n_messages:,} messages: {one.in_use / 1e6:.1f} MB in use, "
            f"{one.resident / 1e6:.1f} MB resident, {one.descriptors} descriptors"
        )


def cut_down(seed: int, ops: tuple[Op, ...], violation: str, broken: str = "") -> Failure:
    """Leave out words as long as it still fails (Zeller's delta debugging, greedily)."""

    def fails(fewer: tuple[Op, ...]) -> str:
        return _lived(seed, fewer, broken).violation

    ops, violation = cut_down_by(fails, ops, violation)
    return Failure(seed, ops, violation)


def cut_down_by(
    fails: Callable[[tuple[Op, ...]], str], ops: tuple[Op, ...], violation: str
) -> tuple[tuple[Op, ...], str]:
    """The same, by what `fails` says of fewer words: a violation, or nothing."""
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
