"""The glob patterns that a model writes."""

from stet.tools.tool_errors import ToolError
from stet.workspace.ignore_rules import IgnorePatterns, parse_patterns
from stet.workspace.snapshot import Snapshot


def parse_glob(glob: str, snapshot: Snapshot, example: str) -> IgnorePatterns:
    """Return the patterns for the names of files that `glob` means.

    A pattern may begin with the absolute path of a root or with `./`; a pattern that ends with `/`
    means all files below a folder.

    Args:
        glob: The pattern as the model wrote it.
        snapshot: The snapshot with the roots.
        example: A pattern for the message if `glob` is invalid.

    Raises:
        ToolError: If `glob` is not a valid pattern.
    """
    written = _below_root(glob, snapshot)
    patterns, bad = parse_patterns([f"{written}**" if written.endswith("/") else written])
    if bad:
        raise ToolError(f"{written!r} is not a glob pattern; use one such as `{example}`.")
    return patterns


def _below_root(glob: str, snapshot: Snapshot) -> str:
    """Return a pattern with the name of a root, or nothing, in place of the root's path."""
    if glob.startswith("./"):
        return glob.removeprefix(".")
    # The longest path first: a root may be inside another.
    for root in sorted(snapshot.roots, key=lambda root: len(root.path.parts), reverse=True):
        path = root.path.as_posix().rstrip("/")
        if f"{glob}/".startswith(f"{path}/"):
            name = "" if len(snapshot.roots) == 1 else f"/{root.name}"
            return name + (glob.removeprefix(path) or "/")
    return glob
