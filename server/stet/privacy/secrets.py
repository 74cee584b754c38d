"""Secrets in a text: keys by their form, passwords by what stands before them, and random strings.

Found are keys that services issue (their prefixes are published by the services, so that scanners
know them), private keys in PEM, passwords in URLs, headers and assignments, and strings that look
random (`stet.privacy.randomness`). Every pattern takes time linear in the text: repetitions are bounded,
or begin where no character of theirs stands before, or nothing is asked behind them.

A secret never reaches over the end of a line: of a private key each line is one. So a text with marks
in their places has as many lines, and line numbers mean the same in both.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stet.privacy import issued_keys, named_values, randomness
from stet.privacy.assignments import in_assignments
from stet.privacy.issued_keys import issued_key
from stet.privacy.key_forms import BEGIN, RULES, FormRule
from stet.privacy.named_values import follows, is_made, is_secret_by_name
from stet.privacy.randomness import is_random_string, long_runs, with_signs
from stet.privacy.secret_layouts import find_in_layouts, is_encoded_key

PRIVATE_KEY = "private key line"
LEAST = 6
"""Characters of the shortest secret."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A stretch of a text that is not to be told.

    Attributes:
        start: In code points.
        end: Behind the last one.
        kind: What it is, in words.
    """

    start: int
    end: int
    kind: str


_MOST_ENCODED = 4000
_IN_RUN = re.compile(r"[A-Za-z0-9_-]+")
_SIGNS = re.compile(r"[+/_-]+")
_MIXED = re.compile(r"(?=[^A-Z]{0,40}[A-Z])(?=[^a-z]{0,40}[a-z])[^0-9]{0,40}[0-9]")


def _is_by_word(rule: FormRule) -> bool:
    """Whether what it finds begins a word of a long run, so that only such runs are looked at."""
    return (
        rule.source.startswith(BEGIN) and rule.is_long and all(map(_IN_RUN.fullmatch, rule.hints))
    )


_BY_HINT: dict[str, list[FormRule]] = {}
_BY_WORD: dict[str, list[tuple[str, FormRule]]] = {}
for _one in RULES:
    for _hint in _one.hints:
        if _is_by_word(_one):
            _BY_WORD.setdefault(_hint[:2], []).append((_hint, _one))
        else:
            _BY_HINT.setdefault(_hint, []).append(_one)

_PEM = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?P<body>(?:(?!-----)[^\x00]){0,20000})"
)
_PUBLIC = re.compile(
    r"-----BEGIN (?![A-Z0-9 ]{0,40}PRIVATE)[A-Z0-9 ]{3,40}-----(?:(?!-----)[^\x00]){0,20000}"
)
_PEM_HINT = "PRIVATE KEY"
_PEM_LINE = re.compile(
    r"(?:(?<=\\[nr])|(?<![A-Za-z0-9+/\\]))(?:[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{2,15}={1,2})"
)
_WRAPPED = re.compile(
    r"^[ \t]*[\"']?(?P<secret>[A-Za-z0-9+/]{60,80}={0,2})[\"']?\\?$", re.MULTILINE
)


def find_secrets(text: str, *, wrapped: bool = False) -> tuple[Secret, ...]:
    """Return the secrets of a text, in order and without overlaps.

    Args:
        text: Any.
        wrapped: Whether lines of encoded data count too. Part of a text may be of a private key
            whose beginning can't be seen.
    """
    found = [*_by_form(text), *_private_keys(text)]
    found += [Secret(*each) for each in find_in_layouts(text, _keys)]
    finders: tuple[Callable[[str], Iterator[tuple[int, int, str]]], ...] = (
        in_assignments,
        _in_runs,
    )
    public = _public_blocks(text)
    found += [
        Secret(*each)
        for finder in finders
        for each in finder(text)
        if not any(start <= each[0] < end for start, end in public)
    ]
    if wrapped:
        found += [Secret(*one.span("secret"), PRIVATE_KEY) for one in _WRAPPED.finditer(text)]
    return _merge_overlaps(found)


def private_key_lines(text: str) -> tuple[str, ...]:
    """Return the lines of all private keys in a text that are long enough to be recognized again."""
    return tuple(
        text[private_key.start : private_key.end]
        for private_key in _private_keys(text)
        if private_key.end - private_key.start > 15
    )


def _by_form(text: str) -> Iterator[Secret]:
    for hint, rules in _BY_HINT.items():
        at = text.find(hint)  # a hundred times as fast as a pattern
        while at >= 0:
            end = at + 1
            for rule in rules:
                if (one := rule.match(text, at)) is not None:
                    yield Secret(*one.span("secret"), rule.kind)
                    end = max(end, one.end())
            at = text.find(hint, end)


def _in_runs(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of the keys in long runs of letters and digits."""
    last = 0  # the end of the last value that a name told of
    for start, end in long_runs(text):
        if (found := _by_word(text, start, end)) is not None:
            yield found[0], _whole_end(text, found[1], end), found[2]
        elif (key := issued_key(text, start, end)) is not None:
            yield *key, issued_keys.KIND
        elif is_secret_by_name(text, start, end) or (
            follows(text, last, start) and is_made(text[start:end])
        ):
            yield with_signs(text, start), end, named_values.KIND
            last = end
        elif is_random_string(text, start, end):
            yield with_signs(text, start), end, randomness.KIND
        elif (
            (end - start) % 4 == 0
            and end - start <= _MOST_ENCODED
            and is_encoded_key(text[start:end], _keys)
        ):
            yield start, end, issued_keys.KIND


