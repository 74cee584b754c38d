r"""How a chat document is laid out, and where in it something goes. Pure functions of its text.

    # Stet: main

    ## You

    What does this do?

    ## Stet (t1)

    It adds two numbers.

    *completed · 120 tokens · gpt-4.1*

    ## You

The user may change everything at any time. So nothing is ever replaced: whatever Stet writes is
inserted at a place that is looked for in the text of that moment, and a heading is all that marks
one. What the user types stays where it is, to the last character. Offsets are code points.
"""

import re
from dataclasses import dataclass

from stet.text.escape import escape

YOU = "## You"
_START, _STOP = r"(?:\A|(?<=[\r\n]))", r"[ \t]*(?=[\r\n]|\Z)"  # of a line, however lines end
_HEADING = re.compile(rf"{_START}## (?:You|Stet \((?P<turn>[A-Za-z0-9]+)\)){_STOP}")
_LIKE_HEADING = re.compile(rf"{_START}(?=## (?:You|Stet \()[^\r\n]*)")
_ENDED = re.compile(rf"{_START}\*(?:completed|failed|cancelled|limited)\b[^\r\n]*\*{_STOP}")
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
        at: The place, an offset.
        text: What goes in.
    """

    at: int
    text: str

    def apply(self, text: str) -> str:
        """`text` with it."""
        return text[: self.at] + self.text + text[self.at :]


@dataclass(frozen=True, slots=True)
class Part:
    """What stands under one heading.

    Attributes:
        turn: Whose answer it is; empty for the user's words.
        start: Where the heading begins.
        body: Where the line of the heading ends.
        end: Where the last of its text ends, or `body` where there is none.
        text: What stands there, without blank space around it.
    """

    turn: str
    start: int
    body: int
    end: int
    text: str


def blank(chat: str) -> str:
    """A new document."""
    return f"# Stet: {chat}\n\n{_INTRODUCTION}\n\n{YOU}\n\n"


def parts(text: str) -> tuple[Part, ...]:
    """All that stands under headings, in order."""
    found = list(_HEADING.finditer(text))
    starts = [*(heading.start() for heading in found), len(text)]
    return tuple(_part(text, *one) for one in zip(found, starts[1:], strict=True))


def draft(text: str) -> Part | None:
    """What the user is writing: under the last heading, if that is theirs."""
    last = parts(text)[-1:]
    return last[0] if last and not last[0].turn else None


def behind_draft(text: str, said: str, turn: str) -> Insertion:
    """The heading of an answer behind what the user has just sent, and one for what they say next.

    Args:
        text: The document as it is now.
        said: What was sent; it may have been written on since, which then is what they say next.
        turn: Who answers.
    """
    now = draft(text)
    at = len(text.rstrip()) if now is None else now.end
    if now is not None and now.text.startswith(said):
        at = text.index(now.text, now.body) + len(said)
    return Insertion(at, _lines(text, f"\n\n{_of(turn)}\n\n{YOU}\n\n"))


def before_draft(text: str, asked: str, turn: str) -> Insertion:
    """A question that was asked elsewhere, and the heading of its answer, before what is being written."""
    new = f"{YOU}\n\n{inert(asked).strip()}\n\n{_of(turn)}\n\n"
    now = draft(text)
    if now is not None:
        return Insertion(now.start, _lines(text, new))
    at = len(text.rstrip())
    return Insertion(at, _lines(text, f"{chr(10) * 2 if at else ''}{new}{YOU}\n\n"))


def answer(text: str, turn: str) -> Part | None:
    """Where an answer goes on: under the last heading of its turn; None if that is gone."""
    return next((part for part in reversed(parts(text)) if part.turn == turn), None)


def written(text: str, turn: str) -> str:
    """All that stands under the headings of a turn."""
    return "\n\n".join(part.text for part in parts(text) if part.turn == turn and part.text)


def has_ended(said: str) -> bool:
    """Whether what stands of a turn has its last line."""
    return _ENDED.search(said) is not None


def onward(text: str, part: Part, new: str) -> Insertion:
    """The next piece of an answer behind what stands there of it."""
    if not part.text:
        return Insertion(part.body, _lines(text, "\n\n" + new.lstrip()))
    return Insertion(part.end, _lines(text, new))


def inert(text: str) -> str:
    r"""Words of others for a chat document: none is a heading of ours, loads a picture or acts.

    A picture from elsewhere would be fetched by whatever shows the document, and tell its server
    what the address holds; a link may run a command of the editor. A blank in between undoes either
    whatever stands before it (a backslash would be undone by another one), and changes no code.
    Links to pages stay. The line feed is the only line end left.
    """
    text = _LIKE_HEADING.sub(r"\\", escape(text))
    return _PICTURE.sub("! ", _LINK.sub("] ", _HTML.sub("&lt;", text)))


def settled(text: str) -> int:
    """How much of a text that still comes can be shown: what `inert` makes of that stays so."""
    line = text.rfind("\n") + 1
    if text.startswith("#", line):
        return line
    held = _UNSETTLED.search(text)
    return held.start() if held else len(text)


def _of(turn: str) -> str:
    return f"## Stet ({turn})"


def _part(text: str, heading: re.Match[str], end: int) -> Part:
    body = heading.end()
    content = text[body:end]
    stripped = content.strip()
    last = body + len(content.rstrip()) if stripped else body
    return Part(heading["turn"] or "", heading.start(), body, last, stripped)


def _lines(text: str, new: str) -> str:
    """`new` with the line ends of the document."""
    first = re.search(r"\r\n|\n|\r", text)
    return new if first is None or first[0] == "\n" else new.replace("\n", first[0])
