"""The link graph of a large workspace: update after one change, and three steps around a file."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from stet.links.link_scan import LinkCache, scan_links
from stet.system.system import System
from stet.workspace.uris import uri_of
from stet.workspace.workspace import Workspace
from tests.bench.corpus import make_workspace
from tests.bench.table import Row, at_most

N_CHANGES = 20
N_WALKS = 400
DEPTH = 3


def rows() -> Iterator[Row]:
    """Yield milliseconds, measured in this process."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "ws"
        texts = make_workspace(root)
        workspace = Workspace(System())
        workspace.add_root(uri_of(root))
        cache = LinkCache()
        begun = perf_counter()
        graph = scan_links(workspace.snapshot(), cache)
        graph.neighbours(uri_of(root / min(texts)), DEPTH)
        yield Row("link graph, cold", "s", perf_counter() - begun, in_detail=True)
        python = [name for name in sorted(texts) if name.endswith(".py")]
        changed = python[:: len(python) // N_CHANGES][:N_CHANGES]
        times = []
        for name in changed:
            (root / name).write_text(f"import {Path(python[0]).stem}\n{texts[name]}")
            begun = perf_counter()
            graph = scan_links(workspace.snapshot(), cache)
            graph.outgoing(uri_of(root / name))
            times.append(1000 * (perf_counter() - begun))
        what = "link graph, one file changed"
        yield Row(what, "ms", median(times), must=at_most(50), aim=at_most(3))
        walks = []
        for name in sorted(texts)[:: max(1, len(texts) // N_WALKS)]:
            uri = uri_of(root / name)
            begun = perf_counter()
            graph.neighbours(uri, DEPTH)
            walks.append(1000 * (perf_counter() - begun))
        what = "link graph, depth 3 walk"
        yield Row(what, "ms", median(walks), must=at_most(5), aim=at_most(0.5))
        yield Row(f"{what}, p99", "ms", quantiles(walks, n=100)[-1], in_detail=True)
