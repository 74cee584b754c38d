"""`python -m tests.names [--missed] [FOLDER ...]`: print the rates of the rules on the tables.

With `--missed` also the names of the tuning halves that no rule knows; folders (of installed
packages, say) are searched for names that are taken for secrets.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.names.rates import Rule, asks, hides, missed, privacy, rate, share
from tests.names.tables import (
    LATER,
    Entry,
    protected,
    protected_later,
    secrets,
    secrets_later,
    touched,
)


def main(arguments: list[str]) -> None:
    """Print a row for each table and half, and for what is ordinary."""
    for title, entries, rule in (("protected", protected(), asks), ("secret", secrets(), hides)):
        _print(title, entries, rule)
        if "--missed" in arguments:
            _say(f"  {missed([one for one in entries if not one.is_held_out], rule)}")
    later = [(f"protected, list {n}", protected_later(n), asks) for n in LATER]
    later += [(f"secret, list {n}", secrets_later(n), hides) for n in LATER]
    for title, entries, rule in later:
        _say(f"{title} ({len(entries)}): {rate(entries, rule):.2%}")
        if "--missed" in arguments:
            _say(f"  {missed(entries, rule)}")
    names = [one.name for one in touched()]
    _say(f"touched by patches ({len(names)}): {share(names, asks):.2%} ask for a yes of their own")
    _say(f"touched by patches: {share(names, hides):.3%} taken for secrets")
    for folder in (argument for argument in arguments if not argument.startswith("--")):
        _search(Path(folder))


def _print(title: str, entries: list[Entry], rule: Rule) -> None:
    for half, is_held_out in (("tuning", False), ("held out", True)):
        part = [one for one in entries if one.is_held_out is is_held_out]
        _say(f"{title}, {half} ({len(part)}): {rate(part, rule):.2%}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _search(folder: Path) -> None:
    filtered, names = privacy(), list(_files(folder))
    found = [name for name in names if hides(name, filtered)]
    _say(f"{folder} ({len(names)} files): {len(found)} taken for secrets")
    _say(f"  {found[:200]}")


def _files(folder: Path) -> Iterator[str]:
    for top, _, files in os.walk(folder):
        yield from (os.path.relpath(Path(top, file), folder) for file in files)


if __name__ == "__main__":
    main(sys.argv[1:])
