"""`python -m tests.fuzz [MESSAGES [SEED]]`: run lives of real servers until one fails."""

import sys
import time

from tests.fuzz.run import fuzz, measured

n_messages = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
started = time.perf_counter()
result = fuzz(n_messages, seed)
if result.failure is None and n_messages > 1:
    _ = sys.stdout.write(f"{result}\n")
    result = measured(max(n_messages // 8, 2_000), seed)
_ = sys.stdout.write(f"{result}\n{time.perf_counter() - started:.0f} s (seed {seed})\n")
sys.exit(result.failure is not None)
