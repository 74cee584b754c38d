"""`python -m tests.bench [NAME ...]`: measure, print one table; 1 if a bar is missed.

A new row is a module with a function `rows`, and its line in `BENCHMARKS`.
"""

import sys

from tests.bench import didchange, edits, hunks, initialize, model_round, prefix, search
from tests.bench.table import Row, render

BENCHMARKS = {
    "didchange": didchange.rows,
    "edits": edits.rows,
    "hunks": hunks.rows,
    "initialize": initialize.rows,
    "model_round": model_round.rows,
    "prefix": prefix.rows,
    "search": search.rows,
}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.stderr.write(f"no benchmark {unknown[0]!r}; there are: {', '.join(BENCHMARKS)}\n")
        return 2
    found: list[Row] = []
    for name in names or BENCHMARKS:
        sys.stderr.write(f"measuring {name} ...\n")
        found.extend(BENCHMARKS[name]())
    sys.stdout.write(render(found) + "\n")
    return 0 if all(row.holds for row in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
