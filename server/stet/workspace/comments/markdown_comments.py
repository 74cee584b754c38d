"""Comments of Markdown: those of HTML, outside of code."""

import re

from stet.text.lines import split_lines

_FENCE = re.compile(r"(?: {0,3}|[ \t]*(?:[-*+>]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})([^\n\r]*)")
_TICKS = re.compile(r"`+")


def comments_of_markdown(text: str) -> list[tuple[int, int]]:
    """Where the comments of `text` are (code points, half-open), in order.

    Fenced code and code within a line (CommonMark 0.31, 4.5 and 6.1) hold none. Code that is code by
    its indent alone is taken for text.
    """
    spans: list[tuple[int, int]] = []
    offset, fence, after = 0, "", 0
    for line in split_lines(text):
        end = offset + len(line)
        if offset >= after:
            found = _FENCE.match(line)
            if fence:
                if found and found[1].startswith(fence) and not found[2].strip():
                    fence = ""
            elif found and not (found[1][0] == "`" and "`" in found[2]):
                fence = found[1]
            else:
                after = _on_line(text, offset, end, spans)
        elif not fence:
            after = max(after, _on_line(text, min(after, end), end, spans))
        offset = end
    return spans


def _on_line(text: str, at: int, end: int, spans: list[tuple[int, int]]) -> int:
    """Add the comments that begin on a line from `at` on; gives where the last one ends."""
    while at < end:
        start = text.find("<!--", at, end)
        ticks = _TICKS.search(text, at, end)
        if ticks and (start < 0 or ticks.start() < start):
            closing = re.compile(rf"(?<!`){ticks[0]}(?!`)").search(text, ticks.end(), end)
            at = closing.end() if closing else ticks.end()
            continue
        if start < 0:
            return at
        close = text.find("-->", start + 4)
        if close < 0:
            return end
        spans.append((start, close + 3))
        at = close + 3
    return at
