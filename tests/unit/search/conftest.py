"""What most tests of the index's builder begin with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.index_library import IndexLibrary


@pytest.fixture
def library(tmp_path: Path) -> Iterator[IndexLibrary]:
    """A workspace of three files."""
    library = IndexLibrary(tmp_path)
    library.write("src/harbour.py", "def moor(boat):\n    return boat\n")
    library.write("notes/tides.md", "# Tides\n\nThe moon pulls the water.\n")
    library.write("readme.txt", "Boats and harbours.\n")
    library.scan()
    yield library
    library.close()
