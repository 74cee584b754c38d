"""What tests of every folder may ask for: a real program that no Python package brings."""

import os
from collections.abc import Callable
from typing import Protocol, TypeVar

import pytest

from tests.parts.kept import MissingPart

T = TypeVar("T")


class Part(Protocol):
    """Gives a part that `ensure` makes; see `part`."""

    def __call__(self, ensure: Callable[[], T]) -> T:
        """What `ensure` returns."""
        ...


@pytest.fixture(scope="session")
def part() -> Part:
    """`part(ensure)`; a part that can't be had is a skip on somebody's machine, a failure in CI."""

    def had(ensure: Callable[[], T]) -> T:
        try:
            return ensure()
        except MissingPart as missing:
            if os.environ.get("CI"):
                pytest.fail(str(missing))
            pytest.skip(str(missing))

    return had
