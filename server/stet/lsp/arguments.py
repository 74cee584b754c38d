"""Arguments of commands: any mix of objects and strings, because editors send them differently.

Objects are merged from left to right; strings are joined by a space into the command's main text.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Self, TypeVar

from stet.lsp.lsp_errors import InvalidParams
from stet.settings.value_checks import name_problem, nearest_name

T = TypeVar("T")


class CommandArguments:
    """The arguments of one call, each taken once by name and type, in a `with` block.

    Raises:
        InvalidParams: If a value is neither an object nor a string, or if an argument is not taken
            at the end of the block.
    """

    def __init__(self, command: str, values: tuple[object, ...], main: str = "") -> None:
        self._command = command
        self._main = main
        self._read: set[str] = set()
        self._values: dict[str, object] = {}
        texts = []
        for value in values:
            if isinstance(value, Mapping):
                self._values.update(value)
            elif isinstance(value, str):
                texts.append(value)
            elif value is not None:
                raise InvalidParams(
                    f"{command} accepts objects and strings, not {type(value).__name__}: {value!r}"
                )
        if texts and not main:
            raise InvalidParams(f"{command} accepts no text, but got {texts[0]!r}")
        if texts:
            self._values[main] = " ".join(texts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.finish()

    def text(self, name: str) -> str | None:
        """Return a string argument, or None if the argument is missing."""
        return self._pop(name, str, "a string")

    def required(self, name: str) -> str:
        """Return a string argument that is not blank."""
        value = self.text(name)
        if value is None or not value.strip():
            message = f"{self._command} needs {name!r}, a non-empty string"
            raise self.missing(message, name)
        return value

    def missing(self, message: str, *names: str) -> InvalidParams:
        """Return the error for a call without any of `names`.

        A misspelled argument is reported with the correct name.

        Args:
            message: The message if no argument is misspelled.
            names: The arguments that the call may have meant.
        """
        others = [name for name in names if self._values.get(name) is None]
        for names_sent in self._values:
            if names_sent not in self._read and (near := nearest_name(str(names_sent), others)):
                return InvalidParams(
                    f"{self._command} has no argument {names_sent!r}; did you mean {near!r}?"
                )
        return InvalidParams(message)

    def one_of(self, name: str, choices: type[T], default: T) -> T:
        """Return an argument as a member of an enumeration of strings."""
        value = self.text(name)
        if value is None:
            return default
        try:
            return choices(value)  # type: ignore[call-arg]  # an enumeration is called with a value
        except ValueError:
            known = ", ".join(repr(str(member)) for member in choices)  # type: ignore[attr-defined]
            raise InvalidParams(
                f"{self._command}: {name!r} must be one of {known}, not {value!r}"
            ) from None

    def number(self, name: str) -> int | None:
        """Return a line number (1-based), or None if the argument is missing."""
        return self._pop(name, int, "a line number, starting at 1", lambda value: value >= 1)

    def count(self, name: str, default: int, most: int) -> int:
        """Return a whole number from 1 to `most`, or `default` if the argument is missing."""
        what = f"a whole number from 1 to {most}"
        value = self._pop(name, int, what, lambda value: 1 <= value <= most)
        return default if value is None else value

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return a boolean argument, or `default` if the argument is missing."""
        value = self._pop(name, bool, "true or false")
        return default if value is None else value

    def switches(self, name: str) -> frozenset[str]:
        """Return the names of tools or groups (`stet.settings.value_checks`) in a list argument;
        an empty set if the argument is missing.
        """
        names = self._pop(name, list, "a list of strings", _are_strings) or []
        for each in sorted(names):
            if fault := name_problem(name, each):
                raise InvalidParams(f"{self._command}: {name!r}: {fault}")
        return frozenset(names)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a string or a list of strings as a tuple; an empty one if the argument is
        missing.
        """
        value = self._pop(name, (str, list), "a string or a list of strings")
        found = [value] if isinstance(value, str) else value or []
        if not _are_strings(found):
            raise InvalidParams(
                f"{self._command}: {name!r} must be a list of strings, not {value!r}"
            )
        return tuple(found)

    def whole(self, name: str) -> int | None:
        """Return a whole number, or None if the argument is missing."""
        return self._pop(name, int, "a whole number")

    def mapping(self, name: str) -> Mapping[str, object] | None:
        """Return an object argument, or None if the argument is missing."""
        return self._pop(name, dict, "an object")

    def finish(self) -> None:
        """Check that all arguments have been taken.

        Raises:
            InvalidParams: If an argument is left; the message has the nearest known name.
        """
        unknown = [name for name in self._values if name not in self._read]
        if not unknown:
            return
        near = nearest_name(str(unknown[0]), self._read)
        known = ", ".join(sorted(self._read))
        hint = f"; did you mean {near!r}?" if near else f". Valid arguments: {known}"
        raise InvalidParams(f"{self._command} has no argument {unknown[0]!r}{hint}")

    def _pop(
        self,
        name: str,
        kind: type[T] | tuple[type[T], ...],
        what: str,
        is_valid: Callable[[T], bool] = lambda _: True,
    ) -> T | None:
        self._read.add(name)
        value = self._values.get(name)
        if value is None:
            return None
        is_flag = isinstance(value, bool) and kind is not bool  # Python's bool is an int
        if is_flag or not isinstance(value, kind) or not is_valid(value):
            raise InvalidParams(f"{self._command}: {name!r} must be {what}, not {value!r}")
        return value


def _are_strings(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)
