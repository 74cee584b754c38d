"""The text of a chat document as a test reads it: by its parts, each with its words."""

from typing import NamedTuple

from stet.lsp.chat import sections
from stet.lsp.chat.page import Page, Reading
from stet.lsp.chat.sections import Part, Sections
from stet.text.lines import split_lines


class ChatPart(NamedTuple):
    """What stands under one heading; `turn` is empty for the user's words."""

    turn: str
    text: str


def parts(text: str) -> list[ChatPart]:
    """All that stands under headings, in order."""
    document = Sections.of(text)
    return [_part(document, part) for part in document.parts()]


def draft(text: str) -> ChatPart | None:
    """What the user is writing."""
    document = Sections.of(text)
    part = document.draft()
    return _part(document, part) if part else None


def written(text: str, turn: str) -> str:
    """All that stands under the headings of a turn."""
    return Sections.of(text).written(turn)


def has_ended(said: str) -> bool:
    """Whether what stands of a turn has its last line."""
    return sections.has_ended(split_lines(said))


def adopt(page: Page, text: str) -> None:
    """The document of a page has this text now."""
    page.adopt(Reading.of(Sections.of(text)))


def write_all(page: Page, text: str) -> str:
    """`text`, with all that is to be written into it by now."""
    while step := page.step(Sections.of(text)):
        text = step.insertion.apply(text)
        step.done()
    return text


def _part(document: Sections, part: Part) -> ChatPart:
    return ChatPart(part.turn, document.text_of(part))
