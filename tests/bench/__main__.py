"""`python -m tests.bench [NAME ...] [--write] [--against REV]`: measure, print tables.

Without names, measure everything but `rewrite`; `--write` then updates the table of
`docs/benchmarks.md`. `rewrite --write` updates the second table of that page. The exit code is 1 if
a required value is missed. `--against` measures another commit and this tree alternately, five
times each, and exits with 1 if a row became worse. A new row is a module with a function `rows`, a
line in `BENCHMARKS`, and the row's names in `budgets.ROWS`.
"""

import argparse
import sys
from time import perf_counter

from tests.bench import (
    against,
    cancel,
    chat,
    didchange,
    edits,
    hostile_bodies,
    hunks,
    initialize,
    keystrokes,
    large,
    links,
    memory,
    model_round,
    page,
    prefix,
    retrieval,
    rewrite,
    search,
)
from tests.bench.budgets import amiss
from tests.bench.peers import peers
from tests.bench.table import Row, render

BENCHMARKS = {
    "didchange": didchange.rows,
    "keystrokes": keystrokes.rows,
    "initialize": initialize.rows,
    "memory": memory.rows,
    "hunks": hunks.rows,
    "search": search.rows,
    "links": links.rows,
    "model_round": model_round.rows,
    "prefix": prefix.rows,
    "cancel": cancel.rows,
    "chat": chat.rows,
    "large": large.rows,
    "retrieval": retrieval.rows,
    "edits": edits.rows,
    "hostile_bodies": hostile_bodies.rows,
}
NAMED = {"rewrite": rewrite.rows}
"""Benchmarks that are run by name only: they take ten minutes, a model of 1.1 GB and two processors
that do nothing else.
"""


def main(arguments: list[str]) -> int:
    """Run the named benchmarks, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, *NAMED, []], metavar="NAME")
    parser.add_argument(
        "--write", action="store_true", help="renew the table of docs/benchmarks.md"
    )
    parser.add_argument("--against", metavar="REV", help="compare with another commit")
    given = parser.parse_args(arguments)
    if given.against:
        comparisons = against.against(given.against, given.names)
        sys.stdout.write(against.render(comparisons, given.against) + "\n")
        return any(row.is_worse for row in comparisons)
    if given.write and given.names and given.names != ["rewrite"]:
        parser.error(
            "the table of docs/benchmarks.md comes from one run of all: leave the names out"
        )
    if given.write and not given.names:
        peers()  # require all peers, or rows of the table would be missing
    begun = perf_counter()
    found: list[Row] = []
    for name in given.names or BENCHMARKS:
        sys.stderr.write(f"measuring {name} ...\n")
        found.extend((BENCHMARKS | NAMED)[name]())
    main_rows = [row for row in found if not row.in_detail]
    sys.stdout.write(render(main_rows) + "\n")
    if detail := [row for row in found if row.in_detail]:
        sys.stdout.write(f"\nIn detail:\n\n{render(detail)}\n")
    if reported := amiss([row.what for row in main_rows], given.names or tuple(BENCHMARKS)):
        sys.stderr.write("".join(f"{one} (`tests/bench/budgets.py`)\n" for one in reported))
        return 1
    if given.write:
        minutes = (perf_counter() - begun) / 60
        write = page.write_rewrite if given.names else page.write
        write(main_rows, minutes)
    return 0 if all(row.holds for row in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
