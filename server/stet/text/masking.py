"""Masks, which blank the comments and the quoted code of a text.

A blanked part keeps its length and its line ends, so that offsets in the masked text are offsets in
the text.
"""

import re
from bisect import bisect_left
from collections.abc import Callable

from stet.text.lines import split_lines

_NOT_A_LINE_END = re.compile(r"[^\r\n]")


def blank(text: str) -> str:
    """Return spaces in place of `text`."""
    return _NOT_A_LINE_END.sub(" ", text)


def _masker(source: str) -> Callable[[str], str]:
    """Return a function that blanks the matches of a pattern, except for its group `string`."""
    pattern = re.compile(source)
    keeps = "string" in pattern.groupindex

    def put(match: re.Match[str]) -> str:
        return match[0] if keeps and match["string"] is not None else blank(match[0])

    return lambda text: pattern.sub(put, text)


_STRING = r'"(?:[^"\\\r\n]|\\[^\r\n])*+"?' + r"|'(?:[^'\\\r\n]|\\[^\r\n])*+'?"
_C_COMMENT = r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)"

mask_python = _masker(
    r"#[^\r\n]*"
    r'|"""(?:[^"\\]|\\[\s\S]|"(?!""))*+(?:"""|\Z)'
    r"|'''(?:[^'\\]|\\[\s\S]|'(?!''))*+(?:'''|\Z)"
    r'|"(?:[^"\\\r\n]|\\[\s\S])*+"?'
    r"|'(?:[^'\\\r\n]|\\[\s\S])*+'?"
)
mask_c = _masker(rf"(?P<string>{_STRING})|//[^\r\n]*|{_C_COMMENT}")
mask_script = _masker(rf"(?P<string>{_STRING})|//[^\r\n]*|{_C_COMMENT}|`(?:[^`\\]|\\[\s\S])*+`?")
# A quote alone is a lifetime in Rust.
mask_rust = _masker(
    r"""\b[bc]?r(?P<marks>#*+)"(?:[^"]|"(?!(?P=marks)))*+(?:"|\Z)|"""
    rf"""//[^\r\n]*|{_C_COMMENT}|"(?:[^"\\]|\\[\s\S])*+"?|'(?:[^'\\\r\n]|\\[^\r\n]{{1,8}})'"""
)
mask_css = _masker(rf"(?P<string>{_STRING})|{_C_COMMENT}")
mask_hash = _masker(rf"(?P<string>{_STRING})|#[^\r\n]*")
mask_php = _masker(rf"(?P<string>{_STRING})|(?://|#(?!\[))[^\r\n]*|{_C_COMMENT}")
mask_latex = _masker(r"(?P<string>\\[^\r\n])|%[^\r\n]*")

_FENCE = re.compile(
    r"(?P<lead>(?:[ \t]|>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*+)(?P<marks>`{3,}|~{3,})(?P<info>.*)"
)
_RUN = re.compile(r"`+")
_OPENING = re.compile(r"\\[^\r\n]|`+")
_PARAGRAPH_END = re.compile(r"(?:\r\n|\n|\r)[ \t>]*(?=[\r\n]|\Z)")


def mask_markdown(text: str) -> str:
    """Return Markdown without its fences, its inline code and its HTML comments."""
    return _without_comments(_without_ticks(_without_fences(text)))


def _without_comments(text: str) -> str:
    """Blank each comment `<!-- ... -->`; an unclosed comment is text."""
    pieces: list[str] = []
    done = 0
    while (start := text.find("<!--", done)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        pieces += [text[done:start], blank(text[start : end + 3])]
        done = end + 3
    return "".join((*pieces, text[done:]))


def _without_fences(text: str) -> str:
    """Blank every fenced block with its fences; an unclosed block goes to the end of the text."""
    lines = split_lines(text)
    opened: str | None = None
    for number, line in enumerate(lines):
        match = _FENCE.match(line)
        if opened is None:
            if match is None or (match["marks"][0] == "`" and "`" in match["info"]):
                continue
            opened = match["marks"]
        elif match is not None and match["marks"].startswith(opened) and not match["info"].strip():
            opened = None
        lines[number] = blank(line)
    return "".join(lines)


def _without_ticks(text: str) -> str:
    """Blank inline code: from a run of backticks to the next one as long, within a paragraph.

    A backslash before a run prevents it from opening code, but not from closing code.
    """
    runs: dict[int, list[int]] = {}
    for match in _RUN.finditer(text):
        runs.setdefault(len(match[0]), []).append(match.start())
    ends = [*(found.start() for found in _PARAGRAPH_END.finditer(text)), len(text)]
    pieces: list[str] = []
    done = 0
    place = 0
    while (opening := _OPENING.search(text, place)) is not None:
        place = opening.end()
        n_ticks = len(opening[0])
        same = runs.get(n_ticks, []) if opening[0][0] == "`" else []
        nth = bisect_left(same, place)
        if nth < len(same) and same[nth] < ends[bisect_left(ends, place)]:
            place = same[nth] + n_ticks
            pieces += [text[done : opening.start()], blank(text[opening.start() : place])]
            done = place
    return "".join((*pieces, text[done:]))
