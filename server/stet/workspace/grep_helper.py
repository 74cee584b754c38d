"""The process that searches text, so that a slow pattern blocks nothing and can be killed.

It reads `{"pattern": "...", "known": [...]}`, then one JSON array `[name, text]` a line, and writes
one JSON array `[name, line, text]` a hit; lines are 1-based. The answer to an invalid pattern is
`{"error": "..."}`.

If marks are requested (`known` is not null), a line is searched in its redacted form: otherwise
patterns that match or not with the next letter of a key would reveal the key.
"""

import json
import re
import sys
from collections.abc import Iterator
from itertools import islice

from stet.privacy.redactor import Redactor

HITS_PER_FILE = 20
"""The maximum number of hits in one file."""
MAX_HITS = 2_000
"""The maximum number of hits of one search."""
MAX_LINE = 1000
"""The maximum length of a returned line, in code points."""

_LINE_END = re.compile(r"\r\n|\n|\r")


def main() -> None:
    """Serve one search on the standard streams."""
    request = json.loads(sys.stdin.readline())
    redactor = None if request["known"] is None else Redactor()
    if redactor is not None:
        redactor.add_known(request["known"])
    try:
        pattern = re.compile(request["pattern"])
    except (re.error, OverflowError, RecursionError) as error:
        sys.stdout.write(json.dumps({"error": str(error)}) + "\n")
        return
    n_left = MAX_HITS
    for line in sys.stdin:
        name, text = json.loads(line)
        # Read all input, even if no more hits are needed: the writing process waits for this.
        for hit in islice(_hits(text, pattern, redactor), n_left):
            sys.stdout.write(json.dumps([name, *hit]) + "\n")
            n_left -= 1


def _hits(
    text: str, pattern: re.Pattern[str], redactor: Redactor | None
) -> Iterator[tuple[int, str]]:
    task = text if redactor is None else redactor.redact(text).text
    lines = _LINE_END.split(text)
    found = 0
    for number, line in enumerate(lines if task == text else _LINE_END.split(task), 1):
        if pattern.search(line) is not None:
            yield number, lines[number - 1][:MAX_LINE]
            found += 1
            if found == HITS_PER_FILE:
                return


if __name__ == "__main__":
    main()
