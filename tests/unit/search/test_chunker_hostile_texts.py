"""Texts made to be slow or to break: all are cut, in time in proportion to them."""

import random
import time

import pytest

from stet.search.chunker import chunk_file

pytestmark = pytest.mark.slow


NAMES = ["a.py", "a.md", "a.js", "a.c", "a.rs", "a.rb", "a.json"]
N = 60_000
_RANDOM = random.Random(1)
TEXTS = {
    "one line": "x = 1; " * (N // 7),
    "many lines": "a\n" * (N // 2),
    "blank lines": "\n" * N,
    "white space": " \t" * (N // 2),
    "binary": "".join(map(chr, _RANDOM.choices(range(256), k=N))),
    "surrogates": "\ud800\n" * (N // 2),
    "brackets": "({[" * (N // 3),
    "open functions": "function f(\n" * (N // 12),
    "deep": "".join(f"{' ' * n}class A{{\n" for n in range(350)),
    "deep functions": "".join(f"{' ' * n}def f():\n" for n in range(350)),
    "double quotes": '"' * N,
    "quotes": "'\"\n" * (N // 3),
    "triple quotes": '\'"""\'' * (N // 5),
    "backslashes": "'''" + "\\" * N,
    "escaped quotes": "'''" + "\\'''" * (N // 4),
    "decorators": "@a\n" * (N // 3),
    "comments": "# a\n" * (N // 4),
    "closers": "  x(\n}\n" * (N // 7),
    "attributes": "#[a(\n)]\n" * (N // 8),
    "heads": "def f(a):\n" * (N // 10),
    "heads in strings": "def f(a):\n '''\ndef g(): '''\n" * (N // 30),
    "stars": "*a&" * (N // 3),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_hostile_text_is_cut_in_good_time(kind: str) -> None:
    text = TEXTS[kind]
    for name in NAMES:
        began = time.process_time()
        chunks = chunk_file(text, name)
        assert time.process_time() - began < 5, name
        assert bool(chunks) == bool(text.strip())
