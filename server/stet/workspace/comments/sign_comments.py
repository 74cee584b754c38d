"""Comments by the signs that most languages have, for texts that nothing here can read."""

import re

_QUOTED = re.compile(r"\"(?:[^\"\\\n\r]|\\[^\n\r])*+\"|'(?:[^'\\\n\r]|\\[^\n\r])*+'|`[^`\n\r]*+`")
_BLOCK = re.compile(r"/\*.*?\*/|<!--.*?-->", re.DOTALL)
_TO_LINE_END = re.compile(
    r"(?:#+|//+|--+|;+|%+|\.\.|(?:rem|dnl)\b)!?(?=\s|AI[!?])[^\n\r]*", re.IGNORECASE
)
_START = re.compile(r"[\"'`/<#\-;%.]|\b(?:rem|dnl)\b", re.IGNORECASE)


def comments_by_sign(text: str) -> list[tuple[int, int]]:
    """Where comments seem to be in `text` (code points, half-open), in order.

    A sign counts at the beginning of a line or behind white space. What is quoted on one line is no
    comment.
    """
    spans: list[tuple[int, int]] = []
    endless: set[str] = set()  # without an end behind: looking again would take long
    at = 0
    while found := _START.search(text, at):
        start = found.start()
        at = found.end()
        if quoted := _QUOTED.match(text, start):
            at = quoted.end()
        elif text.startswith(("/*", "<!--"), start):
            if text[start] in endless:
                continue
            if block := _BLOCK.match(text, start):
                spans.append(block.span())
                at = block.end()
            else:
                endless.add(text[start])
        elif (start == 0 or text[start - 1].isspace()) and (
            line := _TO_LINE_END.match(text, start)
        ):
            spans.append(line.span())
            at = line.end()
    return spans
