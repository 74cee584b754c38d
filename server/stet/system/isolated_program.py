"""Programs that start in overlays, as a process of their own (`python -m …`) and its callers.

The process moves itself into the overlays and becomes the program, so that the program has its
process id, streams and process group. Without a program, the process prints `available`, or why
the overlays are not.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stet.system.helper_process import helper_environment, module_command, output_of
from stet.system.overlay import Overlay, become, enter_overlays, isolation_reason
from stet.system.system import System

SECONDS = 10.0
"""The time limit of a check."""
FAILED = 125
"""The exit code of a process that could not become the program; the reason is on stderr."""
_AVAILABLE = "available"


class IsolationLayers(NamedTuple):
    """What a program sees.

    Attributes:
        overlays: The folders with their layers; none is below another one.
        hidden: A folder that is empty for the program: it holds the layers.
        session: The name of the session, for `isolated_session`.
    """

    overlays: Sequence[Overlay]
    hidden: Path
    session: str


def isolated_command(layers: IsolationLayers, argv: Sequence[str], cwd: Path) -> list[str]:
    """Return the command line that starts a program in overlays; it ends with this process.

    Args:
        layers: What the program sees.
        argv: The program, found by the PATH, and its arguments.
        cwd: The working folder of the program.
    """
    place = {
        "overlays": [[str(path) for path in one] for one in layers.overlays],
        "hidden": str(layers.hidden),
        "session": layers.session,
        "cwd": str(cwd),
        "parent": os.getpid(),
    }
    return [*module_command(__name__), json.dumps(place), *argv]


async def layers_fault(system: System, layers: IsolationLayers) -> str:
    """Return why a program can't be started in these overlays, or "" if one can."""
    if sys.platform != "linux":
        return "only Linux has overlay mounts"
    command = isolated_command(layers, (), Path("/"))
    try:
        output = await output_of(system, command, SECONDS, env=helper_environment(system))
    except TimeoutError:
        return "the check took too long"
    except OSError as error:
        return f"the check failed: {error}"
    answer = output.decode(errors="replace").strip()
    return "" if answer == _AVAILABLE else answer or "the check failed"


def main(place: Mapping[str, Any], argv: Sequence[str]) -> int:
    """Become the program, or print whether a program can be started; return the exit code."""
    overlays = [Overlay(*map(Path, one)) for one in place["overlays"]]
    try:
        enter_overlays(overlays, Path(place["hidden"]), place["session"])
    except OSError as error:
        reason = isolation_reason(error)
        if not argv:
            sys.stdout.write(reason)
            return 0
        sys.stderr.write(f"stet: the program can't be isolated: {reason}\n")
        return FAILED
    if not argv:
        sys.stdout.write(_AVAILABLE)
        return 0
    return become(argv, Path(place["cwd"]), parent=place["parent"])


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
