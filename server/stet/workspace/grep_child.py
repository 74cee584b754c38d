"""The process that searches text, so that a slow pattern stalls nothing and can be killed.

It reads one JSON object, `{"words": [...]} or {"regex": "..."}`, then one JSON array `[name, text]`
a line, and writes one JSON array `[name, line, text, words matched]` a hit; lines are 1-based.
A pattern that is none is answered with `{"error": "..."}`.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator

HITS_PER_FILE = 20
"""One file may not fill the answer."""


def main() -> None:
    """Serve one search on the standard streams."""
    query = json.loads(sys.stdin.readline())
    try:
        match = _matcher(query)
    except re.error as error:
        sys.stdout.write(json.dumps({"error": str(error)}) + "\n")
        return
    for line in sys.stdin:
        name, text = json.loads(line)
        for hit in _hits(text, match):
            sys.stdout.write(json.dumps([name, *hit]) + "\n")


def _matcher(query: dict[str, object]) -> Callable[[str], int]:
    """A function that tells how many of the query's words a line holds, 0 for none."""
    if "regex" in query:
        pattern = re.compile(str(query["regex"]))
        return lambda line: int(pattern.search(line) is not None)
    words = [str(word).casefold() for word in _list(query["words"])]

    def count(line: str) -> int:
        folded = line.casefold()
        return sum(word in folded for word in words)

    return count


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _hits(text: str, match: Callable[[str], int]) -> Iterator[tuple[int, str, int]]:
    found = 0
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        if score := match(line):
            yield number, line, score
            found += 1
            if found == HITS_PER_FILE:
                return


if __name__ == "__main__":
    main()
