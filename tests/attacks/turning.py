"""`python -m tests.attacks.turning [TRIES]`: a file is read while somebody turns a link, 100,000 times."""

import os
import sys
import tempfile
import threading
from pathlib import Path

from stet.settings.parse import parse
from stet.system.os_system import OsSystem
from stet.workspace.snapshot import NotShown
from stet.workspace.uris import uri_of
from stet.workspace.workspace import Workspace


def turned(top: Path, tries: int) -> dict[str, int]:
    """How often each text was read, or reading refused, beside a thread that turns a link."""
    for name in ("ws/folder/a.md", "outside/a.md"):
        (top / name).parent.mkdir(parents=True)
        (top / name).write_text(name)
    link, beside, over = top / "ws/link", top / "ws/beside", threading.Event()
    link.symlink_to("folder")

    def turn() -> None:
        while not over.is_set():
            for target in ("folder", "../outside"):
                beside.symlink_to(target)
                beside.replace(link)

    world = Workspace(OsSystem(), parse({}).settings)
    world.add_root(uri_of(top / "ws"))
    snapshot, uri, read = world.snapshot(), uri_of(link / "a.md"), {"refused": 0}
    thread = threading.Thread(target=turn)
    thread.start()
    try:
        for _ in range(tries):
            try:
                text = snapshot.show(uri).text
            except NotShown:
                text = "refused"
            read[text] = read.get(text, 0) + 1
    finally:
        over.set()
        thread.join()
    return read


def main() -> int:
    """Print what was read; 1 if anything was from outside."""
    tries = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        read = turned(Path(os.path.realpath(folder)), tries)
    n_outside = read.get("outside/a.md", 0)
    told = ", ".join(f"{n:,} {text}" for text, n in read.items())
    _ = sys.stdout.write(f"{tries:,} tries: {told}; {n_outside} reads outside\n")
    return int(n_outside > 0)


if __name__ == "__main__":
    sys.exit(main())
