"""Edits with a model's typical mistakes, each with the expected text."""

# ruff: noqa: RUF001 - typographic signs are what is tested here

import random
from collections.abc import Callable
from dataclasses import dataclass

WORDS = ("alpha", "beta", "call(x)", 'say("hi")', "it's", "end", "x - y", "wait...", "if")


@dataclass(frozen=True)
class Case:
    """A file, the model's edit, and the file afterwards."""

    live: str
    old: str
    new: str
    expected: str
    first: int
    """The first line of the block, 0-based."""
    n: int


def _sloppy_trailing(line: str, rng: random.Random) -> str:
    return line + rng.choice(("", " ", "\t", "  ")) if line.strip() else line


def _typographic(line: str) -> str:
    for plain, odd in (('("', "(“"), ('")', "”)"), ("'", "’"), (" - ", " – "), ("...", "…")):
        line = line.replace(plain, odd)
    return line


def _tabs(line: str) -> str:
    body = line.lstrip(" ")
    return "\t" * ((len(line) - len(body)) // 4) + body


FILE_FORMS: dict[str, Callable[[str, random.Random], str]] = {
    "exact": lambda line, _: line,
    "trailing": _sloppy_trailing,
    "indent": lambda line, _: "    " + line if line.strip() else line,
    "tabs": lambda line, _: _tabs(line),
    "quotes": lambda line, _: _typographic(line),
    "all": lambda line, rng: _sloppy_trailing("    " + _typographic(line), rng),
}
"""Ways in which the file writes a line that the model writes plainly."""


def perturbed(rng: random.Random, kind: str) -> Case:
    """Make a random file with one block of lines to edit."""
    plain = ["    " * rng.randrange(3) + " ".join(rng.choices(WORDS, k=4)) for _ in range(24)]
    if rng.random() < 0.5:  # near copies, which must never be edited
        plain[14:20] = plain[2:8]
    written = [FILE_FORMS[kind](line, rng) for line in plain]
    n = rng.randrange(2, 6)
    first = rng.randrange(len(plain) - n)
    old = plain[first : first + n]
    if any(written[at : at + n] == old for at in range(len(plain)) if at != first):
        return perturbed(rng, kind)  # an exact copy of the model's text would be no mistake
    new, made = list(old), written[first : first + n]
    at = rng.randrange(n)
    how = rng.choice(("change", "insert", "delete"))
    if how == "change":
        new[at] = new[at].replace(new[at].split()[0], "changed", 1)
        body, word = made[at].lstrip(), _typographic(old[at].split()[0])
        shown = word if body.startswith(word) else old[at].split()[0]
        made[at] = made[at].replace(shown, "changed", 1)
    elif how == "insert":
        line = old[at][: len(old[at]) - len(old[at].lstrip())] + "zebra inserted"
        new.insert(at, line)
        made.insert(at, made[at][: len(made[at]) - len(made[at].lstrip())] + "zebra inserted")
    else:
        del new[at], made[at]
    expected = [*written[:first], *made, *written[first + n :]]
    end = rng.choice(("\n", "\r\n"))
    return Case(
        end.join([*written, ""]),
        "".join(line + "\n" for line in old),
        "".join(line + "\n" for line in new),
        end.join([*expected, ""]),
        first,
        n,
    )


def is_plainly_unique(case: Case) -> bool:
    """Tell whether the block occurs once, even with loose comparison."""
    lines = [_typographic(line).strip() for line in case.live.splitlines()]
    wanted = [_typographic(line).strip() for line in case.old.splitlines()]
    return sum(lines[at : at + case.n] == wanted for at in range(len(lines))) == 1
