"""Writing files that an isolated program sees: a process that joins its namespaces (`python -m …`).

A file below a mounted overlay must not be changed past the overlay: the program might go on with
either text. The process is a helper of the server, with the rights of the user; it follows no link
that the program has made.
"""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stet.system.helper_process import helper_environment, module_command, output_of
from stet.system.isolation_mark import isolated_session
from stet.system.no_follow import pin_path
from stet.system.overlay import join_namespaces
from stet.system.system import System

SECONDS = 10.0
"""The time limit of the process."""


async def write_in_namespace(
    system: System, process: int, session: str, files: Mapping[Path, str | None]
) -> list[str]:
    """Write files as an isolated program sees them.

    Args:
        system: The system that starts the process.
        process: The process id of the program.
        session: The name of the session in whose overlays the files are written.
        files: By real path, the text, or None to remove the file.

    Returns:
        The paths that could not be written.

    Raises:
        OSError: If the process fails.
        TimeoutError: If the process takes too long.
    """
    wanted = [[str(path), text] for path, text in files.items()]
    task = json.dumps({"process": process, "session": session, "files": wanted}).encode()
    command = module_command(__name__)
    output = await output_of(system, command, SECONDS, task, helper_environment(system))
    try:
        failed = json.loads(output)
    except ValueError:
        raise OSError("the namespaces of the program can't be joined") from None
    return [str(path) for path in failed]


def main(task: Mapping[str, Any]) -> list[str]:
    """Write the files of a task; return the paths that could not be written.

    Raises:
        OSError: If the namespaces can't be joined.
    """
    join_namespaces(int(task["process"]))
    failed = []
    for path, text in task["files"]:
        try:
            _write(Path(path), text, task["session"])
        except OSError:
            failed.append(path)
    return failed


def _write(path: Path, text: str | None, session: str) -> None:
    """Write one file, through no link; it keeps its mode.

    Raises:
        OSError: If it can't be written, or is in no overlay of the session.
    """
    if isolated_session(str(path)) != session:
        raise PermissionError(f"{path} is in no overlay of the session")
    with pin_path(path, make=text is not None) as pinned:
        if text is None:
            pinned.remove()
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
        with os.fdopen(os.open(pinned.name, flags, 0o666, dir_fd=pinned.folder), "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(json.load(sys.stdin))))
