"""Values that real editors send, and invalid values."""

import random
from typing import Any

from tests.support.naive_text import NASTY

URIS = (
    "git:/a", "untitled:U1", "untitled:", "file:", "file:///", "file:///%00", "file:///%ff%fe", "",
    "a.py", "vscode-notebook-cell:/a#1", "file:///../..", "\ud800", "file:///\ud800", "%", "http://x/",
    "file://host/share/a", "file:///" + "a" * 5000, "file:///c%3A/a",
)  # fmt: skip
NUMBERS = (0, 0, 0, 1, 2, 3, 5, 8, 40, 99, -1, 2**31, 2**53, 2**70)
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 2**70, "", "x", "\ud800", "\x00", [], {}, [[]], [None], {"a": {}},
    {"uri": 3}, "é" * 300, {"textDocument": None}, [1, 2, 3], 1e300,
)  # fmt: skip
IDS: tuple[Any, ...] = (None, True, 1.5, [], {}, [1], {"id": 1})


def text(dice: random.Random, n_pieces: int) -> str:
    """Join pieces that are difficult for text stores, and words that only the user writes."""
    pieces = [
        f"u{dice.randrange(1 << 40)}x" if dice.random() < 0.4 else dice.choice(NASTY)
        for _ in range(n_pieces)
    ]
    return "".join(pieces)


def lines(dice: random.Random, n_lines: int) -> str:
    """Make a usual text: lines of words."""
    end = dice.choice(("\n", "\n", "\n", "\r\n", "\r"))
    words = ("def", "return", "é", "# AI!", "[[b]]", "😀", "tag: x", "## Head", "-", "(", ")")
    made = []
    for _ in range(n_lines):
        chosen = [dice.choice(words), f"u{dice.randrange(1 << 40)}x"]
        made.append(" ".join(chosen) + end)
    return "".join(made)


def place(dice: random.Random, n_lines: int) -> dict[str, Any]:
    """Make a position, mostly inside the text, often outside."""
    line = dice.randrange(n_lines + 1) if dice.random() < 0.9 else dice.choice(NUMBERS)
    return {"line": line, "character": dice.choice(NUMBERS)}


def stretch(dice: random.Random, n_lines: int) -> dict[str, Any]:
    """Make a range; often empty, sometimes reversed."""
    start = place(dice, n_lines)
    end = start if dice.random() < 0.5 else place(dice, n_lines)
    if dice.random() < 0.5 and end is not start:
        end = {"line": start["line"], "character": dice.choice(NUMBERS)}
    return {"start": start, "end": end}


def odd(dice: random.Random) -> Any:
    """Make any JSON value."""
    return dice.choice(ODD)


def spoiled(dice: random.Random, value: Any) -> Any:
    """Return `value` with one part changed, removed or added."""
    if isinstance(value, dict) and value and dice.random() < 0.85:
        name = dice.choice(list(value))
        kept = dict(value)
        if dice.random() < 0.25:
            del kept[name]
        else:
            kept[name] = spoiled(dice, value[name])
        return kept
    if isinstance(value, list) and value and dice.random() < 0.7:
        at = dice.randrange(len(value))
        return [*value[:at], spoiled(dice, value[at]), *value[at + 1 :]]
    return odd(dice)
