"""A function, a class or the like in a text, as a value.

A named tuple in a separate module: a process that only runs grammars starts in half the time
without `dataclasses`.
"""

from typing import NamedTuple

MAX_SIGNATURE = 300
LONG = 120
"""The most lines of a function whose inner functions are not separate passages."""


def with_plain_ends(text: str) -> str:
    r"""Return the text with `\n` at all line ends. The number of lines stays."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


class Definition(NamedTuple):
    """A function, a class or the like, in lines (0-based).

    Attributes:
        first: The first line of its comments and decorators.
        head: The line with the name.
        end: The line after the last.
        name: The name as written.
        signature: The head up to the start of the body, on one line.
        is_type: Whether inner definitions are found separately at any length.
    """

    first: int
    head: int
    end: int
    name: str
    signature: str
    is_type: bool

    @property
    def is_container(self) -> bool:
        """Whether the inner definitions are separate passages."""
        return self.is_type or self.end - self.head > LONG
