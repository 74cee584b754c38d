"""A folder that one session of another agent changes by its view, beside a plain model of it.

To the agent the view must behave like a folder, although all its changes wait for the user: what it
has written, created, deleted and moved is so for it, and so on the disk after all is accepted, in
any order.
"""

import itertools
import random
from collections import Counter
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from stet.bridges.session_view import SessionView, ViewError
from stet.review.ledger import ReviewLedger
from stet.review.proposal import OPEN, WHOLE_FILE, Hunk, HunkKind
from stet.text.document import TextDocument
from stet.workspace.workspace import Workspace
from tests.soak.checks import Violation
from tests.soak.simulated_session import run_session
from tests.support.memory_system import MemorySystem
from tests.support.workspaces import uri_at

FOLDER = "/ws"
NAMES = ("a.txt", "b.txt", "c.txt", "d.txt")
OPERATIONS = ("write", "write", "write", "create", "delete", "move", "begin_turn")


class SessionFolder:
    """The folder.

    Attributes:
        counts: How often each operation was done.
    """

    def __init__(self, seed: int) -> None:
        self.counts: Counter[str] = Counter()
        self._dice = random.Random(seed)
        self._words, turns = itertools.count(1), itertools.count(1)
        self._files = {name: self._text() for name in NAMES[:2]}
        self._system = MemorySystem({f"{FOLDER}/{n}": text for n, text in self._files.items()})
        workspace = Workspace(self._system)
        workspace.add_root(f"file://{FOLDER}")
        self._ledger = ReviewLedger()
        self._view = SessionView(workspace, self._ledger, lambda: next(turns), "claude", "claude-1")

    def do_one(self) -> None:
        """Do one operation as the agent, and compare all that the agent sees with the model."""
        operation = self._dice.choice(OPERATIONS)
        try:
            getattr(self, f"_{operation}")()
        except ViewError as error:
            raise Violation(f"{operation} was refused: {error}") from error
        self.counts[operation] += 1
        self._compare(operation)

    def accept_all(self) -> None:
        """Accept every hunk in any order; the disk must then be what the agent sees."""
        while left := [one for one in self._ledger.hunks() if one.state in OPEN]:
            hunk = self._dice.choice(left)
            if hunk.kind in WHOLE_FILE:
                self._accept_file(hunk)
            else:
                self._accept_lines(hunk.uri, [hunk.id])
        self._compare("accepting all")
        for name in NAMES:
            if self._disk_text(name) != self._files.get(name):
                raise Violation(f"{name} is {self._disk_text(name)!r} on the disk")

    def _write(self) -> None:
        if name := self._existing():
            lines = self._files[name].splitlines(keepends=True)
            lines.insert(self._dice.randrange(len(lines) + 1), self._line())
            if self._dice.random() < 0.4:
                del lines[self._dice.randrange(len(lines))]
            before, self._files[name] = self._files[name], "".join(lines)
            self._run(self._view.write(_uri(name), before, self._files[name]))

    def _create(self) -> None:
        if name := self._missing():
            self._files[name] = self._text()
            self._run(self._view.write(_uri(name), None, self._files[name]))

    def _delete(self) -> None:
        if name := self._existing():
            del self._files[name]
            self._run(self._view.delete(_uri(name)))

    def _move(self) -> None:
        name, new_name = self._existing(), self._missing()
        if name and new_name:
            self._files[new_name] = self._files.pop(name)
            self._run(self._view.move(_uri(name), _uri(new_name)))

    def _begin_turn(self) -> None:
        self._run(self._view.begin_turn())

    def _compare(self, done: str) -> None:
        for name in NAMES:
            seen = self._run(self._view.read(_uri(name)))
            if (seen and seen.text) != self._files.get(name):
                raise Violation(f"after {done}: {name} is {seen}, not {self._files.get(name)!r}")

    def _accept_lines(self, uri: str, hunk_ids: list[str]) -> None:
        path = Path(FOLDER, uri.rpartition("/")[2])
        document = TextDocument(uri, self._disk_text(path.name) or "")
        text = self._ledger.outbox.send(document, hunk_ids).apply(document.text)
        self._system.add_file(path, text)
        self._ledger.on_disk(uri, text)

    def _accept_file(self, hunk: Hunk) -> None:
        path = Path(FOLDER, hunk.uri.rpartition("/")[2])
        self._ledger.outbox.send_whole(hunk.id)
        match hunk.kind:
            case HunkKind.CREATE:
                self._system.create_file(path, hunk.new)
            case HunkKind.MOVE:
                new = Path(FOLDER, hunk.new_uri.rpartition("/")[2])
                self._system.move_file(path, new)
            case _:
                self._system.trash(path)
        self._ledger.outbox.confirm_whole(hunk.id)
        if hunk.kind is HunkKind.MOVE:
            self._ledger.renamed(hunk.uri, hunk.new_uri)

    def _disk_text(self, name: str) -> str | None:
        path = Path(FOLDER, name)
        stat = self._system.stat(path)
        return None if stat is None else self._system.read_bytes(path, stat.size).decode()

    def _existing(self) -> str:
        names = [name for name in NAMES if name in self._files]
        return self._dice.choice(names) if names else ""

    def _missing(self) -> str:
        names = [name for name in NAMES if name not in self._files]
        return self._dice.choice(names) if names else ""

    def _text(self) -> str:
        return "".join(self._line() for _ in range(self._dice.randrange(1, 5)))

    def _line(self) -> str:
        return f"w{next(self._words)}\n"

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return run_session(work, lambda: None)


def _uri(name: str) -> str:
    return uri_at(f"{FOLDER}/{name}")
