"""Comments by tree-sitter, for languages whose grammar is installed (`tree_sitter_NAME`)."""

import importlib
import importlib.util
import re
from collections.abc import Iterable
from typing import Any

_NAMES = {
    "javascriptreact": "javascript",
    "typescriptreact": "typescript",
    "shellscript": "bash",
    "sh": "bash",
    "csharp": "c_sharp",
}
"""Editors' names of languages that their grammar has another name for."""
_MIXED = frozenset({"html", "vue", "svelte", "astro", "php", "embedded_template", "markdown"})
"""Languages with others inside, which their grammar leaves unread."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def comments_by_grammar(text: str, language: str) -> list[tuple[int, int]] | None:
    """Where the comments of `text` are (code points, half-open), in order; None without a grammar.

    Args:
        text: All of it.
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
    try:
        tree_sitter = importlib.import_module("tree_sitter")
        module = importlib.import_module(f"tree_sitter_{name}")
    except ImportError:
        return None
    variant = "tsx" if language == "typescriptreact" else name
    make = getattr(module, "language", None) or getattr(module, f"language_{variant}", None)
    if make is None:
        return None
    grammar = tree_sitter.Language(make())
    return grammar if _comment_kinds(grammar) else None


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
    """Offsets of bytes, in order, as offsets of code points."""
    done, counted, found = 0, 0, []
    for start, end in spans:
        counted += len(source[done:start].decode("utf-8", "replace"))
        begins = counted
        counted += len(source[start:end].decode("utf-8", "replace"))
        done = end
        found.append((begins, counted))
    return found
