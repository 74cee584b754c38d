"""All attack classes, and a run of one class in its own folder."""

import asyncio
from pathlib import Path
from random import Random

from tests.attacks import (
    bounds,
    chat_agents,
    hook_calls,
    ide_clients,
    isolated_programs,
    keeping,
    mcp_clients,
    names,
    network,
    reading,
    running,
    servers,
    showing,
    words,
)
from tests.attacks.registry import CLASSES, AttackClass, Result
from tests.attacks.stage import Stage

__all__ = ["ALL", "N_CLASSES", "played", "rows"]

N_CLASSES = 41
ALL: list[AttackClass] = [CLASSES[number] for number in sorted(CLASSES)]
_MODULES = (
    bounds, chat_agents, hook_calls, ide_clients, isolated_programs, keeping, mcp_clients, names,
    network, reading, running, servers, showing, words,
)  # fmt: skip
"""Modules whose import registers the classes."""


def played(kind: AttackClass, folder: Path, seed: int, *, weakness: str = "") -> Result:
    """Run a class in an empty folder; with a weakened rule, only some of its cases."""
    stage = Stage(folder, Random(seed + kind.number), weakness=weakness, few=bool(weakness))
    return asyncio.run(kind.play(stage))


def rows(results: dict[int, Result]) -> str:
    """Format the table: each class with its cases, the cases run through the protocol, and the
    effects.
    """
    lines = [f"{'class':<44}{'cases':>7}{'protocol':>10}{'effects':>9}"]
    for number, result in sorted(results.items()):
        kind = CLASSES[number]
        name = f"{number:>2} {kind.name}"
        lines.append(
            f"{name:<44}{result.n_cases:>7}{result.n_whole:>10}{len(result.effects):>9}"
            + (f"  ({kind.note})" if kind.note else "")
        )
    total = [
        sum(one.n_cases for one in results.values()),
        sum(one.n_whole for one in results.values()),
    ]
    n_effects = sum(len(one.effects) for one in results.values())
    lines.append(f"{'   all':<44}{total[0]:>7,}{total[1]:>10,}{n_effects:>9}")
    return "\n".join(lines) + "\n"
