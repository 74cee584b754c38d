"""Where the index of a workspace is kept, and what is in it, for who only looks."""

import hashlib
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from stet.workspace.uris import canonical


def index_folder(cache: Path, roots: Iterable[str]) -> Path:
    """Return the folder of an index below the cache folder. Each set of roots, given by URI, has
    one folder.
    """
    named = "\n".join(sorted(map(canonical, roots)))
    name = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:20]
    return cache / "workspaces" / name


def count_contents(folder: Path) -> tuple[int, int] | None:
    """How many files and passages the index in `folder` holds; None if there is none. Blocks.

    Raises:
        sqlite3.DatabaseError: If it can't be read.
    """
    path = folder / "index.db"
    if not path.is_file():
        return None
    import sqlite3  # late: the server asks for the folder only

    # Without `mode` a file that goes away meanwhile would be made.
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as database:
        sql = "SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM chunks)"
        n_files, n_chunks = database.execute(sql).fetchone()
    return n_files, n_chunks
