"""Runs of random operations, and minimization of a failing run."""

import random
from collections import Counter
from dataclasses import dataclass

from tests.soak.simulated_world import Op, SimulatedWorld

LENGTH = 60
"""The number of operations in one simulated workspace."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that ended in a violation.

    Attributes:
        seed: The seed of the simulation.
        ops: The minimized operations.
        message: The violation's message.
    """

    seed: int
    ops: tuple[Op, ...]
    message: str

    def __str__(self) -> str:
        return f"seed {self.seed}, {len(self.ops)} operations {list(self.ops)}:\n{self.message}"


def soak(
    n_operations: int,
    seed: int,
    world: type[SimulatedWorld] = SimulatedWorld,
    counts: Counter[str] | None = None,
) -> Failure | None:
    """Run simulations of `n_operations` in total; return the first failure, minimized, or None.

    Args:
        n_operations: The number of operations.
        seed: The seed of all simulations.
        world: What is simulated.
        counts: Gets how often something has happened in the simulations.
    """
    for number in range(-(-n_operations // LENGTH)):
        world_seed = seed * 1_000_003 + number
        ops = plan(world_seed, world)
        if message := play(world_seed, ops, world, counts):
            return cut_down(world_seed, ops, message, world)
    return None


def plan(seed: int, world: type[SimulatedWorld] = SimulatedWorld) -> tuple[Op, ...]:
    """Plan the operations of a simulation."""
    dice = random.Random(seed)
    weights = world.operations
    names = dice.choices(list(weights), weights=list(weights.values()), k=LENGTH)
    return tuple((name, dice.randrange(1 << 30)) for name in names)


def play(
    seed: int,
    ops: tuple[Op, ...],
    world: type[SimulatedWorld] = SimulatedWorld,
    counts: Counter[str] | None = None,
) -> str:
    """Run the operations; return the violation's message, or an empty string."""
    simulated = world(seed)
    for op in ops:
        try:
            simulated.do(op)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is a finding
            return f"{op}: {type(error).__name__}: {error}"
    if counts is not None:
        counts.update(simulated.counts)
    return ""


def cut_down(
    seed: int, ops: tuple[Op, ...], message: str, world: type[SimulatedWorld] = SimulatedWorld
) -> Failure:
    """Leave out operations as long as the run fails (Zeller's delta debugging, greedily)."""
    size = len(ops) // 2
    while size:
        at = 0
        while at < len(ops):
            fewer = ops[:at] + ops[at + size :]
            if found := play(seed, fewer, world):
                ops, message = fewer, found
            else:
                at += size
        size //= 2
    return Failure(seed, ops, message)