def _keys(text: str) -> Iterator[tuple[int, int, str]]:
    """Keys that are known by their form alone, in a text of one line."""
    for one in _by_form(text):
        yield one.start, one.end, one.kind
    for start, end in long_runs(text):
        if (found := _by_word(text, start, end)) is not None:
            yield found
        elif (key := issued_key(text, start, end)) is not None:
            yield *key, issued_keys.KIND


def _whole_end(text: str, found: int, end: int) -> int:
    """Where a key ends that goes on, in base64, after what its form says."""
    rest = text[found:end]
    goes_on = rest[:1] == "+" or (rest[:1] == "/" and _MIXED.match(rest) is not None)
    return end if goes_on else found


def _by_word(text: str, start: int, end: int) -> tuple[int, int, str] | None:
    """Return the key of a known form that begins with a word of a run."""
    for at in (start, *(sign.end() for sign in _SIGNS.finditer(text, start, end))):
        for hint, rule in _BY_WORD.get(text[at : at + 2], ()):
            if text.startswith(hint, at) and (one := rule.pattern.match(text, at)):
                return *one.span("secret"), rule.kind
    return None


def _private_keys(text: str) -> Iterator[Secret]:
    """Yield the lines between the first and the last line of private keys."""
    if _PEM_HINT not in text:
        return
    for key in _PEM.finditer(text):
        start, end = key.span("body")
        for line in _PEM_LINE.finditer(text, start, end):
            yield Secret(*line.span(), PRIVATE_KEY)


def _public_blocks(text: str) -> list[tuple[int, int]]:
    """Certificates, public keys and signatures: they look random, and are no secrets."""
    if "-----BEGIN " not in text:
        return []
    return [one.span() for one in _PUBLIC.finditer(text)]


def _merge_overlaps(found: list[Secret]) -> tuple[Secret, ...]:
    """Those that overlap as one, of the kind of the first."""
    disjoint: list[Secret] = []
    for one in sorted(found, key=lambda each: each.start):
        if disjoint and one.start < disjoint[-1].end:
            last = disjoint[-1]
            disjoint[-1] = Secret(last.start, max(last.end, one.end), last.kind)
        else:
            disjoint.append(one)
    return tuple(disjoint)
