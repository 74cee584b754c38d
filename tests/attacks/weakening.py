"""How a rule of Stet is taken away: `weaknesses` says which there are.

A weakness is a function that puts something else in the place of what a module has. `weaken` does so for
good, in a server that is being started; `weakened` in this process, for a while.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Put = Callable[[str, str, Any], None]
"""Puts a value in the place of `module`, `name` (or `Class.name`)."""
WEAKNESSES: dict[str, Callable[[Put], None]] = {}


def weaken(name: str) -> None:
    """Take a rule away for good."""
    WEAKNESSES[name](_put)


@contextmanager
def weakened(name: str) -> Iterator[None]:
    """Take a rule away for a while; no name, no change."""
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
    """What holds a name; it must be there, or the weakness would weaken nothing."""
    owner: Any = importlib.import_module(module)
    *outer, last = path.split(".")
    for name in outer:
        owner = getattr(owner, name)
    assert last in owner.__dict__, f"{module}.{path} is no more"
    return owner, last


def weakness(function: Callable[[Put], None]) -> Callable[[Put], None]:
    """Enter a function as the weakness of its name."""
    WEAKNESSES[function.__name__] = function
    return function
