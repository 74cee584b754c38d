r"""How a chat document is laid out, and where in it something goes. Pure functions of its parts.

    # Stet: main

    ## You

    What does this do?

    ## Stet (t1)

    It adds two numbers.

    *completed · 120 tokens · gpt-4.1*

    ## You

The user may change everything at any time. So nothing is ever replaced: whatever Stet writes is
inserted at a place that is looked for in the text of that moment (`stet.chat.chat_sections`), and a
heading is all that marks one. What the user types stays where it is, to the last character.
"""

import re
from dataclasses import dataclass

from stet.chat.chat_sections import ChatPart, ChatSections
from stet.text.document import TextDocument
from stet.text.escape import escape
from stet.text.position import Position

YOU = "## You"
LINES_AT_ONCE = 1_000
"""The lines of the user's draft that are compared with a sent message in one step."""
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
    """Return the text of a new document."""
    return f"# Stet: {chat}\n\n{_INTRODUCTION}\n\n{YOU}\n\n"


def after_draft(document: ChatSections, text: str, turn: str) -> Insertion:
    """Return the insertion of an answer's heading after what was sent. A heading for the user's
    next words follows.

    Args:
        document: As it is now.
        text: What was sent; it may have been written on since, which then is what they say next.
        turn: Who answers.
    """
    line = document.draft_line()
    at = None if line is None else _position_after(document, line, text)
    if at is None:
        draft = document.draft()
        at = document.end() if draft is None else draft.end
    return Insertion(at, _lines(document, f"\n\n{_turn_suffix(turn)}\n\n{YOU}\n\n"))


def before_draft(document: ChatSections, question: str, turn: str) -> Insertion:
    """Return the insertion of a question asked elsewhere, with its answer's heading. It goes before
    the user's draft.
    """
    new = f"{YOU}\n\n{escape_markdown(question).strip()}\n\n{_turn_suffix(turn)}\n\n"
    line = document.draft_line()
    if line is not None:
        return Insertion(Position(line, 0), _lines(document, new))
    at = document.end()
    gap = "" if at == Position(0, 0) else "\n\n"
    return Insertion(at, _lines(document, f"{gap}{new}{YOU}\n\n"))


def continue_answer(document: ChatSections, part: ChatPart, new: str) -> Insertion:
    """Return the insertion of the next piece of an answer after the part that is already written."""
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


def _position_after(document: ChatSections, heading: int, words: str) -> Position | None:
    """Return where `words` end in the text below a heading that begins with them.

    No more of the text is read than `words` are long, apart from blank lines before them.

    Args:
        document: The document as it is now.
        heading: The line of the heading, 0-based.
        words: What the text is to begin with, without blank space around it.

    Returns:
        The position in code points; None if the text begins with other words.
    """
    lines = document.lines
    line = heading + 1
    while words and line < len(lines) and not lines[line].strip():
        line += 1
    if not words or line == len(lines):
        return None
    column = len(lines[line]) - len(lines[line].lstrip())
    n_found = 0
    # First many lines at once, as long as all of them are part of the words.
    while line < len(lines):
        text = "".join(lines[line : line + LINES_AT_ONCE])[column:]
        if n_found + len(text) >= len(words) or not words.startswith(text, n_found):
            break
        line, column, n_found = line + LINES_AT_ONCE, 0, n_found + len(text)
    for number in range(line, min(line + LINES_AT_ONCE, len(lines))):
        text = lines[number][column : column + len(words) - n_found]
        if not words.startswith(text, n_found):
            return None
        n_found += len(text)
        if n_found == len(words):
            return Position(number, column + len(text)) if text[-1] not in "\r\n" else None
        column = 0
    return None


def _lines(document: ChatSections, new: str) -> str:
    """Return `new` with the line ends of the document."""
    end = document.line_end
    return new if end == "\n" else new.replace("\n", end)
