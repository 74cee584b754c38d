"""Find the links in a text, by the ending of the file's name and without I/O.

    >>> find_links("See [[Setup]].", "notes/a.md")
    (Link(LinkKind.WIKI, "Setup", 6),)

Links of a Markdown note are wikilinks and embeds, links, images, reference definitions and raw
HTML. They are found by a scan of the text, since a parser does not report the position of a link's
target. The rules are those of CommonMark 0.31 (sections 4.7 and 6.3) and, for wikilinks, those of
Obsidian.

Indented code is blanked: nothing in it is a link, a fence or a comment. Whether an indented line is
code depends on the lists and paragraphs above it, which a parser knows. A parser is slow, so it is
used only if such a line may be code and seems to hold a link, a fence or a comment.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping

from stet.links import imports
from stet.links.link import Link, LinkKind
from stet.notes.yaml_text import find_quoted
from stet.outline.headings import parse_blocks
from stet.text.document import MARKDOWN, ending_of
from stet.text.lines import split_lines
from stet.text.masking import blank, mask_markdown

_MAY_COUNT = re.compile(
    r"(?P<lead>(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]| {1,3}(?=[^ \t]))*+)(?: {4}| {0,3}\t)[^\r\n]*?"
    r"(?:\[\[|\]\(|\]:|<[a-zA-Z!]|`|~~~)"
)
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)[ \t]*+[^\r\n]")
_TEXT = re.compile(r" {0,3}(?:(?:[-*+]|\d{1,9}[.)]) {1,3}(?:\[[ xX]\] )?)?[^\W\d]")
_FOOTNOTE = re.compile(r" {0,3}\[\^[^\]\s]+\]:")


def mask_indented_code(text: str) -> str:
    """Blank the indented code of a note; offsets stay. A note that is too large stays unchanged."""
    lines = split_lines(text)
    if not _may_hold_code(lines):
        return text
    tokens, above = parse_blocks(text)
    of_footnotes = _lines_of_footnotes(lines)
    for token in tokens:
        if token.type != "code_block":
            continue
        first, end = (above + number for number in token.map)
        if token.level or first not in of_footnotes:
            lines[first:end] = map(blank, lines[first:end])
    return "".join(lines)


def _may_hold_code(lines: list[str]) -> bool:
    """Return whether a line may be code. An indented line right after text continues the text."""
    is_text = False
    for line in lines:
        found = _MAY_COUNT.match(line)
        if found is not None and (found["lead"] or not is_text):
            return True
        if _INDENTED.match(line) is None:
            is_text = _TEXT.match(line) is not None
    return False


def _lines_of_footnotes(lines: list[str]) -> frozenset[int]:
    """Return the indented lines (0-based) that continue a footnote. The parser knows no
    footnotes.
    """
    found = []
    is_footnote = is_below_blank = False
    for number, line in enumerate(lines):
        if not line.strip():
            is_below_blank = True
            continue
        if _FOOTNOTE.match(line):
            is_footnote = True
        elif _INDENTED.match(line) is not None:
            if is_footnote:
                found.append(number)
        elif is_below_blank:
            is_footnote = False
        is_below_blank = False
    return frozenset(found)


_FRONT_MATTER = re.compile(
    r"---[ \t]*(?:\r\n|\n|\r)(?:(?!---[ \t]*$|\.\.\.[ \t]*$).*+(?:\r\n|\n|\r|\Z))*+", re.MULTILINE
)
_IN_WIKI = r"[^\[\]|#\\\r\n]"
_WIKI = r"(?<!\\)(?P<mark>!?)\[\[(?P<name>%s*+)(?:#[^\[\]|\r\n]*+)?(?:\\?\|[^\[\]\r\n]*+)?\]\]"
_WIKI_IN_BODY = re.compile(_WIKI % _IN_WIKI)
_WIKI_IN_YAML = re.compile(_WIKI % rf"(?:{_IN_WIKI}|\\[\"/])")
_BEFORE_VALUE = (":", "-", ",", "[", "\n", "\r")
_MAX_BLANKS = 200
_BRACKETS = re.compile(r"\\[^\r\n]|[\[\]]|(?:\r\n|\n|\r)[ \t>]*(?=[\r\n]|\Z)")
_SPACE = r"[ \t]*(?:(?:\r\n|\n|\r)[ \t>]*)?"
_PLAIN = r"(?P<plain>(?:[^\s()<\\]|\\[^\s]|\((?:[^\s()\\]|\\[^\s]|\([^\s()]*+\))*+\))(?:[^\s()\\]|\\[^\s]|\((?:[^\s()\\]|\\[^\s]|\([^\s()]*+\))*+\))*+)"
_ANGLE = r"<(?P<angle>(?:[^<>\\\r\n]|\\[^\r\n])*+)>"
_DESTINATION = re.compile(rf"{_SPACE}(?:{_ANGLE}|{_PLAIN})")
_TITLE = re.compile(
    rf"""(?:[ \t\r\n]{_SPACE}(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)))?{_SPACE}\)"""
)
_DEFINITION = re.compile(
    rf"^[ \t>]*\[(?!\^)(?:[^\[\]\\\r\n]|\\[^\r\n]){{1,999}}\]:{_SPACE}(?:{_ANGLE}|(?P<plain>[^\s<]\S*))",
    re.MULTILINE,
)
_HTML = re.compile(
    r"<[a-zA-Z][^<>]{0,2000}?[ \t\r\n](?:href|src)=(?:\"(?P<double>[^\"<>\r\n]*)\"|'(?P<single>[^'<>\r\n]*)')"
)
_FILE_PART = re.compile(r"[^#?]*")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+:|//|[#?]|\s*$")


def find_mdx_links(text: str) -> Iterator[Link]:
    """Yield the links of an MDX note, in which an indented line is never code."""
    yield from _links(text, mask_markdown(text))


def find_markdown_links(text: str) -> Iterator[Link]:
    """Yield the links of a note, kind by kind. In front matter, yield only wikilinks."""
    yield from _links(text, mask_markdown(mask_indented_code(text)))


def _links(text: str, masked: str) -> Iterator[Link]:
    front = _FRONT_MATTER.match(masked)
    n_front = front.end() if front else 0
    yield from _wiki_in_yaml(text[:n_front], masked[:n_front])
    body = " " * n_front + masked[n_front:]
    for match in _WIKI_IN_BODY.finditer(body):
        yield from _wiki(match)
    yield from _inline(body)
    for match in _DEFINITION.finditer(body):
        yield from _target(match)
    yield from find_html_links(body)


def _wiki_in_yaml(text: str, masked: str) -> Iterator[Link]:
    """Yield the wikilinks of front matter, each with the quote of the surrounding YAML string. The
    quote is `[` if YAML reads the brackets of the link as a list.
    """
    links = list(_WIKI_IN_YAML.finditer(masked))
    quoted = list(find_quoted(text)) if links else []
    starts = [each.start for each in quoted]
    for match in links:
        nth = bisect_right(starts, match.start()) - 1
        is_quoted = nth >= 0 and match.start() < quoted[nth].end
        before = text[max(0, match.start() - _MAX_BLANKS) : match.start()].rstrip(" \t")
        is_value = before.endswith(_BEFORE_VALUE)
        yield from _wiki(match, quoted[nth].quote if is_quoted else "[" * is_value)


def _wiki(match: re.Match[str], quote: str = "") -> Iterator[Link]:
    name = match["name"].strip(" \t")
    if name and (quote == '"' or "\\" not in name):
        kind = LinkKind.EMBED if match["mark"] else LinkKind.WIKI
        n_blanks = len(match["name"]) - len(match["name"].lstrip(" \t"))
        yield Link(kind, name, match.start("name") + n_blanks, quote)


def find_html_links(text: str) -> Iterator[Link]:
    """Yield the targets of `href` and `src`."""
    for match in _HTML.finditer(text):
        group = "double" if match["double"] is not None else "single"
        yield from _file_part(LinkKind.MARKDOWN, match[group], match.start(group))


def _inline(text: str) -> Iterator[Link]:
    """Yield the targets in `[text](target "title")` and `![text](target)`, by matching brackets."""
    n_open = 0
    for match in _BRACKETS.finditer(text):
        if match[0] == "[":
            n_open += 1
        elif match[0] != "]":
            n_open = n_open if match[0][0] == "\\" else 0
        elif n_open:
            n_open -= 1
            if not text.startswith("(", match.end()):
                continue
            destination = _DESTINATION.match(text, match.end() + 1)
            if destination is not None and _TITLE.match(text, destination.end()):
                yield from _target(destination)


def _target(match: re.Match[str]) -> Iterator[Link]:
    if match["angle"] is not None:
        return _file_part(LinkKind.ANGLE, match["angle"], match.start("angle"))
    return _file_part(LinkKind.MARKDOWN, match["plain"], match.start("plain"))


def _file_part(kind: LinkKind, target: str, start: int) -> Iterator[Link]:
    """Yield the part of a URL before `#` and `?`, or nothing if the URL is not a file path."""
    if _SCHEME.match(target) is None:
        part = _FILE_PART.match(target)
        assert part is not None  # the pattern matches an empty text too
        yield Link(kind, part[0], start)


MAX_CHARACTERS = 1_000_000
"""A longer text, in code points, is not scanned: it is generated."""

_Finder = Callable[[str], Iterator[Link]]
_SCRIPT = (imports.find_javascript, imports.find_references)
_MARKUP = (imports.find_javascript, find_html_links)

_ENDINGS: tuple[tuple[str, tuple[_Finder, ...]], ...] = (
    (" ".join(ending[1:] for ending in MARKDOWN if ending != ".mdx"), (find_markdown_links,)),
    ("mdx", (find_mdx_links,)),
    ("py pyi", (imports.find_python,)),
    ("js jsx mjs cjs ts tsx mts cts", _SCRIPT),
    ("vue svelte astro", _MARKUP),
    ("html htm", (find_html_links,)),
    ("c h cc cpp cxx hh hpp hxx inl m mm cu cuh", (imports.find_c,)),
    ("rs", (imports.find_rust,)),
    ("go", (imports.find_go,)),
    ("java kt kts groovy scala", (imports.find_jvm,)),
    ("rb", (imports.find_ruby,)),
    ("php", (imports.find_php_files, imports.find_php_uses)),
    ("css scss sass less", (imports.find_css,)),
    ("tex ltx sty cls", (imports.find_latex, imports.find_latex_images)),
)
_FINDERS: Mapping[str, tuple[_Finder, ...]] = {
    f".{ending}": finders for endings, finders in _ENDINGS for ending in endings.split()
}


def has_links(name: str) -> bool:
    """Return whether a file of this name can contain links."""
    return ending_of(name) in _FINDERS


def find_links(text: str, name: str) -> tuple[Link, ...]:
    """Return the links in `text`, a file called `name`, in order of position.

    Links to the web are left out. Whether a link leads to a file is not checked.
    """
    if len(text) > MAX_CHARACTERS:
        return ()
    found = {link for find in _FINDERS.get(ending_of(name), ()) for link in find(text)}
    return tuple(sorted(found, key=lambda link: (link.start, link.end, link.kind)))
