"""`python -m tests.soak [OPERATIONS [SEED [agents]]]`: random lives of a document until one fails.

With `agents`, sessions of two other agents are among the actors.
"""

import sys
import time
from collections import Counter

from tests.soak.run import soak
from tests.soak.shared_world import SharedWorld
from tests.soak.simulated_world import SimulatedWorld

n_operations = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
world = SharedWorld if sys.argv[3:] == ["agents"] else SimulatedWorld
counts: Counter[str] = Counter()
started = time.perf_counter()
failure = soak(n_operations, seed, world, counts)
took = time.perf_counter() - started
counted = "".join(f"\n{n:9,} {what}" for what, n in counts.most_common())
summary = f"{n_operations:,} operations, 0 violations, {took:.0f} s (seed {seed}){counted}"
_ = sys.stdout.write(f"{failure or summary}\n")
sys.exit(failure is not None)
