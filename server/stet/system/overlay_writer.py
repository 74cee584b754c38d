"""Write files as a program in an overlay sees them, through no link that the program has made.

A process in the namespaces of the program does this: a hook of the program, or
`stet.system.namespace_writer`. `stet hook` imports this module, so it imports nothing that takes
long.
"""

import os
from pathlib import Path

from stet.system.isolation_mark import isolated_session
from stet.system.no_follow import check_regular, pin_path

_WRITE = (
    os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    # Opening a pipe without a reader would block.
    | getattr(os, "O_NONBLOCK", 0)
)  # fmt: skip


def write_in_overlay(path: Path, text: str | None, session: str) -> None:
    """Write one file of a session, or remove it; an existing file keeps its mode.

    Args:
        path: The real path of the file outside of the overlay.
        text: The text of the file, or None to remove the file.
        session: The session in whose overlay this process sees the file.

    Raises:
        OSError: If the file can't be written, a part of the path is a link, or the file is in no
            overlay of the session.
    """
    if isolated_session(str(path)) != session:
        raise PermissionError(f"{path} is in no overlay of the session")
    with pin_path(path, make=text is not None) as pinned:
        if text is None:
            pinned.remove()
            return
        with os.fdopen(os.open(pinned.name, _WRITE, 0o666, dir_fd=pinned.folder), "wb") as file:
            check_regular(os.fstat(file.fileno()), path)
            file.truncate()
            file.write(text.encode("utf-8", "surrogatepass"))
