"""What a context is made of."""

from dataclasses import dataclass

from stet.llm.tokens import estimate_tokens
from stet.text.document import TextDocument
from stet.text.position import Position, Range


@dataclass(frozen=True, slots=True)
class EditorLocation:
    """Where a question was asked. All positions are in code points, 0-based.

    Attributes:
        uri: Of the document; None: the active one.
        range: What is selected there, of several selections the main one; None: what the editor last
            said.
        caret: Where the caret is; None: at the end of what is selected.
        selections: All that is selected there, where that is more than `range`.
    """

    uri: str | None = None
    range: Range | None = None
    caret: Position | None = None
    selections: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextSection:
    """One part of a context.

    Attributes:
        name: Its tag.
        text: All of it, tags included, as it is sent.
    """

    name: str
    text: str

    @property
    def tokens(self) -> int:
        """Its size, estimated."""
        return estimate_tokens(self.text)


@dataclass(frozen=True, slots=True)
class Context:
    """Exactly what the model is sent with a question.

    Attributes:
        sections: In the order in which they are sent; `user_query_section` is the last.
        shown: The documents that are in it, in whole or in part, as they were: what an edit says
            about their text or their lines is about these.
        problems: What the question mentions and is not in it, a sentence each.
    """

    sections: tuple[ContextSection, ...]
    shown: tuple[TextDocument, ...]
    problems: tuple[str, ...] = ()
    line_ranges: tuple[tuple[TextDocument, int, int], ...] = ()
    """Of very long documents, the lines that may be in it: from (0-based), and behind the last."""

    @property
    def text(self) -> str:
        """What is sent."""
        *data, query = (section.text for section in self.sections)
        return "\n".join(("<additional_data>", *data, "</additional_data>", query))

    @property
    def tokens(self) -> int:
        """Its size, estimated."""
        return estimate_tokens(self.text)
