"""`python -m tests.attacks [SEED]`: run all attack classes and print a table of the results."""

import sys
import tempfile
from pathlib import Path

from tests.attacks.registry import Result
from tests.attacks.table import ALL, played, rows
from tests.parts.kept import MissingPart

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
results: dict[int, Result] = {}
for kind in ALL:
    try:
        kind.needs()
    except MissingPart as missing:
        _ = sys.stdout.write(f"{kind.number}: left out, {missing}\n")
        continue
    with tempfile.TemporaryDirectory() as folder:
        results[kind.number] = played(kind, Path(folder), seed)
for number, result in results.items():
    for effect in result.effects:
        _ = sys.stdout.write(f"{number}: {effect}\n")
_ = sys.stdout.write(rows(results))
sys.exit(any(result.effects for result in results.values()))
