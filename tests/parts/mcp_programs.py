"""Programs that test servers of the Model Context Protocol: packages of npm that run in Node."""

from functools import partial
from pathlib import Path

from tests.parts.kept import kept
from tests.parts.npm import npm

CONFORMANCE = "0.1.16"
INSPECTOR = "2.12.0"


def conformance() -> Path:
    """The script of `@modelcontextprotocol/conformance`.

    Raises:
        MissingPart: Where there is no npm, or it can't fetch the package.
    """
    return _installed(f"@modelcontextprotocol/conformance@{CONFORMANCE}") / "conformance"


def inspector() -> Path:
    """The script of `@modelcontextprotocol/inspector`.

    Raises:
        MissingPart: Where there is no npm, or it can't fetch the package.
    """
    return _installed(f"@modelcontextprotocol/inspector@{INSPECTOR}") / "mcp-inspector"


def _installed(package: str) -> Path:
    """The folder of the scripts of a package and of what it depends on."""
    part = f"mcp-{package.rpartition('/')[2].replace('@', '-')}"
    folder = kept(part, partial(_install, package))
    return folder / "node_modules" / ".bin"


def _install(package: str, folder: Path) -> None:
    npm(folder, "install", package, "--prefix", str(folder))
