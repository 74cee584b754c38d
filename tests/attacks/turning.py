"""`python -m tests.attacks.turning [TRIES]`: read a file 100,000 times while a link is replaced.

As often, a file is created, moved or put into the trash while its folder is swapped for a link.
"""

import ctypes
import multiprocessing
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stet.system.system import System
from stet.workspace.snapshot import NotShown
from stet.workspace.uris import uri_of
from stet.workspace.workspace import Workspace
from tests.support.settings_parsing import parse_settings


def turned(top: Path, tries: int) -> dict[str, int]:
    """Read while a thread replaces a link; count how often each text was read or refused."""
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

    world = Workspace(System(), parse_settings({}).settings)
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


def changed(top: Path, tries: int) -> dict[str, int]:
    """Change files while their folder is swapped; count changes, refusals and changes outside.

    The folder is swapped for a link that leads outside.
    """
    n = {"changed": 0, "refused": 0, "outside": 0}
    folder = top / "ws/folder"
    for each in (folder, top / "outside"):
        each.mkdir(parents=True)
    (top / "ws/link").symlink_to(top / "outside")
    # Open descriptors identify both folders, wherever their names lead.
    inside, outside = (os.open(each, os.O_RDONLY) for each in (folder, top / "outside"))
    try:
        with swapping(folder, top / "ws/link"):
            for at in range(tries):
                taken = folder / f"taken{at}"
                for where in (inside, outside):
                    os.close(os.open(taken.name, os.O_CREAT | os.O_EXCL, dir_fd=where))
                n["changed" if _change(taken, at) else "refused"] += 1
                n["outside"] += _emptied(outside) != [taken.name]
                _emptied(inside)
    finally:
        os.close(inside)
        os.close(outside)
    return n


def _change(taken: Path, at: int) -> bool:
    """Create a file, move a file in, move a file out or trash a file, chosen by `at`."""
    system, new, beside = System(), taken.with_name(f"new{at}"), taken.parents[1] / f"beside{at}"
    try:
        if at % 4 == 0:
            system.create_file(new, "new")
        elif at % 4 == 1:
            beside.write_text("beside")
            system.move_file(beside, new)
        elif at % 4 == 2:
            system.move_file(taken, beside)
        else:
            system.trash(taken)
    except OSError:
        return False
    return True


def _emptied(folder: int) -> list[str]:
    """Return the names in an open folder and delete their files."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries]
    for name in names:
        os.unlink(name, dir_fd=folder)
    return names


@contextmanager
def swapping(one: Path, other: Path) -> Iterator[None]:
    """Swap two names all the time in another process."""
    process = multiprocessing.get_context("spawn").Process(target=_swap, args=(one, other))
    before = one.is_symlink()
    process.start()
    try:
        while one.is_symlink() == before:
            pass  # the process is starting
        yield
    finally:
        process.kill()
        process.join()


def _swap(one: Path, other: Path) -> None:
    library, names = ctypes.CDLL(None), (os.fsencode(one), os.fsencode(other))
    while True:
        if sys.platform == "darwin":
            library.renamex_np(*names, 2)
        else:
            library.renameat2(-100, names[0], -100, names[1], 2)


def main() -> int:
    """Print what was read and changed; return 1 if a file outside was read or changed."""
    tries = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        top = Path(os.path.realpath(folder))
        os.environ["XDG_STATE_HOME"] = str(top / "state")
        read, done = turned(top / "read", tries), changed(top / "changed", tries)
    for what, n in (("read", read), ("done", done)):
        reported = ", ".join(f"{times:,} {how}" for how, times in n.items())
        _ = sys.stdout.write(f"{tries:,} tries, {what}: {reported}\n")
    return int("outside/a.md" in read or done["outside"] > 0)


if __name__ == "__main__":
    sys.exit(main())
