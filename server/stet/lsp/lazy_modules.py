"""Handlers whose modules are imported when the first of them is called.

The editor waits for the answer to `initialize`; of what answers everything else only the names are
needed by then.
"""

from collections.abc import Callable
from importlib import import_module


class LazyModule:
    """Stands for a module; its attributes are taken for functions."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Callable[..., object]:
        """Return a function that calls the function named `attribute`. The name is looked up at
        each call, cheap once imported.
        """

        def call(*arguments: object, **named: object) -> object:
            return getattr(import_module(self._name), attribute)(*arguments, **named)

        return call


def lazy_modules(package: str, *names: str) -> tuple[LazyModule, ...]:
    """Return the modules with these names in `package`."""
    return tuple(LazyModule(f"{package}.{name}") for name in names)
