"""Runs of random operations, and how a failing one is cut down to what it needs."""

import random
from dataclasses import dataclass

from tests.soak.simulated_world import OPERATIONS, Op, SimulatedWorld

LENGTH = 60
"""Operations in one world, before a new one is made."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that ended in a violation.

    Attributes:
        seed: Of the world.
        ops: What it takes.
        message: What was violated.
    """

    seed: int
    ops: tuple[Op, ...]
    message: str

    def __str__(self) -> str:
        return f"seed {self.seed}, {len(self.ops)} operations {list(self.ops)}:\n{self.message}"


def soak(n_operations: int, seed: int) -> Failure | None:
    """Run worlds until so many operations are done; the first failure, cut down, or None."""
    for number in range(-(-n_operations // LENGTH)):
        world_seed = seed * 1_000_003 + number
        ops = plan(world_seed)
        if message := play(world_seed, ops):
            return cut_down(world_seed, ops, message)
    return None


def plan(seed: int) -> tuple[Op, ...]:
    """The operations of a world."""
    dice = random.Random(seed)
    names = dice.choices(list(OPERATIONS), weights=list(OPERATIONS.values()), k=LENGTH)
    return tuple((name, dice.randrange(1 << 30)) for name in names)


def play(seed: int, ops: tuple[Op, ...]) -> str:
    """Do the operations; what was violated, or nothing."""
    world = SimulatedWorld(seed)
    for op in ops:
        try:
            world.do(op)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is a finding
            return f"{op}: {type(error).__name__}: {error}"
    return ""


def cut_down(seed: int, ops: tuple[Op, ...], message: str) -> Failure:
    """Leave out operations as long as it still fails (Zeller's delta debugging, greedily)."""
    size = len(ops) // 2
    while size:
        at = 0
        while at < len(ops):
            fewer = ops[:at] + ops[at + size :]
            if found := play(seed, fewer):
                ops, message = fewer, found
            else:
                at += size
        size //= 2
    return Failure(seed, ops, message)
