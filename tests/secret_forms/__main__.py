"""`python -m tests.secret_forms [--missed] [FOLDER ...]`: how many examples are marked, and how
many places in packages.

What is missed is listed for the tuned half only: rules are made from that. With `--missed` it is
listed for each list, which spoils those for measuring. In the folders every text file of at most 2
MB is read.
"""

import sys
from collections import Counter
from pathlib import Path

from stet.privacy.secrets import find_secrets
from tests.secret_forms.forms import (
    SEEDS,
    halves,
    layouts,
    layouts_later,
    misses,
    unseen,
    unseen_later,
)

_MOST_BYTES = 2_000_000


def _texts(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= _MOST_BYTES
    )


tuned, held_out = halves()
lists = (
    ("tuned", tuned),
    ("held out", held_out),
    ("unseen", [*unseen()]),
    ("layouts", [*layouts()]),
    ("unseen2", [*unseen_later()]),
    ("layouts2", [*layouts_later()]),
)
for name, chosen in lists:
    missed = Counter(form.name for form, _ in misses(chosen))
    n_examples = len(chosen) * len(SEEDS)
    share = 100 - 100 * missed.total() / n_examples
    _ = sys.stdout.write(
        f"{name}: {len(chosen)} forms, {n_examples} examples, {share:.1f} % marked\n"
    )
    if chosen is tuned or "--missed" in sys.argv:
        _ = sys.stdout.write("".join(f"  {one}: {n}\n" for one, n in missed.most_common()))
for given in (one for one in sys.argv[1:] if one != "--missed"):
    n_lines = n_places = n_files = 0
    for path in _texts(Path(given)):
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            continue
        found = len(find_secrets(text))
        n_lines, n_places, n_files = n_lines + text.count("\n") + 1, n_places + found, n_files + 1
    _ = sys.stdout.write(
        f"{given}: {n_places} places in {n_lines} lines of {n_files} files, "
        f"{1e5 * n_places / max(1, n_lines):.2f} in 100,000 lines\n"
    )
