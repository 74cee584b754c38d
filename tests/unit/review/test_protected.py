"""Which names need a yes of their own, however they are spelled."""

import pytest

from stet.review.protected import is_protected


@pytest.mark.parametrize(
    "name",
    [
        *("Makefile", "a/MAKEFILE", ".VSCode/x", ".v\u017fcode/x", "M\u0430kefile", "agents.md."),
        # what only reads like a secret's name
        *(".n\u0440mrc", ".\u0430ws/cr\u0435dentials", "\u0456d_rsa"),
    ],
)
def test_it_is_protected(name: str) -> None:
    assert is_protected(name)


@pytest.mark.parametrize(
    "name", ["notes.md", "a/b.py", "\u043d\u043e\u0442\u044b.md", "env.py", ""]
)
def test_it_is_not(name: str) -> None:
    assert not is_protected(name)
