"""The descriptor of a running server: its process, its folders, and the address of its socket.

Each server has one JSON file in the runtime folder, `serve-PID.json`, which only the user may read.
`stet hook` imports this module for each tool of an agent, so it imports nothing that takes long.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from stet.system.process_id import is_alive

PREFIX, SUFFIX = "serve-", ".json"
SHADOW = "shadow"
"""The folder beside the descriptors with the copies that agents edit, by the server's process."""


class Descriptor(NamedTuple):
    """How a running server is reached.

    Attributes:
        pid: The process id of the server.
        started: When the server opened its socket, in seconds since the epoch.
        version: The version of Stet.
        roots: The absolute paths of the workspace folders; empty if the editor has named none.
        socket: The path of a Unix socket; "" if the system has no such sockets.
        port: The port on the loopback interface if there is no Unix socket; else 0.
        token: What the first line of a connection to the port must hold; "" with a Unix socket.
    """

    pid: int
    started: float
    version: str
    roots: tuple[str, ...]
    socket: str = ""
    port: int = 0
    token: str = ""

    def contains(self, path: str) -> bool:
        """Return whether a folder of the server is `path` or contains it; `path` has no links."""
        return any(path == root or path.startswith(_with_slash(root)) for root in self.roots)


def path_of_descriptor(folder: Path, pid: int) -> Path:
    """Return the path of the descriptor of a process."""
    return folder / f"{PREFIX}{pid}{SUFFIX}"


def path_of_socket(folder: Path, pid: int) -> Path:
    """Return the path of the Unix socket of a process."""
    return folder / f"{PREFIX}{pid}.sock"


def shadow_path(folder: Path, pid: int) -> Path:
    """Return the path of the folder with the copies that agents edit, of one server."""
    return folder / SHADOW / str(pid)


def write_descriptor(folder: Path, descriptor: Descriptor) -> None:
    """Write a descriptor that only the user may read, in one step.

    Raises:
        OSError: If the descriptor can't be written.
    """
    path = path_of_descriptor(folder, descriptor.pid)
    new = path.with_suffix(".new")
    opened = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(opened, "w", encoding="utf-8") as file:
        json.dump(descriptor._asdict(), file)
    new.replace(path)


def remove_descriptor(folder: Path, pid: int) -> None:
    """Remove the descriptor and the socket of a process, if they exist."""
    for path in (path_of_descriptor(folder, pid), path_of_socket(folder, pid)):
        with suppress(OSError):
            path.unlink(missing_ok=True)


def read_descriptors(folder: Path) -> list[Descriptor]:
    """Return the descriptors of the running servers, the newest first.

    A file that a killed server has left is removed.
    """
    found = sorted(_read_all(folder), key=lambda one: one.started, reverse=True)
    return [one for one in found if _is_alive_or_removed(folder, one)]


def _read_all(folder: Path) -> Iterator[Descriptor]:
    for path in folder.glob(f"{PREFIX}*{SUFFIX}"):
        try:
            yield _parse(json.loads(path.read_bytes()))
        except (OSError, ValueError, TypeError, KeyError):
            continue  # of another version, or removed meanwhile


def _parse(values: dict[str, object]) -> Descriptor:
    """Return a descriptor from the JSON of its file.

    Raises:
        TypeError: If a value has another type.
        KeyError: If a value is missing.
    """
    roots = values["roots"]
    if not isinstance(roots, Sequence):
        raise TypeError(roots)
    return Descriptor(
        int(str(values["pid"])),
        float(str(values["started"])),
        str(values["version"]),
        tuple(str(root) for root in roots),
        str(values["socket"]),
        int(str(values["port"])),
        str(values["token"]),
    )


def _is_alive_or_removed(folder: Path, descriptor: Descriptor) -> bool:
    """Return whether the process of a descriptor exists; otherwise remove what it has left."""
    if is_alive(descriptor.pid):
        return True
    remove_descriptor(folder, descriptor.pid)
    copies = shadow_path(folder, descriptor.pid)
    if copies.is_dir() and not copies.is_symlink():
        import shutil  # late: only after an agent has worked with a server that was killed

        shutil.rmtree(copies, ignore_errors=True)
    return False


def _with_slash(root: str) -> str:
    return root if root.endswith(os.sep) else root + os.sep
