r"""How a chat document is laid out, and where in it something goes. Pure functions of its parts.

    # Stet: main

    ## You

    What does this do?

    ## Stet (t1)

    It adds two numbers.

    *completed · 120 tokens · gpt-4.1*

    ## You

The user may change everything at any time. So nothing is ever replaced: whatever Stet writes is
inserted at a place that is looked for in the text of that moment (`stet.lsp.chat.chat_sections`), and a
heading is all that marks one. What the user types stays where it is, to the last character.
"""

import re
from dataclasses import dataclass

from stet.lsp.chat.chat_sections import ChatPart, ChatSections
from stet.text.document import TextDocument
from stet.text.escape import escape
from stet.text.lines import end_of
from stet.text.position import Position

YOU = "## You"
_START = r"(?:\A|(?<=[\r\n]))"  # of a line, however lines end
_LIKE_HEADING = re.compile(rf"{_START}(?=## (?:You|Stet \()[^\r\n]*)")
_PICTURE = re.compile(r"!(?=\[)")
_LINK = re.compile(r"\](?=\((?!https?://)|:)", re.IGNORECASE)
"""Of a link that leads elsewhere than to a page, or of a definition that links and pictures use."""
_HTML = re.compile(
    r"<(?=(?:i(?:mg|frame|mage)|svg|math|video|audio|embed|object|script|style|picture|source|link|meta|base"
    r"|form|input|body|table)\b|[a-z](?:[\w.+-]{60}|[\w.+-]{0,59}(?:[\s/]|:(?!:))))",
    re.IGNORECASE,
)
"""Of a tag that loads something or has attributes, by which any may; of an address in brackets."""
_UNSETTLED = re.compile(
    r"(?:!|\](?:\([htps:/]{0,7})?|<(?:[A-Za-z][\w.+-]{0,60}:?)?|\r)\Z", re.IGNORECASE
)
"""What may become one of these by what comes next."""
_INTRODUCTION = (
    "*Write under the last heading `## You` and send it: by code action, or `stet.send`.*"
)


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text that goes in at one place; nothing is taken out.

    Attributes:
        at: The place, in code points.
        text: What goes in.
    """

    at: Position
    text: str

    def apply(self, text: str) -> str:
        """`text` with it."""
        at = TextDocument("", text).offset_at(self.at)
        return text[:at] + self.text + text[at:]


def new_document(chat: str) -> str:
    """A new document."""
    return f"# Stet: {chat}\n\n{_INTRODUCTION}\n\n{YOU}\n\n"


def after_draft(document: ChatSections, text: str, turn: str) -> Insertion:
    """The heading of an answer behind what the user has just sent, and one for what they say next.

    Args:
        document: As it is now.
        text: What was sent; it may have been written on since, which then is what they say next.
        turn: Who answers.
    """
    now = document.draft()
    at = document.end() if now is None else now.end
    if now is not None:
        at = _position_after(document, now, text) or at
    return Insertion(at, _lines(document, f"\n\n{_turn_suffix(turn)}\n\n{YOU}\n\n"))


def before_draft(document: ChatSections, question: str, turn: str) -> Insertion:
    """A question that was asked elsewhere, and the heading of its answer, before what is being written."""
    new = f"{YOU}\n\n{escape_markdown(question).strip()}\n\n{_turn_suffix(turn)}\n\n"
    now = document.draft()
    if now is not None:
        return Insertion(Position(now.start, 0), _lines(document, new))
    at = document.end()
    gap = "" if at == Position(0, 0) else "\n\n"
    return Insertion(at, _lines(document, f"{gap}{new}{YOU}\n\n"))


def continue_answer(document: ChatSections, part: ChatPart, new: str) -> Insertion:
    """The next piece of an answer behind what stands there of it."""
    if part.is_empty:
        return Insertion(part.body, _lines(document, "\n\n" + new.lstrip()))
    return Insertion(part.end, _lines(document, new))


def escape_markdown(text: str) -> str:
    r"""Words of others for a chat document: none is a heading of ours, loads a picture or acts.

    A picture from elsewhere would be fetched by whatever shows the document, and tell its server
    what the address holds; a link may run a command of the editor. A blank in between undoes either
    whatever stands before it (a backslash would be undone by another one), and changes no code.
    Links to pages stay. The line feed is the only line end left.
    """
    text = _LIKE_HEADING.sub(r"\\", escape(text))
    return _PICTURE.sub("! ", _LINK.sub("] ", _HTML.sub("&lt;", text)))


def stable_length(text: str) -> int:
    """How much of a text that still comes can be shown: what `inert` makes of that stays so."""
    line = text.rfind("\n") + 1
    if text.startswith("#", line):
        return line
    unstable = _UNSETTLED.search(text)
    return unstable.start() if unstable else len(text)


def _turn_suffix(turn: str) -> str:
    return f"## Stet ({turn})"


def _position_after(document: ChatSections, part: ChatPart, words: str) -> Position | None:
    """Where words end that a part begins with; None if it begins with others."""
    text = "".join(document.lines_of(part))
    blank = len(text) - len(text.lstrip())
    if not words or not text.startswith(words, blank):
        return None
    end = end_of(Position(part.start + 1, 0), text[: blank + len(words)])
    return end if text[blank + len(words) - 1] != "\r" else None


def _lines(document: ChatSections, new: str) -> str:
    """`new` with the line ends of the document."""
    end = document.line_end
    return new if end == "\n" else new.replace("\n", end)
