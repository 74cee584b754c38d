"""Language servers of others, to be measured beside ours: packages of npm, run with the same
Node.
"""

from functools import partial
from pathlib import Path

from tests.parts.kept import kept
from tests.parts.npm import npm

LIBRARY = ("vscode-languageserver@10.1.2", "vscode-languageserver-textdocument@1.0.16")
"""Microsoft's library for servers in Node."""
COPILOT = ("@github/copilot-language-server@1.539.0",)
"""It answers without an account; what it completes with stays shut."""


def library() -> Path:
    """The folder whose `node_modules` has Microsoft's library.

    Raises:
        MissingPart: There is no npm, or it can't fetch it.
    """
    return _installed("node-language-server", LIBRARY)


def copilot() -> Path:
    """The script of GitHub Copilot's language server.

    Raises:
        MissingPart: There is no npm, or it can't fetch it.
    """
    modules = _installed("copilot-language-server", COPILOT) / "node_modules"
    return modules / "@github" / "copilot-language-server" / "dist" / "language-server.js"


def _installed(name: str, packages: tuple[str, ...]) -> Path:
    version = packages[0].rpartition("@")[2]
    return kept(f"{name}-{version}", partial(_install, packages))


def _install(packages: tuple[str, ...], folder: Path) -> None:
    # Copilot's optional packages are its programs for each platform, half a gigabyte that Node spares.
    npm(folder, "install", "--omit=optional", *packages)
