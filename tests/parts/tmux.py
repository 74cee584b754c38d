"""tmux, the terminal that editors with a screen are driven in: the machine's own, else unpacked."""

import shutil

from tests.parts.debian import unpacked


def ensure() -> list[str]:
    """The beginning of its command line.

    Raises:
        MissingPart: It isn't on the PATH, and can't be had on this machine.
    """
    if (installed := shutil.which("tmux")) is not None:
        return [installed]
    part = unpacked("tmux", None, ("tmux",), dependencies=True)
    return part.command("usr/bin/tmux")
