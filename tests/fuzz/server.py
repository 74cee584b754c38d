"""The server as it is, with a model that answers anything, and commands that look into it.

Run as a script. `--broken NAME` takes one piece out of it: proof that the fuzzer would notice.
`--counted` lets what the model says follow from the number of the request only.
"""

import ctypes
import faulthandler
import gc
import os
import resource
import signal
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).parents[2]))

from stet.agent import agent, model_source, session
from stet.cli.serve_command import start_logging
from stet.llm.model import Model
from stet.lsp.commands import review_commands, turn_commands
from stet.lsp.edits import edit_confirmation as arrival
from stet.lsp.routing import Router
from stet.lsp.server import build_server, serve_session
from stet.lsp.state import ServerState
from stet.outline.headings import block_parser
from stet.privacy import redactor as redaction
from stet.privacy import request_log as sending
from stet.privacy import taint
from stet.review.hunk_store import is_line_hunk
from stet.review.proposal import LIVE, Hunk, HunkState
from stet.review.tracking import tracked_document as track
from stet.search import chunk as fields
from stet.search import word_stems as words
from stet.storage import hunk_rows as rows
from stet.text.document import TextDocument
from tests.fuzz.model import RandomModel
from tests.fuzz.mutations import broken
from tests.fuzz.reference import checksum

DECISIONS = {
    "stet.accept": review_commands.accept, "stet.reject": review_commands.reject, "stet.preview": review_commands.preview,
    "stet.undo": review_commands.undo, "stet.restore": review_commands.restore, "stet.resolve": review_commands.resolve,
}  # fmt: skip


class MallInfo(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def memory(state: ServerState, given: tuple[object, ...]) -> dict[str, int]:
    """`test.memory`: bytes in use, as the allocator counts them, resident bytes, descriptors.

    In use is exact where Python asks the allocator for everything (`PYTHONMALLOC=malloc`).
    """
    _ = gc.collect()
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = MallInfo
    info = ask()
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    n_descriptors = sum(1 for _ in Path("/proc/self/fd").iterdir())
    in_use = int(info.uordblks) + int(info.hblkhd)
    return {"inUse": in_use, "resident": resident, "descriptors": n_descriptors}


def checksums(state: ServerState, given: tuple[object, ...]) -> list[int | None]:
    """`test.checksums`: of each of these documents' text; null for one that is not held."""
    documents = (state.workspace.document(str(uri)) for uri in given)
    return [None if one is None else checksum(one.text) for one in documents]


def decide(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """`test.decide`: a command about hunks, and those of a state as they were when it was said.

    At once, for between two messages a hunk may come or change: then it would not be known to what the
    user has said yes.
    """
    name, wanted, *arguments = given
    listed = review_commands.proposals(state, ({"state": wanted},))
    return {"listed": listed, "answer": DECISIONS[str(name)](state, tuple(arguments))}


def answer(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """`test.answer`: `stet.answer`, and the questions that it answered; at once, as the oldest that
    waits may be another by the next message."""
    waiting: Any = state.agent.questions
    before = {key: one.question.text for key, one in waiting._pending.items()}
    answered = turn_commands.answer(state, given)
    return {
        "answered": [text for key, text in before.items() if key not in waiting._pending],
        "answer": answered,
    }


def fill_disk(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """`test.fillDisk`: no file can grow beyond so many bytes; -1: there is room again."""
    [n_bytes] = given
    assert isinstance(n_bytes, int)
    sys.dont_write_bytecode = (
        True  # or a module imported now is cut off, for all later processes too
    )
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if n_bytes < 0 else n_bytes, hard))
    return {}


def unsaved_hunks(state: ServerState, given: tuple[object, ...]) -> list[object] | None:
    """`test.kept`: hunks that are otherwise on the disk than here; null while the disk refuses."""
    if _has_unwritten(state):  # before the rows are read: a worker may be writing them just now
        return None
    found = {hunk.id: _reported(hunk) for hunk in state.store.load().hunks}
    if _has_unwritten(state):
        return None
    return [
        [hunk.id, hunk.state, found.get(hunk.id)]
        for hunk in state.ledger.hunks()
        # Of what is decided only the latest is kept.
        if found.get(hunk.id, None if hunk.state in LIVE else hunk.state) != _reported(hunk)
    ]


def _has_unwritten(state: ServerState) -> bool:
    """Return whether something would not survive a kill now."""
    return bool(state.store.not_persisted)


def _reported(hunk: Hunk) -> HunkState:
    """Return a hunk's state without what is not persisted: what only the text as it is just now tells, and
    that an edit of lines is on its way or waits for the editor (after a restart such a hunk is pending).
    """
    if hunk.state is HunkState.SENT and is_line_hunk(hunk):
        return HunkState.PENDING
    return HunkState.PENDING if hunk.state is HunkState.CONFLICT else hunk.state


def documents_of(state: ServerState) -> list[tuple[str, TextDocument]]:
    """The user's open documents with their names, as the model is shown them."""
    snapshot = state.workspace.snapshot()
    held = ((one.uri, state.workspace.shown(one.uri)) for one in snapshot.documents.values())
    return [(snapshot.name_of(uri), one) for uri, one in held if one is not None]


def keep_little() -> None:
    """What is kept on purpose up to a bound, up to one that a life reaches in its first half: what
    grows behind it is a leak."""
    of_turns: Any = agent
    of_turns.MAX_TURNS, session.MAX_TURNS, session.MAX_USER_MESSAGES = 8, 3, 8
    sending.MOST = 8
    redaction._MAX_CACHED = 20_000
    fields._MAX_KNOWN = 300
    of_words: Any = words
    of_fields: Any = fields
    of_words.stem = of_fields.stem = lru_cache(maxsize=300)(words.stem.__wrapped__)
    of_rows: Any = rows
    of_rows._cached_text = lru_cache(maxsize=64)(rows._cached_text.__wrapped__)
    taint.MAX_CHARACTERS = 3000
    track.MAX_SETTLED, track.RECENTLY_SETTLED = 40, 4


def import_all() -> None:
    """What is imported once a text needs it comes at once: on its day it would look like a leak."""
    _ = block_parser()


def main() -> int:
    """Serve on standard input and output."""
    keep_little()
    import_all()
    arrival.CONFIRM_SECONDS, arrival.UNOPENED_SECONDS, arrival.OPENED_SECONDS = 1.0, 0.5, 0.5
    start_logging("")
    faulthandler.register(signal.SIGUSR1)  # where it is, when it is silent
    if "--broken" in sys.argv:
        broken(sys.argv[sys.argv.index("--broken") + 1])
    server = build_server()

    def state() -> ServerState:
        return cast("ServerState", server.state())

    model = RandomModel(lambda: documents_of(state()), is_counted="--counted" in sys.argv)

    async def open_model(*_: object) -> Model:
        return model

    changed: Any = model_source
    changed.open_model = open_model
    route: Router[ServerState] = Router(server, state)
    route.command("test.memory", memory)
    route.command("test.checksums", checksums)
    route.command("test.decide", decide)
    route.command("test.answer", answer)
    route.command("test.fillDisk", fill_disk)
    route.command("test.kept", unsaved_hunks)
    return serve_session(server)


if __name__ == "__main__":
    sys.exit(main())
