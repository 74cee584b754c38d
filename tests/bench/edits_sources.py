"""Sources of edits: hunks of any git history, and made-up edits of installed sources."""

import random
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MAX_LINES = 4_000
"""Longer files are skipped: they are data, and cost time."""
_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_WORD = re.compile(r"[A-Za-z_]\w+")


@dataclass(frozen=True, slots=True)
class Change:
    """A replacement of some lines of a file.

    Attributes:
        origin: A description of the source, for display.
        before: The text of the file before the change.
        first: The first changed line, 0-based; the position of `new` if `old` is empty.
        old: The replaced lines, without line ends.
        new: The lines that replace `old`.
    """

    origin: str
    before: str
    first: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def is_plain(text: str) -> bool:
    r"""Tell whether the lines of `text` are what git takes for lines: no lone `\r`, no mark."""
    return (
        bool(text)
        and text.count("\r") == text.count("\r\n")
        and not text.startswith("\ufeff")
        and text.count("\n") <= MAX_LINES
    )


def contents(text: str) -> list[str]:
    """Split a text into lines without their ends; a final line end adds no line."""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def from_history(repo: Path, rng: random.Random, limit: int) -> Iterator[Change]:
    """Yield at most `limit` hunks of the commits of `repo`, in random order."""
    found = list(_hunks(repo))
    rng.shuffle(found)
    with subprocess.Popen(
        ["git", "-C", str(repo), "cat-file", "--batch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        blob = cache(lambda name: _blob(process, name))
        n = 0
        for path, before, after, (old, n_old, new, n_new) in found:
            if n == limit:
                break
            texts = blob(before), blob(after)
            if texts[0] is None or texts[1] is None:
                continue
            first, new_first = old - bool(n_old), new - bool(n_new)
            lines, new_lines = contents(texts[0]), contents(texts[1])
            change = Change(
                f"{repo.name}:{path}@{before[:9]}",
                texts[0],
                first,
                tuple(lines[first : first + n_old]),
                tuple(new_lines[new_first : new_first + n_new]),
            )
            if change.old != change.new:
                n += 1
                yield change


def _hunks(repo: Path) -> Iterator[tuple[str, str, str, tuple[int, int, int, int]]]:
    """Yield every hunk of every commit: path, blob before, blob after, numbers of its `@@`."""
    argv = [
        *("git", "-C", str(repo), "log", "-p", "-U0", "--no-merges", "--no-renames", "--no-color"),
        *("--no-ext-diff", "--no-textconv", "--full-index", "--diff-filter=M", "--format="),
    ]
    shown = subprocess.run(argv, capture_output=True, check=True).stdout
    path = before = after = ""
    for line in shown.split(b"\n"):
        if line.startswith(b"diff --git "):
            path = line.partition(b" b/")[2].decode(errors="replace")
        elif line.startswith(b"index "):
            before, _, after = line.split()[1].decode().partition("..")
        elif numbers := _HUNK.match(line):
            a, b, c, d = (1 if one is None else int(one) for one in numbers.groups())
            yield path, before, after, (a, b, c, d)


def _blob(process: subprocess.Popen[bytes], name: str) -> str | None:
    """Return the text of a blob; None if the text is not plain."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(name.encode() + b"\n")
    process.stdin.flush()
    header = process.stdout.readline().split()
    if header[1] != b"blob":
        return None
    data = process.stdout.read(int(header[2]))
    process.stdout.read(1)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if is_plain(text) else None


def from_sources(folder: Path, rng: random.Random, limit: int) -> Iterator[Change]:
    """Yield `limit` edits made up for the Python files below `folder`."""
    texts = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_bytes().decode()
        if is_plain(text) and text.count("\n") > 20:
            texts.append((f"{folder.name}:{path.relative_to(folder)}", text, contents(text)))
    n = 0
    while n < limit:
        name, text, lines = rng.choice(texts)
        first = rng.randrange(len(lines))
        how = rng.choice(("words", "words", "insert", "delete", "replace", "wrap"))
        n_old = 0 if how == "insert" else min(rng.choice((1, 1, 2, 3, 6)), len(lines) - first)
        old = lines[first : first + n_old]
        new = _made_up(how, old, lines, rng)
        if new != old:
            n += 1
            yield Change(name, text, first, tuple(old), tuple(new))


def _made_up(how: str, old: list[str], lines: Sequence[str], rng: random.Random) -> list[str]:
    """Return the lines that a made-up edit writes for the lines `old`."""
    match how:
        case "words":
            word = rng.choice(_WORD.findall(" ".join(lines)))
            return [_WORD.sub(word, line, count=rng.randrange(1, 3)) for line in old]
        case "delete":
            return []
        case "wrap":
            margin = old[0][: len(old[0]) - len(old[0].lstrip())]
            return [
                f"{margin}if {rng.choice(('ready', 'x > 0'))}:",
                *("    " + one if one.strip() else one for one in old),
            ]
    at = rng.randrange(len(lines))
    borrowed = lines[at : at + rng.randrange(1, 5)]
    word = rng.choice(("value", "changed", "result_2"))
    return [_WORD.sub(word, line, count=1) for line in borrowed]
