"""A folder of files with a search index that tests drive step by step."""

from pathlib import Path

from stet.search.index_builder import IndexBuilder
from stet.search.index_source import IndexSource, settings_of
from stet.search.index_store import IndexStore
from stet.search.search_engine import ChunkQuery, SearchEngine
from stet.workspace.paths import Root
from stet.workspace.uris import uri_of


class IndexLibrary:
    """A folder with its index."""

    def __init__(self, root: Path, path: Path | str = ":memory:", **settings: object) -> None:
        self.root = root
        self.read: list[str] = []
        reported = {"excluded": [], "deny": [], "maxFileBytes": 1_000_000, **settings}
        roots = (Root(uri_of(root), root, root.name),)
        self.ground = IndexSource.of(roots, settings_of(reported))
        self.store = IndexStore(path)
        self.engine = SearchEngine(self.store)
        self.builder = IndexBuilder(self.ground, self.store, self.engine, self.read.extend)

    def uri(self, name: str) -> str:
        """Return the URI of a file by its name below the folder."""
        return uri_of(self.root / name)

    def write(self, name: str, text: str | bytes) -> None:
        """Write a file without notifying the index."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def close(self) -> None:
        """Close the builder and the store."""
        self.builder.close()
        self.store.close()

    def settle(self) -> None:
        """Run all remaining steps."""
        while self.builder.step():
            pass

    def scan(self) -> None:
        """Scan the whole folder."""
        self.read.clear()
        self.builder.scan()
        self.settle()

    def change(self, *names: str) -> None:
        """Notify the index of changed files."""
        self.read.clear()
        self.builder.changed([self.uri(name) for name in names])
        self.settle()

    def find(self, text: str) -> list[str]:
        """Return the names of the files found for a text."""
        return sorted({hit.file for hit in self.engine.search(ChunkQuery(text))})
