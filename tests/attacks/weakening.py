"""Removal of a rule of Stet; `weaknesses` has the rules.

A weakness is a function that replaces attributes of modules. `weaken` does so permanently in a
starting server, `weakened` temporarily in this process.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Put = Callable[[str, str, Any], None]
"""Sets the attribute `name` (or `Class.name`) of `module` to a value."""
WEAKNESSES: dict[str, Callable[[Put], None]] = {}


def weaken(name: str) -> None:
    """Remove a rule for the life of the process."""
    WEAKNESSES[name](_put)


@contextmanager
def weakened(name: str) -> Iterator[None]:
    """Remove a rule within the block; an empty name removes none."""
    undone: list[tuple[Any, str, Any]] = []

    def put(module: str, path: str, value: Any) -> None:
        owner, last = _owner(module, path)
        undone.append((owner, last, owner.__dict__[last]))
        setattr(owner, last, value)

    try:
        if name:
            WEAKNESSES[name](put)
        yield
    finally:
        for owner, last, value in reversed(undone):
            setattr(owner, last, value)
        importlib.import_module("stet.workspace.names").loosest.cache_clear()


def _put(module: str, path: str, value: Any) -> None:
    owner, last = _owner(module, path)
    setattr(owner, last, value)


def _owner(module: str, path: str) -> tuple[Any, str]:
    """Return the object that holds a name; fail if the name does not exist."""
    owner: Any = importlib.import_module(module)
    *outer, last = path.split(".")
    for name in outer:
        owner = getattr(owner, name)
    assert last in owner.__dict__, f"{module}.{path} is no more"
    return owner, last


def weakness(function: Callable[[Put], None]) -> Callable[[Put], None]:
    """Register a function as the weakness of its name."""
    WEAKNESSES[function.__name__] = function
    return function
