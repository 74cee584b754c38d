"""The process that searches text, so that a slow pattern stalls nothing and can be killed.

It reads a regular expression as JSON, then one JSON array `[name, text]` a line, and writes one JSON
array `[name, line, text]` a hit; lines are 1-based. A pattern that is none is answered with
`{"error": "..."}`.
"""

import json
import re
import sys
from collections.abc import Iterator
from itertools import islice

HITS_PER_FILE = 20
"""One file may not fill the answer."""
MAX_HITS = 2_000
"""Of one search: enough to say that there are more."""
MAX_LINE = 1000
"""How much of a line is given, in code points."""


def main() -> None:
    """Serve one search on the standard streams."""
    try:
        pattern = re.compile(json.loads(sys.stdin.readline()))
    except (re.error, OverflowError, RecursionError) as error:
        sys.stdout.write(json.dumps({"error": str(error)}) + "\n")
        return
    n_left = MAX_HITS
    for line in sys.stdin:
        name, text = json.loads(line)
        # All is read, even if no hit is wanted any more: who writes it waits for that.
        for hit in islice(_hits(text, pattern), n_left):
            sys.stdout.write(json.dumps([name, *hit]) + "\n")
            n_left -= 1


def _hits(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    found = 0
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        if pattern.search(line) is not None:
            yield number, line[:MAX_LINE]
            found += 1
            if found == HITS_PER_FILE:
                return


if __name__ == "__main__":
    main()
