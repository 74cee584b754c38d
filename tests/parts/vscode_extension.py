"""Our extension for VS Code, checked, bundled and packed from `client-configs/vscode`."""

import hashlib
import shutil
from functools import cache
from pathlib import Path

from tests.parts.kept import kept
from tests.parts.npm import npm, run

SOURCE = Path(__file__).parents[2] / "client-configs" / "vscode"
NOT_SOURCE = frozenset({"node_modules", "out"})
LOCK = "package-lock.json"
NAME = "stet.vsix"


class BuildFailed(Exception):
    """The extension itself is wrong; the message is what the tools said."""


@cache
def ensure() -> Path:
    """The `.vsix`; made anew when a source or the lock file has changed.

    Raises:
        MissingPart: There is no npm, or it can't fetch what the build needs.
        BuildFailed: The types don't fit, or it can't be bundled or packed.
    """
    return kept(f"vscode-extension-{_digest(sources())}", _make) / NAME


def _make(folder: Path) -> None:
    build = folder / "build"
    for path in sources():
        there = build / path.relative_to(SOURCE)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, there)
    (build / "node_modules").symlink_to(tools())
    if failed := run(build, "npm", "run", "--silent", "package"):
        raise BuildFailed(failed)
    (build / NAME).rename(folder / NAME)
    shutil.rmtree(build)


def _tools(folder: Path) -> None:
    """What `package-lock.json` names; most changes of the source need nothing new."""
    for name in (LOCK, "package.json"):
        shutil.copyfile(SOURCE / name, folder / name)
    npm(folder, "ci")


def tools() -> Path:
    """The `node_modules` that it is built with.

    Raises:
        MissingPart: There is no npm, or it can't fetch them.
    """
    return kept(f"vscode-extension-tools-{_digest([SOURCE / LOCK])}", _tools) / "node_modules"


def sources() -> list[Path]:
    """All that it is made from."""
    return sorted(
        path
        for path in SOURCE.rglob("*")
        if path.is_file()
        and NOT_SOURCE.isdisjoint(path.relative_to(SOURCE).parts)
        and path.suffix != ".vsix"
    )


def _digest(paths: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.relative_to(SOURCE)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
