"""`PATH[:L1-L2]`: what a person writes for a file and some of its lines."""

import re
from dataclasses import dataclass
from pathlib import Path

from stet.cli.terminal import CliError


def current_folder() -> Path:
    """Return the folder in which the command was started."""
    return Path().absolute()


_LINES = re.compile(r"(?P<path>.+):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?")
_LANGUAGES = {
    ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".hpp": "cpp", ".cs": "csharp",
    ".css": "css", ".go": "go", ".html": "html", ".java": "java", ".js": "javascript",
    ".mjs": "javascript", ".jsx": "javascriptreact", ".json": "json", ".kt": "kotlin",
    ".lua": "lua", ".md": "markdown", ".markdown": "markdown", ".php": "php", ".py": "python",
    ".pyi": "python", ".rb": "ruby", ".rs": "rust", ".sh": "shellscript", ".sql": "sql",
    ".swift": "swift", ".tex": "latex", ".toml": "toml", ".ts": "typescript",
    ".tsx": "typescriptreact", ".yaml": "yaml", ".yml": "yaml",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileArgument:
    """A file and, perhaps, some of its lines.

    Attributes:
        path: Absolute; links are kept as the user wrote them.
        lines: First and last line, 1-based, both included; None for no choice.
    """

    path: Path
    lines: tuple[int, int] | None = None

    @property
    def language(self) -> str:
        """LSP's name of the file's language, as far as its ending tells."""
        return _LANGUAGES.get(self.path.suffix.lower(), "plaintext")


def parse_file_argument(written: str) -> FileArgument:
    """Read `PATH`, `PATH:L` or `PATH:L1-L2`; a file that is really called so comes first.

    Raises:
        CliError: If there is no such file, or the lines are out of order (a usage error).
    """
    match = _LINES.fullmatch(written)
    if match is None or Path(written).is_file():
        return FileArgument(_existing(written))
    first = int(match["first"])
    last = int(match["last"] or first)
    if not 1 <= first <= last:
        raise CliError(f"{written!r}: lines count from 1, the first before the last", code=2)
    return FileArgument(_existing(match["path"]), (first, last))


def workspace_folder(root: Path | None, file: FileArgument | None) -> Path:
    """Return the requested folder, or else the current folder. If the file lies elsewhere, return
    the file's folder.

    Raises:
        CliError: If the folder asked for is none (a usage error).
    """
    if root is not None:
        if not root.is_dir():
            raise CliError(f"there is no folder {str(root)!r}", code=2)
        return root.absolute()
    if file is not None and not file.path.is_relative_to(current_folder()):
        return file.path.parent
    return current_folder()


def _existing(written: str) -> Path:
    path = Path(written).absolute()
    if not path.is_file():
        raise CliError(f"there is no file {written!r}", code=2)
    return path
