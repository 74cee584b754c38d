"""Stores in a test's folder, and the contents of their files."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from stet.storage.state_store import StateStore
from stet.system.system import System

ROOTS = ("file:///ws",)


class StateIn(System):
    """The real machine with another state folder, and a clock that can be put forward.

    Attributes:
        ahead: Seconds by which both clocks are ahead.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.ahead = 0.0
        self._folder = folder

    def state_folder(self) -> Path:
        """Return `folder`, created if it is missing."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder

    def now(self) -> float:
        """Return the shifted system time."""
        return super().now() + self.ahead

    def monotonic(self) -> float:
        """Return the shifted monotonic time."""
        return super().monotonic() + self.ahead


class TestedStore(StateStore):
    """A store that records its messages to the user.

    Attributes:
        messages: Every message.
        system: The store's machine.
    """

    __test__ = False

    def __init__(
        self,
        folder: Path,
        roots: tuple[str, ...] = ROOTS,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.messages: list[str] = []
        self.system = StateIn(folder)
        super().__init__(self.system, lambda: roots, self.messages.append, wake)

    @property
    def file(self) -> Path:
        """Return the path of the database."""
        return self.folder / "state.db"


@contextmanager
def store_in(
    folder: Path, roots: tuple[str, ...] = ROOTS, wake: Callable[[], None] = lambda: None
) -> Iterator[TestedStore]:
    """Yield a store that is closed at the end."""
    store = TestedStore(folder, roots, wake)
    try:
        yield store
    finally:
        store.close()


def query(file: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    """Run SQL on the file with a separate connection and return the rows; changes are committed."""
    with closing(sqlite3.connect(file)) as connection, connection:
        return connection.execute(sql, values).fetchall()
