"""Where the sockets of this user are."""

from collections.abc import Mapping
from pathlib import Path


def runtime_path(environ: Mapping[str, str]) -> Path:
    """Return the path of the folder for Stet's sockets; the folder may not exist.

    It is in `XDG_RUNTIME_DIR`, or else in the cache folder: not in a folder that all users may
    write.
    """
    given = Path(environ.get("XDG_RUNTIME_DIR", ""))
    if given.is_absolute():
        return given / "stet"
    import platformdirs  # late: `stet hook` runs for each tool of an agent

    return platformdirs.user_cache_path("stet") / "run"
