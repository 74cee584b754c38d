"""The text of a chat document, split into parts with their words."""

from collections.abc import Mapping
from typing import NamedTuple

from stet.chat import chat_layout
from stet.chat.chat_document import ChatDocument, ChatReading
from stet.chat.chat_layout import ChatPart, ChatSections
from stet.text.lines import split_lines


class ChatTextPart(NamedTuple):
    """The text under one heading; `turn` is empty for the user's words."""

    turn: str
    text: str


def parts(text: str) -> list[ChatTextPart]:
    """Return all parts, in order."""
    document = ChatSections(split_lines(text))
    return [_part(document, part) for part in document.parts()]


def draft(text: str) -> ChatTextPart | None:
    """Return the part that the user is writing."""
    document = ChatSections(split_lines(text))
    part = document.draft()
    return _part(document, part) if part else None


def written(text: str, turn: str) -> str:
    """Return all text under the headings of a turn."""
    return "\n\n".join(part.text for part in parts(text) if part.turn == turn and part.text)


def has_ended(message: str) -> bool:
    """Tell whether the text of a turn has its last line."""
    return chat_layout.has_ended(split_lines(message))


def adopt(page: ChatDocument, text: str, since: Mapping[str, int] | None = None) -> None:
    """Set the text of a page's document; `since` has the written length of each turn."""
    page.adopt(ChatReading.of(ChatSections(split_lines(text))), since)


def write_all(page: ChatDocument, text: str) -> str:
    """Return `text` with everything written that is due by now."""
    while step := page.next_insertion(ChatSections(split_lines(text))):
        text = step.insertion.apply(text)
        step.done()
    return text


def _part(document: ChatSections, part: ChatPart) -> ChatTextPart:
    return ChatTextPart(part.turn, document.text_of(part))
