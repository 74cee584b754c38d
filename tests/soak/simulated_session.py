"""Another agent in a simulated workspace: a session with the real view, and what its agent knows."""

import asyncio
import re
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from stet.bridges.session_view import SessionView
from stet.review.ledger import ReviewLedger
from stet.review.proposal import WHOLE_FILE, Hunk, HunkState
from stet.text.diff import diff_lines
from stet.text.document import TextDocument
from stet.text.lines import split_lines, without_end
from tests.soak.simulated_document import words_of

T = TypeVar("T")
_IDS = re.compile(r"\bh(\d+)(?:-h(\d+))?\b")


@dataclass(slots=True)
class SimulatedSession:
    """One session of another agent.

    Attributes:
        view: What the session sees of the workspace.
        read: The text of the document when the agent last read it; None before.
        written: The text that it is writing; None while it writes nothing.
        upto: The `changed` of the latest change of a hunk before the last turn.
        reported: The decisions that the agent knows: the id of the hunk and its `changed`.
    """

    view: SessionView
    read: str | None = None
    written: str | None = None
    upto: int = 0
    reported: set[tuple[str, int]] = field(default_factory=set)


def text_with_pending(ledger: ReviewLedger, document: TextDocument, chat: str) -> str:
    """Return the text of a document with the pending hunks of a session, computed naively."""
    text = document.text
    for hunk in reversed(pending_of(ledger, document.uri, chat)):
        start, end = document.offset_at(hunk.range.start), document.offset_at(hunk.range.end)
        text = text[:start] + hunk.new + text[end:]
    return text


def pending_of(ledger: ReviewLedger, uri: str, chat: str) -> list[Hunk]:
    """Return the pending hunks of lines of a session, in order of place."""
    live = [one for one in ledger.live(uri) if one.chat == chat and one.kind not in WHOLE_FILE]
    return [one for one in live if one.state is HunkState.PENDING]


def ids_in(text: str) -> set[str]:
    """Return the ids of the hunks that a text names, also by ranges as `h1-h3`."""
    named: set[str] = set()
    for first, last in _IDS.findall(text):
        named |= {f"h{number}" for number in range(int(first), int(last or first) + 1)}
    return named


def moved_words(before: str, after: str) -> set[str]:
    """Return the words of lines that are at another place after a change, with any line ends."""
    old, new = ([without_end(line) for line in split_lines(text)] for text in (before, after))
    changes = diff_lines(old, new)
    gone = {word for one in changes for word in words_of("\n".join(one.old))}
    return {
        word
        for one in changes
        for word in words_of("\n".join(one.new)).keys() - words_of("\n".join(one.old)).keys()
        if word in gone
    }


class _DirectExecutor(ThreadPoolExecutor):
    """Runs each call at once, and then what the event loop does until it has the result."""

    def __init__(self, between: Callable[[], None]) -> None:
        super().__init__(1)
        self._between = between

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - the caller gets it
            future.set_exception(error)
        self._between()
        return future


def run_session(work: Coroutine[Any, Any, T], between: Callable[[], None]) -> T:
    """Run the work of a session; return its result.

    Args:
        work: The work.
        between: Called after each part of the work that a thread does, as other events are.
    """
    loop = asyncio.new_event_loop()
    try:
        loop.set_default_executor(_DirectExecutor(between))
        return loop.run_until_complete(work)
    finally:
        loop.close()
