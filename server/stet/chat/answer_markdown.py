"""The Markdown of an answer within a chat document: headings below those of the document, closed
fences.

An answer is a section of the document, so its headings are lowered by two levels: `# Plan` becomes
`### Plan`. Code blocks stay as they are. The text may be given in pieces, as it is streamed.
"""

import re

from stet.chat.chat_layout import escape_markdown, stable_length

LOWERED_BY = 2
MAX_LEVEL = 6
_HEADING = re.compile(r"( {0,3})(#{1,6})(?=[ \t]|\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)\Z", re.DOTALL)
_UNDECIDED = re.compile(r" {0,3}(?:#|`{3}|~{3}|`{0,2}\Z|~{1,2}\Z|\*…?\Z)")
"""The start of an incomplete line that may become a heading, a fence or like a status line."""


class AnswerMarkdown:
    """The conversion of one answer, in pieces; a piece need not end with a line."""

    def __init__(self) -> None:
        """Start at the beginning of an answer."""
        self._fence = ""
        """The fence of the code block that is open; empty outside of a block."""
        self._is_within_line = False

    @property
    def closing_fence(self) -> str:
        """The fence that closes the code block that is open; empty if none is open."""
        return self._fence

    def stable_length(self, text: str) -> int:
        """Return how many code points of an incomplete text, the next piece, can be converted: more
        text does not change their form.
        """
        line = text.rfind("\n") + 1
        if (line or not self._is_within_line) and _UNDECIDED.match(text, line):
            return line
        context = "x" if self._is_within_line else ""
        return max(stable_length(context + text) - len(context), 0)

    def convert(self, text: str) -> str:
        """Return the next piece of the answer in the form in which the document shows it."""
        first, *others = text.split("\n")
        lines = [first if self._is_within_line else self._convert_line(first)]
        lines += map(self._convert_line, others)
        # The first line may continue another: a letter stands for the beginning of that line.
        context = "x" if self._is_within_line else ""
        shown = escape_markdown(context + "\n".join(lines))[len(context) :]
        if text:
            self._is_within_line = not text.endswith("\n")
        return shown

    def _convert_line(self, line: str) -> str:
        """Return a line, lowered if it is a heading outside of code; note where code begins and
        ends.
        """
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and not fence[2].strip():
                self._fence = ""
            return line
        if fence and not (fence[1][0] == "`" and "`" in fence[2]):
            self._fence = fence[1]
            return line
        heading = _HEADING.match(line)
        if heading is None:
            return line
        level = min(len(heading[2]) + LOWERED_BY, MAX_LEVEL)
        return f"{heading[1]}{'#' * level}{line[heading.end() :]}"


def answer_markdown(text: str) -> str:
    """Return a whole answer in the form in which the document shows it, without blank space
    around.
    """
    markdown = AnswerMarkdown()
    shown = markdown.convert(text).strip()
    return f"{shown}\n{markdown.closing_fence}" if markdown.closing_fence else shown
