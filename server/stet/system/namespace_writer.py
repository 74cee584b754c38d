"""Writing files that an isolated program sees: a process that joins its namespaces (`python -m …`).

A file below a mounted overlay must not be changed past the overlay: the program might go on with
either text. The process is a helper of the server, with the rights of the user.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stet.system.helper_process import helper_environment, module_command, output_of
from stet.system.overlay import join_namespaces
from stet.system.overlay_writer import write_in_overlay
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
            write_in_overlay(Path(path), text, task["session"])
        except OSError:
            failed.append(path)
    return failed


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(json.load(sys.stdin))))
