"""The server with a model that answers anything, and with commands that inspect it.

Run as a script. `--broken NAME` removes one piece, to prove that the fuzzer notices. `--counted`
makes the model's answers depend only on the number of the request.
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
    """The structure `mallinfo2` of glibc."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def memory(state: ServerState, given: tuple[object, ...]) -> dict[str, int]:
    """Answer `test.memory`: bytes in use by the allocator, resident bytes, descriptors.

    The bytes in use are exact if Python uses the allocator for everything (`PYTHONMALLOC=malloc`).
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
    """Answer `test.checksums`: the checksum of each document's text; null if unknown."""
    documents = (state.workspace.document(str(uri)) for uri in given)
    return [None if one is None else checksum(one.text) for one in documents]


def decide(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Answer `test.decide`: run a command about hunks, and list the hunks of a state.

    One command does both, because a hunk may appear or change between two messages: then the
    approved hunks would be unknown.
    """
    name, wanted, *arguments = given
    listed = review_commands.proposals(state, ({"state": wanted},))
    return {"listed": listed, "answer": DECISIONS[str(name)](state, tuple(arguments))}


def answer(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Answer `test.answer`: run `stet.answer`, and list the questions that it answered; the oldest
    waiting question may be another by the next message."""
    waiting: Any = state.agent.questions
    before = {key: one.question.text for key, one in waiting._pending.items()}
    answered = turn_commands.answer(state, given)
    return {
        "answered": [text for key, text in before.items() if key not in waiting._pending],
        "answer": answered,
    }


def fill_disk(state: ServerState, given: tuple[object, ...]) -> dict[str, object]:
    """Answer `test.fillDisk`: limit the size of files in bytes; -1 removes the limit."""
    [n_bytes] = given
    assert isinstance(n_bytes, int)
    sys.dont_write_bytecode = (
        True  # or a module imported now is truncated, for all later processes too
    )
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if n_bytes < 0 else n_bytes, hard))
    return {}


def unsaved_hunks(state: ServerState, given: tuple[object, ...]) -> list[object] | None:
    """Answer `test.kept`: hunks that differ on the disk; null while the disk refuses writes."""
    if _has_unwritten(state):  # before reading rows, which a worker may be writing
        return None
    found = {hunk.id: _reported(hunk) for hunk in state.store.load().hunks}
    if _has_unwritten(state):
        return None
    return [
        [hunk.id, hunk.state, found.get(hunk.id)]
        for hunk in state.ledger.hunks()
        # Of decided hunks only the latest are stored.
        if found.get(hunk.id, None if hunk.state in LIVE else hunk.state) != _reported(hunk)
    ]


def _has_unwritten(state: ServerState) -> bool:
    """Tell whether a kill now would lose something."""
    return bool(state.store.not_persisted)


def _reported(hunk: Hunk) -> HunkState:
    """Return a hunk's state without the parts that are not persisted: a conflict, which depends on
    the current text, and an edit of lines in flight (after a restart such a hunk is pending).
    """
    if hunk.state is HunkState.SENT and is_line_hunk(hunk):
        return HunkState.PENDING
    return HunkState.PENDING if hunk.state is HunkState.CONFLICT else hunk.state


def documents_of(state: ServerState) -> list[tuple[str, TextDocument]]:
    """Return the user's open documents with their names, as the model sees them."""
    snapshot = state.workspace.snapshot()
    held = ((one.uri, state.workspace.shown(one.uri)) for one in snapshot.documents.values())
    return [(snapshot.name_of(uri), one) for uri, one in held if one is not None]


def keep_little() -> None:
    """Lower the bounds of stores so that a life reaches them in its first half: later growth is a
    leak."""
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
    """Import late modules at once: an import during the life would look like a leak."""
    _ = block_parser()


def main() -> int:
    """Serve on standard input and output."""
    keep_little()
    import_all()
    arrival.CONFIRM_SECONDS, arrival.UNOPENED_SECONDS, arrival.OPENED_SECONDS = 1.0, 0.5, 0.5
    start_logging("")
    faulthandler.register(signal.SIGUSR1)  # prints the stacks of a silent server
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
