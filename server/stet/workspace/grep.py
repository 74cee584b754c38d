"""Search by a regular expression in the text of open documents and of the other files on disk.

Open documents that are too long to be searched are listed in a sentence for the model.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stet.system.helper_process import kill_and_wait, module_command
from stet.text.document import TextDocument
from stet.text.escape import escape_line
from stet.workspace.grep_helper import MAX_HITS
from stet.workspace.names import parts_below
from stet.workspace.snapshot import NotShown, Snapshot
from stet.workspace.uris import path_of

SECONDS = 10.0
MAX_FILES = 20_000
MAX_CHARACTERS = 50_000_000


class InvalidRegex(Exception):
    """The regular expression is invalid, or takes too long."""


@dataclass(frozen=True, slots=True)
class GrepHit:
    """A line that matches.

    Attributes:
        name: The file's name, relative to its root.
        line: The line number, 1-based.
        text: The text of the line, without its line end; a long text is cut.
    """

    name: str
    line: int
    text: str


@dataclass(slots=True)
class GrepResult:
    """The result of a search.

    Attributes:
        hits: The lines that match, in order of the files' names, at most `HITS_PER_FILE` a file.
        is_cut: Whether files were left out because there are too many files or hits.
    """

    hits: list[GrepHit]
    is_cut: bool = False


async def grep(snapshot: Snapshot, pattern: str, folder: str) -> GrepResult:
    """Return every line that matches `pattern` in the files below `folder`; empty for all files.

    Raises:
        InvalidRegex: If the pattern is invalid or takes too long; the message is a sentence.
    """
    process = await snapshot.system.start_process(module_command("stet.workspace.grep_helper"))
    found = GrepResult([])
    try:
        async with asyncio.timeout(SECONDS):
            lines = await asyncio.to_thread(_task, snapshot, pattern, folder, found)
            output, _ = await process.communicate(lines)
    except TimeoutError:
        raise InvalidRegex(
            f"The search took more than {SECONDS:.0f} seconds. Make the pattern simpler, or name a "
            "folder."
        ) from None
    finally:
        await kill_and_wait(process)
    if process.returncode:
        raise InvalidRegex("The search did not finish. Make the pattern simpler, or name a folder.")
    # Two thousand long lines are two megabytes: parsing them would delay a keystroke.
    found.hits = await asyncio.to_thread(_parse_hits, output)
    found.is_cut |= len(found.hits) >= MAX_HITS
    return found


def _parse_hits(output: bytes) -> list[GrepHit]:
    """Return the hits that the child process wrote.

    Raises:
        InvalidRegex: If the process could not compile the expression.
    """
    found = list(map(json.loads, output.decode("utf-8", "surrogatepass").splitlines()))
    if found and isinstance(found[0], dict):
        raise InvalidRegex(
            f"The regular expression can't be read: {found[0]['error']}. For plain text, or words, "
            "leave `mode` out."
        )
    return [GrepHit(*hit) for hit in found]


def _task(snapshot: Snapshot, pattern: str, folder: str, result: GrepResult) -> bytes:
    """Return the task that is sent to the child process."""
    return "".join(_input(snapshot, pattern, folder, result)).encode("utf-8", "surrogatepass")


def _input(snapshot: Snapshot, pattern: str, folder: str, result: GrepResult) -> Iterator[str]:
    redacts = snapshot.settings.privacy.redact_secrets
    known = snapshot.redactor.known() if redacts else None
    yield json.dumps({"pattern": pattern, "known": known}) + "\n"
    size = 0
    for count, located in enumerate(snapshot.walk(folder)):
        document = snapshot.show_or_none(located.uri)
        if document is None or document.is_large:
            continue  # as a file of that size on the disk; see `stet.workspace.grep`
        text = document.text
        size += len(text)
        if count >= MAX_FILES or size > MAX_CHARACTERS:
            result.is_cut = True
            return
        yield json.dumps([located.name, text]) + "\n"


_MOST_NAMED = 5


def describe_unsearched(snapshot: Snapshot, folder: str) -> str:
    """Return a sentence about open documents that a search has left out; empty if there are none.

    This function reads the disk: call it in a worker thread.

    Args:
        snapshot: The searched snapshot.
        folder: The folder that was searched; empty for everywhere.

    Returns:
        A sentence in brackets, with a line end.
    """
    documents = [document for document in snapshot.documents.values() if document.is_large]
    names = sorted(_names(snapshot, folder, documents)) if documents else []
    if not names:
        return ""
    named = ", ".join(repr(escape_line(name)) for name in names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"(Too long to be searched: {named}{more}. `read_file` shows lines of it.)\n"


def _names(snapshot: Snapshot, folder: str, documents: Sequence[TextDocument]) -> list[str]:
    top = snapshot.locate(folder).path if folder.strip("/. ") else None
    found = []
    for document in documents:
        path = path_of(document.uri)
        is_below = top is None or (path is not None and parts_below(path, top) is not None)
        if is_below and _may_be_shown(snapshot, document.uri):
            found.append(snapshot.name_of(document.uri))
    return found


def _may_be_shown(snapshot: Snapshot, uri: str) -> bool:
    try:
        _ = snapshot.document_with_blocks(uri)
    except NotShown:
        return False
    return True
