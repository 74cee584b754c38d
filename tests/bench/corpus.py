"""The workspace for measurements: the source of the largest installed packages."""

import sys
from pathlib import Path

from stet.workspace.disk_text import MAX_FILE_BYTES

N_PACKAGES = 5
N_FILES = 4_200
"""The number of files that the budgets assume; larger sources are thinned evenly."""
ENDINGS = frozenset({".py", ".pyi", ".md", ".rst", ".txt", ".c", ".h", ".toml"})


def make_workspace(root: Path) -> dict[str, str]:
    """Copy the packages with the most files; return their texts by name."""
    texts: dict[str, str] = {}
    for folder in _largest_packages():
        for path in sorted(folder.rglob("*")):
            if path.suffix not in ENDINGS:
                continue
            text = path.read_text(errors="replace")
            if text and len(text.encode()) <= MAX_FILE_BYTES and "\0" not in text:
                texts[str(path.relative_to(folder.parent))] = text
    names = list(texts)
    n_kept = min(len(names), N_FILES)
    kept = {
        name: texts[name] for name in (names[at * len(names) // n_kept] for at in range(n_kept))
    }
    for name, text in kept.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return kept


def _largest_packages() -> list[Path]:
    """Return the packages with the most files, of all on this Python's search path."""
    sites = [Path(each) for each in sys.path if each.endswith("site-packages")]
    packages = [
        (len(list(folder.rglob("*.py*"))), folder)
        for site in sites
        for folder in site.iterdir()
        if folder.is_dir()
    ]
    return [folder for _, folder in sorted(packages, reverse=True)[:N_PACKAGES]]
