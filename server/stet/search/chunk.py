"""A passage of a file that is found as one, as a value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some whole lines of a file.

    Attributes:
        first: The first line, 0-based.
        end: The line behind the last.
        name: What is defined there, or the heading; empty for what is neither.
        scope: What that lies in, outermost first: `Server.Session` in code, `Setup > Linux` in notes.
        signature: The head of a definition as it is written, on one line, without its body; else
            empty.
        is_definition: Whether it begins with the definition of `name`.
    """

    first: int
    end: int
    name: str = ""
    scope: str = ""
    signature: str = ""
    is_definition: bool = False
