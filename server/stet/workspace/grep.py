"""Search the workspace's text: what is open as it is in the editor, the rest from the disk."""

import asyncio
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from stet.workspace.snapshot import NotShown, Snapshot

SECONDS = 10.0
MAX_FILES = 5000
MAX_CHARACTERS = 50_000_000


class BadPattern(Exception):
    """The regular expression is none, or takes too long."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One line found.

    Attributes:
        name: The file, relative to its root.
        line: 1-based.
        text: The whole line, without its end.
        score: How many of the words it holds; 1 for a regular expression.
    """

    name: str
    line: int
    text: str
    score: int


async def grep(snapshot: Snapshot, query: dict[str, object], folder: str) -> list[Hit]:
    """Every line that matches, files in order of name, at most 20 a file.

    Args:
        snapshot: The world.
        query: `{"words": [...]}` or `{"regex": "..."}`.
        folder: Only below this folder; empty for everywhere.

    Raises:
        BadPattern: With a sentence.
    """
    process = await snapshot.system.start_process(
        [sys.executable, "-I", "-m", "stet.workspace.grep_child"]
    )
    try:
        async with asyncio.timeout(SECONDS):
            lines = await asyncio.to_thread(lambda: "".join(_input(snapshot, query, folder)))
            output, _ = await process.communicate(lines.encode("utf-8", "surrogatepass"))
    except TimeoutError:
        raise BadPattern(
            f"The search took more than {SECONDS:.0f} seconds. Make the pattern simpler, or name a "
            "folder."
        ) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return [_hit(line) for line in output.decode("utf-8", "surrogatepass").splitlines()]


def _input(snapshot: Snapshot, query: dict[str, object], folder: str) -> Iterator[str]:
    yield json.dumps(query) + "\n"
    size = 0
    for count, located in enumerate(snapshot.walk(folder)):
        try:
            text = snapshot.show(located.uri).text
        except NotShown:
            continue
        size += len(text)
        if count >= MAX_FILES or size > MAX_CHARACTERS:
            return
        yield json.dumps([located.name, text]) + "\n"


def _hit(line: str) -> Hit:
    found = json.loads(line)
    if isinstance(found, dict):
        raise BadPattern(f"The regular expression can't be read: {found['error']}.")
    return Hit(*found)
