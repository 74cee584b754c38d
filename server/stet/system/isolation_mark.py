"""How a program sees that it runs in an overlay of Stet: by the source of the mount.

Only who may mount can put it there: a variable of the environment could be set by a project. `stet
hook` imports this module for each tool of an agent, so it imports nothing that takes long.
"""

import os
import re
from pathlib import Path

PREFIX = "stet:"
"""The beginning of the source of a mount; the name of the session follows."""
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\([0-7]{3})")


def isolated_session(path: str) -> str:
    """Return the session in whose overlay this process sees `path`, or ""."""
    real = Path(os.path.realpath(path))
    try:
        lines = _MOUNTS.read_bytes().decode(errors="surrogateescape").splitlines()
    except OSError:  # another system
        return ""
    for line in lines:
        mount, _, about = line.partition(" - ")
        kind, source, *_ = (*about.split(" "), "", "")
        if kind == "overlay" and source.startswith(PREFIX):
            folder = _ESCAPE.sub(lambda escape: chr(int(escape[1], 8)), mount.split(" ")[4])
            if real.is_relative_to(folder):
                return source.removeprefix(PREFIX)
    return ""
