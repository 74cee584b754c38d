"""`python -m tests.eval [--sample N] docstrings|commits|links|fit|history PATH ...`: how well
search finds.

`docstrings` takes folders of Python packages, `commits` git repositories, `links` folders of notes.
`fit` takes `KIND:PATH ...` and prints weights for `stet.search.chunk_ranking`, fitted on the half
of the questions that is for it. `history SOURCES PATCHES` makes unpacked sources a repository for
`commits`, out of a series of patches. What was measured is printed in Markdown, as in `scores.md`.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tests.eval.commits import Commits
from tests.eval.corpus import SAMPLE, Corpus
from tests.eval.docstrings import Docstrings
from tests.eval.fit import Example, fit
from tests.eval.history import make_history
from tests.eval.links import Links
from tests.eval.measuring import examples_in, measured

KINDS: dict[str, Callable[[Sequence[Path]], list[Corpus]]] = {
    "docstrings": lambda paths: [Docstrings(tuple(paths))],
    "commits": lambda paths: [Commits(path) for path in paths],
    "links": lambda paths: [Links(path) for path in paths],
}

SHARES = {"docstrings": 2.0, "commits": 1.0, "links": 1.0}
"""The weight of each kind in a fit, regardless of its questions: code is searched by passage
too.
"""


def main(arguments: Sequence[str]) -> int:
    """Measure or fit, and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.eval", description=__doc__)
    parser.add_argument(
        "--sample", type=int, default=SAMPLE, help="questions of each half and path"
    )
    parser.add_argument("kind", choices=[*KINDS, "fit", "history"])
    parser.add_argument("paths", nargs="+")
    given = parser.parse_args(arguments)
    if given.kind == "history":
        applied, broken = make_history(*map(Path, given.paths))
        sys.stdout.write(f"{applied} patches, {broken} of them did not fit\n")
        return 0
    if given.kind == "fit":
        of_kind: dict[str, list[Example]] = {}
        for path in given.paths:
            kind, _, folder = path.partition(":")
            for corpus in KINDS[kind]([Path(folder)]):
                of_kind.setdefault(kind, []).extend(examples_in(corpus, given.sample))
        examples = [
            replace(each, share=SHARES[kind] / len(found))
            for kind, found in of_kind.items()
            for each in found
        ]
        for name, weights in fit(examples).items():
            sys.stdout.write(f'"{name}": {weights},\n')
        return 0
    corpora = KINDS[given.kind]([Path(path).resolve() for path in given.paths])
    sys.stdout.write(measured(corpora, given.sample).report() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
