"""`python -m tests.soak [OPERATIONS [SEED]]`: run random lives of a document until one fails."""

import sys
import time

from tests.soak.run import soak

n_operations = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
started = time.perf_counter()
failure = soak(n_operations, seed)
took = time.perf_counter() - started
reported = failure or f"{n_operations:,} operations, 0 violations, {took:.0f} s (seed {seed})"
_ = sys.stdout.write(f"{reported}\n")
sys.exit(failure is not None)
