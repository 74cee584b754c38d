"""Lives of a server that proposes, accepts, rejects and undoes until it is killed; run as a
program.

    python -m tests.support.crash_oracle FOLDER KILLS SEED

Each run is a forked process with a ledger and a store. Through a pipe it reports each operation
before and after it. At a random moment it gets SIGKILL. The next run begins with a report of what
it loaded. Everything reported as done must be there, and of an interrupted operation all or
nothing. Prints the numbers as JSON; exits with 1 and a sentence at the first fault.
"""

import json
import os
import random
import select
import signal
import sys
import traceback
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from stet.review.errors import UndoConflict
from stet.review.journal import AnchorSnapshot, RestoredState
from stet.review.ledger import ReviewLedger
from stet.review.proposal import HunkState
from tests.support.review_harness import URI, ReviewHarness, restore_state
from tests.support.state_stores import TestedStore

LIVES = 5
"""The number of consecutive lives on one database."""
TEXT = "".join(f"line {n}\n" for n in range(30))
Message = dict[str, Any]


class ServerLife:
    """One server, from loading its state until it is killed."""

    def __init__(self, folder: Path, seed: int, send: Callable[[Message], None]) -> None:
        self._random = random.Random(seed)
        self._send = send
        self._store = TestedStore(folder)
        kept = self._store.load()
        text = next((positions.text for positions in kept.anchor_snapshots), TEXT)
        send(found_in(kept))
        # The file has changed between the two lives.
        text = "moved on\n" * (seed % 2) + text
        self._page = ReviewHarness(text)
        self._page.ledger = ReviewLedger(self._store)
        restore_state(self._page.ledger, kept, {URI: text})
        self._page.ledger.opened(URI, self._page.buffer.lines)
        self._reported = self._states()

    def step(self) -> None:
        """Do one operation and report it."""
        ids = self._chosen(HunkState.PENDING)
        accepted = self._chosen(HunkState.ACCEPTED)
        deed = self._random.choice(["propose", "propose", "accept", "accept", "reject", "undo"])
        if deed == "accept" and ids:
            self._do(ids, "accepted", lambda: self._page.accept(*ids))
        elif deed == "reject" and ids:
            self._do(ids[:1], "rejected", lambda: self._page.ledger.reject(ids[0]))
        elif deed == "undo" and accepted:
            self._do(accepted[:1], "undone", lambda: self._undo(accepted[0]))
        else:
            self._propose()
        self._store.flush()

    def _do(self, ids: list[str], state: str, deed: Callable[[], None]) -> None:
        self._send({"begins": dict.fromkeys(ids, state)})
        deed()
        self._send_changes()

    def _send_changes(self) -> None:
        now = self._states()
        done = dict(now.items() - self._reported.items())
        if not done or "rejected" in done.values():  # no text has changed, so no anchors are stored
            self._send({"done": done})
        else:
            self._send(
                {"done": done, "stand": text_checksum(self._page.ledger.anchor_snapshot(URI))}
            )
        self._reported = now

    def _states(self) -> dict[str, str]:
        # A conflict is a pending hunk; only the text shows the conflict, not the database.
        waiting = {HunkState.CONFLICT: HunkState.PENDING}
        return {hunk.id: str(waiting.get(hunk.state, hunk.state)) for hunk in self._page.hunks}

    def _chosen(self, state: HunkState) -> list[str]:
        found = [hunk.id for hunk in self._page.hunks if hunk.state is state]
        return self._random.sample(found, min(len(found), self._random.randint(1, 3)))

    def _propose(self) -> None:
        lines = list(self._page.buffer.lines)
        taken = {
            line
            for hunk in self._page.hunks
            if hunk.state is HunkState.PENDING
            for line in range(hunk.range.start.line - 1, hunk.range.end.line + 2)
        }
        free = [n for n in range(0, len(lines) - 1, 2) if n not in taken]
        wanted = self._random.sample(free, min(len(free), self._random.randint(1, 4)))
        if not wanted:
            return
        for n in wanted:
            lines[n] = f"written {self._random.random()}\n"
        self._send({"proposes": len(wanted)})
        self._page.propose("".join(lines), turn=f"t{self._store.number('turn')}")
        self._send_changes()

    def _undo(self, hunk_id: str) -> None:
        document = self._page.document
        try:
            edit = self._page.ledger.outbox.send(document, [hunk_id], back=True)
        except UndoConflict:  # another hunk has been written over this one
            return
        self._page.replace(edit.apply(document.text))


def text_checksum(snapshot: AnchorSnapshot | None) -> int:
    """Compute a checksum of a text and the places of its hunks."""
    if snapshot is None:
        return 0
    return zlib.crc32(f"{snapshot.text}{sorted(snapshot.lines.items())}".encode())


