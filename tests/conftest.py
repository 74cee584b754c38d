"""What tests of every folder may ask for: a real program that no Python package brings."""

import gc
import os
from collections.abc import Callable, Generator
from typing import Protocol, TypeVar

import pytest

from tests.parts.kept import MissingPart
from tests.support.snapshot_guard import pytest_configure  # noqa: F401 - a hook

T = TypeVar("T")

LONGEST_FIRST = (
    "tests/fuzz/test_fuzz.py",
    "tests/editors/test_vscode_steps.py",
    "tests/editors/test_vscode_decisions.py",
    "tests/editors/test_vscode_scenario.py",
    "tests/editors/test_vscode_extension.py",
    "tests/editors/test_first_minutes.py",
    "tests/editors/test_first_accept.py",
    "tests/e2e/test_small_model_fixes.py",
    "tests/e2e/test_documentation.py",
    "tests/soak/test_lives.py",
    "tests/protocol/test_memory_growth.py",
    "tests/soak/test_kill.py",
)
"""Files with tests of ten seconds and more: at the end of a run one would keep a single core
busy.
"""


class Part(Protocol):
    """Gives a part that `ensure` makes; see `part`."""

    def __call__(self, ensure: Callable[[], T]) -> T:
        """What `ensure` returns."""
        ...


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests without searching for garbage, and leave them out of all later searches.

    The tests are half a million objects that live to the end of the run. To search them takes half
    of the time of a collection, and a tenth of the time of short tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring the longest files to the front; within a file, and behind these, the order stays."""
    place = {file: number for number, file in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))


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
