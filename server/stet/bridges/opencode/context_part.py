"""What a session is to hold."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContextPart:
    """One live context part.

    Attributes:
        text: The whole of it; "" for none.
        folders: Of the session, in every spelling; the first is the one to ask by.
        pinned: The session's id; "": the most recently updated one of `folders`.
    """

    text: str
    folders: tuple[str, ...]
    pinned: str = ""