def found_in(restored: RestoredState) -> Message:
    """Return the first message of a run."""
    [positions] = restored.anchor_snapshots or (None,)
    return {
        "found": {hunk.id: hunk.state for hunk in restored.hunks},
        "stand": text_checksum(positions),
    }


class CrashOracle:
    """The expected state, derived from the reports of the lives.

    Attributes:
        n_reported: The number of hunks that were reported as proposed or decided.
        n_caught: The number of runs that ended in the middle of an operation.
    """

    def __init__(self) -> None:
        self.n_reported = 0
        self.n_caught = 0
        self._states: dict[str, str] = {}
        self._revision = 0
        self._deed: Message = {}

    def receive(self, message: Message) -> None:
        """Process one message.

        Raises:
            AssertionError: If the loaded state of a life is wrong.
        """
        if "found" in message:
            self._compare(message["found"], message["stand"])
        elif "done" in message:
            self.n_reported += len(message["done"])
            self._states |= message["done"]
            self._revision = message.get("stand", self._revision)
            self._deed = {}
        else:
            self._deed = message

    def _compare(self, found: dict[str, str], revision: int) -> None:
        deed, self._deed = self._deed, {}
        self.n_caught += bool(deed)
        begun = deed.get("begins", {})
        new = found.keys() - self._states.keys()
        if new:
            # The new hunk supersedes hunks of another turn.
            begun = {h: "superseded" for h, state in found.items() if state == "superseded"}
        lost = [
            f"{hunk_id} was {state} and is {found.get(hunk_id)}"
            for hunk_id, state in self._states.items()
            if found.get(hunk_id) != state and found.get(hunk_id) != begun.get(hunk_id, state)
        ]
        assert not lost, f"told as done and lost: {lost}"
        came_about = {found[hunk_id] == state for hunk_id, state in begun.items()}
        assert len(came_about) < 2, f"half done: {deed}, found {found}"
        assert len(new) in (0, deed.get("proposes", 0)), f"half proposed: {deed}, found {new}"
        if revision != self._revision:
            assert new or True in came_about, f"places that nobody told of: {deed}, found {found}"
        self._states, self._revision = dict(found), revision


def main(folder: Path, n_kills: int, seed: int) -> None:
    """Kill `n_kills` lives, and check the state after each."""
    chance = random.Random(seed)
    oracle = CrashOracle()
    for nth in range(n_kills):
        if nth % LIVES == 0:
            _last(folder / str(nth // LIVES - 1), oracle)
            reported, caught = oracle.n_reported, oracle.n_caught
            oracle = CrashOracle()
            oracle.n_reported, oracle.n_caught = reported, caught
        # One life in ten is killed early: while it opens, loads or restores.
        n_deeds = 0 if chance.random() < 0.1 else chance.randint(1, 20)
        delay = chance.random() * (0.03 if n_deeds == 0 else 0.003)
        _live(folder / str(nth // LIVES), oracle, chance.randrange(10**9), (n_deeds, delay))
    _last(folder / str((n_kills - 1) // LIVES), oracle)
    sys.stdout.write(
        json.dumps({"kills": n_kills, "told": oracle.n_reported, "caught": oracle.n_caught}) + "\n"
    )


def _last(folder: Path, oracle: CrashOracle) -> None:
    """Check the final state."""
    if folder.exists():
        store = TestedStore(folder)
        kept = store.load()
        store.close()
        assert store.messages == []
        oracle.receive(found_in(kept))


def _live(folder: Path, oracle: CrashOracle, seed: int, end: tuple[int, float]) -> None:
    """Run one life, and kill it after some reported operations and some seconds."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run(folder, seed, writing)
    os.close(writing)
    n_deeds, delay = end
    n_done = 0
    with os.fdopen(reading, "rb") as pipe:
        messages = _messages(pipe.fileno())
        while n_done < n_deeds:
            message = next(messages)
            oracle.receive(message)
            n_done += "done" in message
        select.select([], [], [], delay)
        os.kill(child, signal.SIGKILL)
        for message in messages:
            oracle.receive(message)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"a life ended by itself: {status}"


def _run(folder: Path, seed: int, pipe: int) -> None:
    """Run until killed."""
    try:
        life = ServerLife(folder, seed, lambda message: _send(pipe, message))
        while True:
            life.step()
    finally:
        traceback.print_exc()
        os._exit(1)


def _send(pipe: int, message: Message) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


def _messages(pipe: int) -> Iterator[Message]:
    """Yield complete lines; an incomplete line was not reported."""
    rest = b""
    while data := os.read(pipe, 65_536):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield json.loads(line)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
