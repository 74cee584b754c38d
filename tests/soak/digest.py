"""Digests of simulated workspaces, to verify that a refactoring keeps their behaviour.

`python -m tests.soak.digest --write` records the digests of this tree in `digests.txt`. Record
again after a deliberate change of hunks' behaviour; a rename or a move must not change them.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

from stet.review.proposal import Hunk
from tests.soak.run import plan
from tests.soak.simulated_document import URI
from tests.soak.simulated_world import SimulatedWorld

FILE = Path(__file__).with_name("digests.txt")
SEEDS = range(700_000_000, 700_000_160)
"""Seeds of simulated workspaces; 60 operations each."""


def digest(seed: int) -> str:
    """Return a SHA-256 digest (first 16 hexadecimal digits) of all states of a simulation."""
    world, ops = SimulatedWorld(seed), plan(seed)
    total = hashlib.sha256()
    for op in ops:
        world.do(op)
        total.update("\n".join((repr(op), *_state(world), "")).encode("utf-8", "surrogatepass"))
    return total.hexdigest()[:16]


def _state(world: SimulatedWorld) -> Iterator[str]:
    """Yield the text and each hunk as lines, without names of attributes."""
    yield repr(world.buffer.text)
    for hunk in world.ledger.hunks(uri=URI):
        texts = (hunk.old, hunk.new, hunk.base, hunk.proposed, hunk.reason)
        yield repr((hunk.id, hunk.turn, str(hunk.kind), str(hunk.state), *_bounds(hunk), *texts))


def _bounds(hunk: Hunk) -> tuple[int, int, int, int]:
    start, end = hunk.range.start, hunk.range.end
    return start.line, start.character, end.line, end.character


def recorded() -> dict[int, str]:
    """Return the recorded digests by seed."""
    rows = (line.split() for line in FILE.read_text().splitlines())
    return {int(seed): value for seed, value in rows}


def main() -> int:
    """Compare the digests with the recorded ones, or record them. Return the exit code."""
    current = {seed: digest(seed) for seed in SEEDS}
    if "--write" in sys.argv:
        FILE.write_text("".join(f"{seed} {value}\n" for seed, value in current.items()))
        return 0
    changed = [seed for seed, value in recorded().items() if current.get(seed) != value]
    _ = sys.stdout.write(f"{len(current)} worlds, other digests: {changed or 'none'}\n")
    return bool(changed)


if __name__ == "__main__":
    sys.exit(main())
