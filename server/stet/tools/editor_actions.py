"""What a tool may have the editor do at once, on the user's word; put in by who holds the editor."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OpenFileRequest:
    """A file that the user is to be shown, at a line (1-based) if there is one."""

    uri: str
    line: int | None = None


async def _cannot_accept(hunk_id: str) -> str:
    """Where there is no editor, nothing is carried out."""
    return f"there is no editor to carry out {hunk_id}"


async def _show_nothing(stem: str, text: str) -> None:
    """Where there is no editor, nobody looks."""


@dataclass(frozen=True, slots=True)
class EditorActions:
    """The ports.

    Attributes:
        accept_hunk: Has a pending hunk carried out that the user has said yes to in so many words; gives
            why it was not, or nothing.
        show_document: Shows a document of Stet's own, Markdown; the first argument is the beginning of its
            file's name, the second its text. Raises OSError if it can't be written.
    """

    accept_hunk: Callable[[str], Awaitable[str]] = _cannot_accept
    show_document: Callable[[str, str], Awaitable[None]] = _show_nothing


NO_EDITOR = EditorActions()
"""Where there is no editor."""
