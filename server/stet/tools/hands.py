"""What a tool may have the editor do at once, on the user's word; put in by who holds the editor."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that the user is to be shown, at a line (1-based) if there is one."""

    uri: str
    line: int | None = None


async def _no_accepting(hunk_id: str) -> str:
    """Where there is no editor, nothing is carried out."""
    return f"there is no editor to carry out {hunk_id}"


async def _no_showing(stem: str, text: str) -> None:
    """Where there is no editor, nobody looks."""


@dataclass(frozen=True, slots=True)
class Hands:
    """The ports.

    Attributes:
        accept: Has a pending hunk carried out that the user has said yes to in so many words; gives
            why it was not, or nothing.
        present: Shows a document of Stet's own, Markdown; the first argument is the beginning of its
            file's name, the second its text. Raises OSError if it can't be written.
    """

    accept: Callable[[str], Awaitable[str]] = _no_accepting
    present: Callable[[str, str], Awaitable[None]] = _no_showing


NO_HANDS = Hands()
"""Where there is no editor."""
