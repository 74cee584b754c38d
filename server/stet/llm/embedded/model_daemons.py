"""The model daemons of a user: where their files are, and which of them run.

A model daemon is the process of a local model that stays between the questions of `stet ask`; see
`stet.llm.embedded.model_daemon`. There is one for each file of weights and way to run it.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from stet import __version__
from stet.control import peer
from stet.llm.embedded.model_daemon import file_state
from stet.llm.weights.model_folder import RUNTIME
from stet.system.file_lock import FileLock
from stet.system.system import System

IDLE_SECONDS = 300.0
"""The time without a user after which a daemon ends."""
MAX_SOCKET_PATH = 100
"""The most bytes of a socket's path: the systems allow 104 or 108."""
_LOCK, _SOCKET = ".lock", ".sock"


@dataclass(frozen=True, slots=True)
class RunningDaemon:
    """A model daemon that runs.

    Attributes:
        process_id: The id of its process.
        model: The file of weights.
        memory: The bytes of memory that it uses; None if the system does not report them.
    """

    process_id: int
    model: Path
    memory: int | None


@dataclass(frozen=True, slots=True)
class ModelDaemons:
    """The folder of the daemons' files.

    Attributes:
        folder: The folder, which only its user may read.
        idle_seconds: The time without a user after which a new daemon ends.
    """

    folder: Path
    idle_seconds: float = IDLE_SECONDS

    @classmethod
    def of(cls, system: System) -> "ModelDaemons | None":
        """Return the daemons of this user; None where there can be none. It blocks."""
        if not peer.is_supported():
            return None
        try:
            return cls(system.runtime_folder())
        except OSError:
            return None

    def order(self, order: Mapping[str, object]) -> dict[str, object] | None:
        """Return what a daemon for a model is started with. It blocks.

        Args:
            order: How the model is run; see `stet.llm.embedded.llama_server`.

        Returns:
            The order with the paths of the daemon's files, which differ for each file of weights,
            way to run it and version of Stet; None if the path of its socket would be too long.

        Raises:
            OSError: If there is no file of weights.
        """
        state = file_state(str(order["model"]))
        words = json.dumps([order, state, __version__, _runtime_version()], sort_keys=True)
        name = f"model-{hashlib.sha256(words.encode()).hexdigest()[:16]}"
        socket = str(self.folder / f"{name}{_SOCKET}")
        if len(os.fsencode(socket)) > MAX_SOCKET_PATH:
            return None
        lock = str(self.folder / f"{name}{_LOCK}")
        return {
            **order, "socket": socket, "lock": lock, "state": state, "idle": self.idle_seconds
        }  # fmt: skip

    def running(self) -> Iterator[RunningDaemon]:
        """Yield the daemons that run. It blocks."""
        for path in sorted(self.folder.glob(f"model-*{_LOCK}")):
            try:
                if (lock := FileLock.acquire(path)) is not None:
                    lock.release()
                    continue
                found = json.loads(path.read_bytes())
                process_id, model = int(found["pid"]), Path(found["model"])
            except (OSError, ValueError, KeyError):
                continue  # it ends or starts just now
            yield RunningDaemon(process_id, model, _memory_of(process_id))


def _runtime_version() -> str:
    try:
        return version(RUNTIME)
    except PackageNotFoundError:
        return ""


def _memory_of(process_id: int) -> int | None:
    """Return the bytes of memory of a process; None if the system does not report them."""
    try:
        status = Path(f"/proc/{process_id}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else None
