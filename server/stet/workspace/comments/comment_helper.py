"""The process that finds AI comments, so that a text that is slow to parse blocks nothing.

The process reads one JSON object, `{"text", "language", "name"}`, and writes one JSON array of
`[marker, instruction, start, end]`; offsets are code points. Memory and processor time are limited
where the system can do that; the process that starts this one limits the rest.

Comments are found by tree-sitter, for languages whose grammar is installed (`tree_sitter_NAME`), by
a lexer of Pygments, or by the signs that most languages have. Markdown has the comments of HTML,
outside of code.
"""

import importlib
import json
import re
import sys
from collections.abc import Iterable
from typing import Any

from stet.outline.grammar_definitions import load_language
from stet.system.resource_limits import limit_resources
from stet.text.ai_comments import AiComment, find_ai_comments
from stet.text.lines import split_lines

MEMORY = 2_000_000_000
"""The maximum address space, in bytes."""
CPU_SECONDS = 10
_MARK = re.compile(r"(?<!\w)AI[!?]", re.IGNORECASE)


def main() -> None:
    """Answer one question on the standard streams."""
    limit_resources(memory=MEMORY, cpu_seconds=CPU_SECONDS)
    request = json.loads(sys.stdin.readline())
    text = request["text"]
    found: tuple[AiComment, ...] = ()
    if _MARK.search(text):
        found = find_ai_comments(text, comments_of(text, request["language"], request["name"]))
    answer = [[one.marker, one.text, one.start, one.end] for one in found]
    sys.stdout.write(json.dumps(answer))


def comments_of(text: str, language: str, name: str) -> list[tuple[int, int]]:
    """Return the ranges of the comments of `text` (code points, half-open), in order and disjoint.

    Args:
        text: The whole text.
        language: The editor's name of the language; empty if it is not known.
        name: The file's name.
    """
    language = language.lower()
    if language == "markdown":
        return comments_of_markdown(text)
    found = comments_by_grammar(text, language)
    if found is None:
        # A late import: it takes long, and is not needed with a grammar.
        from stet.workspace.comments.lexer_comments import comments_by_lexer

        found = comments_by_lexer(text, language, name)
    return comments_by_sign(text) if found is None else found


_NAMES = {
    "javascriptreact": "javascript",
    "typescriptreact": "typescript",
    "shellscript": "bash",
    "sh": "bash",
    "csharp": "c_sharp",
}
"""The grammar's name for an editor's name of a language, if they differ."""
_MIXED = frozenset({"html", "vue", "svelte", "astro", "php", "embedded_template", "markdown"})
"""Languages that contain other languages, which their grammar does not parse."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def comments_by_grammar(text: str, language: str) -> list[tuple[int, int]] | None:
    """Return the ranges of the comments of `text` (code points, half-open), in order; None without
    a grammar.

    Args:
        text: The whole text.
        language: The editor's name of the language.
    """
    grammar = _grammar(language)
    if grammar is None:
        return None
    tree_sitter = importlib.import_module("tree_sitter")
    source = text.encode("utf-8", "replace")  # as many code points: a lone surrogate becomes `?`
    tree = tree_sitter.Parser(grammar).parse(source)
    query = " ".join(f"({kind}) @comment" for kind in _comment_kinds(grammar))
    cursor = tree_sitter.QueryCursor(tree_sitter.Query(grammar, query))
    found = cursor.captures(tree.root_node).get("comment", [])
    return _in_code_points(source, _outermost((node.start_byte, node.end_byte) for node in found))


def _grammar(language: str) -> Any:
    """Return the grammar of a language, or None if there is no usable grammar."""
    name = _NAMES.get(language, language)
    if not _NAME.fullmatch(name) or name in _MIXED:
        return None
    variant = "tsx" if language == "typescriptreact" else name
    for function in ("language", f"language_{variant}"):
        grammar = load_language(f"tree_sitter_{name}", function)
        if grammar is not None:
            return grammar if _comment_kinds(grammar) else None
    return None


def _comment_kinds(grammar: Any) -> list[str]:
    """Return the names of a grammar's nodes that are comments."""
    kinds = (
        grammar.node_kind_for_id(n)
        for n in range(grammar.node_kind_count)
        if grammar.node_kind_is_named(n) and grammar.node_kind_is_visible(n)
    )
    return sorted({kind for kind in kinds if kind == "comment" or kind.endswith("_comment")})


def _outermost(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    outermost: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start < end and not (outermost and start < outermost[-1][1]):
            outermost.append((start, end))
    return outermost


def _in_code_points(source: bytes, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return offsets of bytes, in order, as offsets of code points."""
    done, counted, found = 0, 0, []
    for start, end in spans:
        counted += len(source[done:start].decode("utf-8", "replace"))
        begins = counted
        counted += len(source[start:end].decode("utf-8", "replace"))
        done = end
        found.append((begins, counted))
    return found


_FENCE = re.compile(r"(?: {0,3}|[ \t]*(?:[-*+>]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})([^\n\r]*)")
_TICKS = re.compile(r"`+")


def comments_of_markdown(text: str) -> list[tuple[int, int]]:
    """Return the ranges of the comments of `text` (code points, half-open), in order.

    Fenced code and code within a line (CommonMark 0.31, 4.5 and 6.1) contain no comments. Code that
    is code by its indent alone is treated as text.
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
    """Add the comments that begin on a line from `at` on; return the end of the last one."""
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


_QUOTED = re.compile(r"\"(?:[^\"\\\n\r]|\\[^\n\r])*+\"|'(?:[^'\\\n\r]|\\[^\n\r])*+'|`[^`\n\r]*+`")
_BLOCK = re.compile(r"/\*.*?\*/|<!--.*?-->", re.DOTALL)
_TO_LINE_END = re.compile(
    r"(?:#+|//+|--+|;+|%+|\.\.|(?:rem|dnl)\b)!?(?=\s|AI[!?])[^\n\r]*", re.IGNORECASE
)
_START = re.compile(r"[\"'`/<#\-;%.]|\b(?:rem|dnl)\b", re.IGNORECASE)


def comments_by_sign(text: str) -> list[tuple[int, int]]:
    """Return the likely ranges of comments in `text` (code points, half-open), in order.

    A sign counts at the beginning of a line or after white space. Text that is quoted on one line
    is no comment.
    """
    spans: list[tuple[int, int]] = []
    endless: set[str] = set()  # opening signs without an end after them: not searched again
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


if __name__ == "__main__":
    main()
