"""Instructions in the comments of a document, found by a separate process."""

import asyncio
import json
from pathlib import PurePosixPath

from stet.outline.languages import language_named
from stet.system.helper_process import run_helper
from stet.system.system import System
from stet.text.ai_comments import AiComment, Marker
from stet.text.document import TextDocument

SECONDS = 10.0
MAX_CHARACTERS = 2_000_000


class CommentsUnreadable(Exception):
    """The comments of a document can't be read; the message says why."""


async def read_ai_comments(
    document: TextDocument, name: str, system: System
) -> tuple[AiComment, ...]:
    """Return the instructions to the agent in the comments of a document, in order.

    Args:
        document: The present document; its language is the editor's, else that of its ending.
        name: The document's name for the user.
        system: The system, to start the process.

    Raises:
        CommentsUnreadable: If the document is too long, or the search takes too long.
    """
    if len(document.text) > MAX_CHARACTERS:
        raise CommentsUnreadable(
            f"{name!r} has {len(document.text):,} characters; comments are only found in files "
            f"of at most {MAX_CHARACTERS:,}."
        )
    task = await asyncio.to_thread(_task, document, name)
    try:
        output = await run_helper(system, "stet.workspace.comments.comment_helper", task, SECONDS)
    except TimeoutError as error:
        raise CommentsUnreadable(
            f"Finding the comments of {name!r} took more than {SECONDS:g} seconds."
        ) from error
    try:
        answer = json.loads(output)
    except ValueError as error:
        raise CommentsUnreadable(
            f"The comments of {name!r} can't be read: it takes too much time or memory."
        ) from error
    return tuple(AiComment(Marker(marker), text, start, end) for marker, text, start, end in answer)


def _task(document: TextDocument, name: str) -> bytes:
    language = document.language_id
    if document.is_markdown:
        language = "markdown"
    elif language in ("", "plaintext"):
        language = language_named(PurePosixPath(name).suffix) or language
    return json.dumps({"text": document.text, "language": language, "name": name}).encode()
