"""Whether this system isolates programs: a process that tries it (`python -m …`), and its caller.

The process prints `available`, or why isolation is not.
"""

import os
import sys
import tempfile
from pathlib import Path

from stet.system.helper_process import helper_environment, module_command, output_of
from stet.system.system import System

_SECONDS = 10.0
_AVAILABLE = "available"
_NO_PROGRAM = (sys.executable, "-I", "-S", "-c", "")


async def isolation_fault(system: System) -> str:
    """Return why programs can't be isolated here, or "" if they can."""
    if sys.platform != "linux":
        return "only Linux has overlay mounts"
    try:
        folder = str(system.cache_folder())
        command = [*module_command(__name__), folder]
        output = await output_of(system, command, _SECONDS, env=helper_environment(system))
    except OSError as error:
        return f"the check failed: {error}"
    answer = output.decode(errors="replace").strip()
    return "" if answer == _AVAILABLE else answer or "the check failed"


def main(cache: str) -> None:
    """Print whether a program can be isolated with layers in the folder `cache`."""
    from stet.system.overlay import IsolationUnavailable, Overlay, start_isolated  # Linux only

    with tempfile.TemporaryDirectory(dir=cache, prefix="overlay-") as base:
        folder = Path(base).resolve()
        overlay = Overlay(*(folder / name for name in ("folder", "seed", "upper", "work")))
        hidden = folder / "hidden"
        for path in (*overlay, hidden):
            path.mkdir()
        try:
            process = start_isolated(_NO_PROGRAM, folder, [overlay], hidden, "probe")
        except IsolationUnavailable as unavailable:
            sys.stdout.write(str(unavailable))
        else:
            _, status = os.waitpid(process, 0)
            sys.stdout.write(_AVAILABLE if status == 0 else "the program ended early")


if __name__ == "__main__":
    main(sys.argv[1])
