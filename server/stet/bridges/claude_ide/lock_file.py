"""The lock file by which Claude Code finds this server: `ide/PORT.lock` in Claude's folder.

It holds the token of the server, so only the user may read it.
"""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stet.system.process_id import is_alive

IDE_NAME = "Stet"
"""The name that Claude Code shows, and by which Stet knows its own lock files."""
_MAX_BYTES = 65536


@dataclass(frozen=True, slots=True)
class LockFile:
    """What Claude Code is sent by the lock file.

    Attributes:
        folder: The folder of the lock files.
        port: The port on the loopback interface.
        token: What a client must send.
    """

    folder: Path
    port: int
    token: str

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self.folder / f"{self.port}.lock"

    def write(self, roots: Sequence[str]) -> None:
        """Write the file in one step, and remove those of killed servers.

        Args:
            roots: The absolute paths of the workspace folders.

        Raises:
            OSError: If the file can't be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        remove_dead(self.folder)
        values = {
            "pid": os.getpid(),
            "workspaceFolders": list(roots),
            "ideName": IDE_NAME,
            "transport": "ws",
            "authToken": self.token,
        }
        new = self.path.with_suffix(f".{os.getpid()}.new")
        with suppress(FileNotFoundError):
            new.unlink()
        opened = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8") as file:
            json.dump(values, file)
        new.replace(self.path)

    def remove(self) -> None:
        """Remove the file, if it exists."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def lock_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of the lock files, as Claude Code does.

    Raises:
        OSError: If the home folder is unknown.
    """
    if configured := environ.get("CLAUDE_CONFIG_DIR"):
        return Path(configured, "ide")
    if home := environ.get("HOME") or environ.get("USERPROFILE"):
        return Path(home, ".claude", "ide")
    raise OSError("the home folder is unknown")


def remove_dead(folder: Path) -> None:
    """Remove the lock files of Stet whose process has ended; those of others stay."""
    for path in folder.glob("*.lock"):
        with suppress(OSError, ValueError):
            if path.is_symlink() or path.stat().st_size > _MAX_BYTES:
                continue
            values = json.loads(path.read_bytes())
            if not isinstance(values, dict) or values.get("ideName") != IDE_NAME:
                continue
            pid = values.get("pid")
            if type(pid) is int and pid > 0 and not is_alive(pid):
                path.unlink()
