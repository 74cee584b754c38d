r"""Find functions, classes and the like in a text by the grammar of its language (tree-sitter).

Called only in a process that may be killed (`system/worker_process.py`): a parser can take minutes
for a short malicious text, and can't be interrupted. A language whose package `tree_sitter_NAME` is
not installed has no grammar here.

Queries in tree-sitter's language find the definitions. `@type` is a definition that contains
others, `@function` any other definition, `@outer` a node that wraps a definition and belongs to
it, `@above` a node that belongs to the definition below it. Declarations without a body are left
out, except declarations of C (`@declared`) with a comment or more than one line.
"""

import importlib
import importlib.util
import re
import signal
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from stet.outline.definition import MAX_SIGNATURE, Definition, with_plain_ends


class Grammar(NamedTuple):
    """A grammar and its query.

    Attributes:
        package: The Python package of the grammar.
        function: The function of the package that returns the language.
        endings: The endings of the language's files, separated by spaces.
        query: The query that finds definitions.
    """

    package: str
    function: str
    endings: str
    query: str


OUTER: Mapping[str, str | None] = MappingProxyType(
    {
        "export_statement": "declaration",
        "type_definition": "type",
        "template_declaration": None,
        "ambient_declaration": None,
        "lexical_declaration": "",
        "variable_declaration": "",
        "expression_statement": "",
        "type_declaration": "",
    }
)
"""Types of nodes that wrap a definition, each with the field that holds the definition; None for
the last child, empty for the only child."""

_C = """
(declaration declarator: [
  (function_declarator)
  (pointer_declarator declarator: [
    (function_declarator) (pointer_declarator declarator: (function_declarator))
  ])
]) @declared
(function_definition) @function
[(struct_specifier body: (_)) (union_specifier body: (_)) (enum_specifier body: (_))] @type
(type_definition) @outer
(comment) @above
"""
_CPP_QUERY = f"""{_C}
[(class_specifier body: (_)) (namespace_definition name: (_)) (concept_definition)] @type
(template_declaration) @outer
"""
_VALUES = "[(arrow_function) (function_expression) (generator_function)]"
_SCRIPT = f"""
[
  (function_declaration) (generator_function_declaration) (method_definition)
  (variable_declarator name: (identifier) value: {_VALUES})
  (assignment_expression left: [(identifier) (member_expression) (subscript_expression)] right: {_VALUES})
  (pair value: {_VALUES})
] @function
[
  (class_declaration)
  (variable_declarator name: (identifier) value: (class))
  (assignment_expression left: [(identifier) (member_expression) (subscript_expression)] right: (class))
] @type
[
  (export_statement declaration: (_)) (lexical_declaration) (variable_declaration)
  (expression_statement (assignment_expression))
] @outer
[(comment) (decorator)] @above
"""
_JAVASCRIPT = f"{_SCRIPT} (field_definition value: {_VALUES}) @function"
_TYPESCRIPT = f"""{_SCRIPT}
[
  (public_field_definition value: {_VALUES}) (function_signature) (type_alias_declaration)
] @function
[
  (abstract_class_declaration) (interface_declaration) (enum_declaration) (internal_module)
  (module)
] @type
[(ambient_declaration) (expression_statement (internal_module))] @outer
"""
_GO = """
[(function_declaration body: (_)) (method_declaration body: (_)) (type_spec) (type_alias)] @function
(type_declaration) @outer
(comment) @above
"""
_RUST = """
[(function_item) (macro_definition)] @function
[
  (struct_item) (enum_item) (union_item) (trait_item) (impl_item) (mod_item body: (_))
] @type
[(line_comment) (block_comment) (attribute_item)] @above
"""
_JAVA = """
[
  (method_declaration body: (_)) (constructor_declaration) (compact_constructor_declaration)
] @function
[
  (class_declaration) (interface_declaration) (enum_declaration) (record_declaration)
  (annotation_type_declaration)
] @type
[(line_comment) (block_comment)] @above
"""
_BASH = """
(function_definition) @function
(comment) @above
"""

GRAMMARS: Mapping[str, Grammar] = MappingProxyType(
    {
        "c": Grammar("tree_sitter_c", "language", ".c .h", _C),
        "cpp": Grammar(
            "tree_sitter_cpp", "language", ".cc .cpp .cxx .hh .hpp .hxx .inl", _CPP_QUERY
        ),
        "javascript": Grammar(
            "tree_sitter_javascript", "language", ".js .jsx .mjs .cjs", _JAVASCRIPT
        ),
        "typescript": Grammar(
            "tree_sitter_typescript", "language_typescript", ".ts .mts .cts", _TYPESCRIPT
        ),
        "tsx": Grammar("tree_sitter_typescript", "language_tsx", ".tsx", _TYPESCRIPT),
        "go": Grammar("tree_sitter_go", "language", ".go", _GO),
        "rust": Grammar("tree_sitter_rust", "language", ".rs", _RUST),
        "java": Grammar("tree_sitter_java", "language", ".java", _JAVA),
        "bash": Grammar("tree_sitter_bash", "language", ".sh .bash", _BASH),
    }
)
"""The grammars by the name of the language."""


MAX_CHARACTERS = 400_000
"""A longer text, in code points, is not parsed: it is generated, or takes long for its size."""
TEXT_SECONDS = 2.0
"""The limit of processor time for one text in a separate process."""
MAX_NAME = 120
MAX_HEAD = 4_000
"""The most bytes of a head that are read."""
MAX_DECLARATORS = 20
"""The most pointers, brackets and the like around the name of a C function."""
MAX_OUTER = 4

_CPP = re.compile(
    r"^[ \t]*+(?:class|namespace|template|using|public:|private:|protected:)\b", re.MULTILINE
)
_BEFORE_BODY = re.compile(r"(?:\s|=>|=(?!=)|\{)+$")
_QUOTES = "#[]'\"`"


def has_grammar(ending: str) -> bool:
    """Return whether a grammar for files with this ending (`.go`) is installed; do not load it."""
    name = _ENDINGS.get(ending)
    return name is not None and _is_installed(GRAMMARS[name].package)


def installed_grammars() -> str:
    """Return the names of the languages whose grammars are installed, with spaces between."""
    return " ".join(name for name in GRAMMARS if _is_installed(GRAMMARS[name].package))


_ENDINGS: Mapping[str, str] = MappingProxyType(
    {ending: name for name, grammar in GRAMMARS.items() for ending in grammar.endings.split()}
)


@lru_cache
def _is_installed(package: str) -> bool:
    return all(importlib.util.find_spec(each) is not None for each in ("tree_sitter", package))


class _LoadedGrammar(NamedTuple):
    parser: Any
    query: Any
    cursor: Any


def load_language(package: str, function: str) -> Any:
    """Return the language that a function of a grammar's package returns, or None if the package is
    missing or does not fit the installed tree-sitter.
    """
    with suppress(ImportError, AttributeError, ValueError):
        language = getattr(importlib.import_module(package), function)()
        return importlib.import_module("tree_sitter").Language(language)
    return None


@lru_cache
def _loaded(grammar: Grammar) -> _LoadedGrammar | None:
    """Return a grammar ready for use, or None if it can't be used."""
    language = load_language(grammar.package, grammar.function)
    if language is None:
        return None
    tree_sitter = importlib.import_module("tree_sitter")
    try:
        query = tree_sitter.Query(language, grammar.query)
    except ValueError:  # the grammar has another version
        return None
    return _LoadedGrammar(tree_sitter.Parser(language), query, tree_sitter.QueryCursor)


def answer_outline(request: tuple[str, str]) -> list[Definition] | None:
    """Return the definitions in `request`: a text with any line ends, and the file's ending.

    A timer ends this process if the text takes too long, even if the parent process is gone.
    """
    text, ending = request
    with suppress(AttributeError):  # there is no such timer on Windows
        signal.setitimer(signal.ITIMER_PROF, TEXT_SECONDS)
    return definitions_by_grammar(with_plain_ends(text), ending)


def definitions_by_grammar(text: str, ending: str) -> list[Definition] | None:
    r"""Return the definitions of a file in order of position, or None if no grammar can be used.

    Args:
        text: The text, with `\n` as its only line end.
        ending: The ending of the file's name.
    """
    name = _ENDINGS.get(ending)
    if name == "c" and ending == ".h" and _CPP.search(text):
        name = "cpp"
    loaded = None if name is None else _loaded(GRAMMARS[name])
    if loaded is None:
        return None
    source = text.encode("utf-8", "replace")
    tree = loaded.parser.parse(source)
    found = loaded.cursor(loaded.query).captures(tree.root_node)
    return _GrammarOutline(source, found).definitions()


class _GrammarOutline:
    """The captures of a query in one text."""

    def __init__(self, source: bytes, found: Mapping[str, list[Any]]) -> None:
        self._source = source
        self._starts = [0, *(found.end() for found in re.finditer(b"\n", source))]
        # The query returns the nodes in an order that differs between runs.
        self._types, self._functions, self._declared = (
            sorted(found.get(kind, ()), key=lambda node: (node.start_byte, -node.end_byte))
            for kind in ("type", "function", "declared")
        )
        self._outer = _by_inner(found.get("outer", []))
        self._above = self._alone(found.get("above", []))

    def definitions(self) -> list[Definition]:
        """See `definitions_by_grammar`."""
        made = [self._definition(node, is_type=True) for node in self._types]
        made += [self._definition(node, is_type=False) for node in self._functions]
        declared = [self._definition(node, is_type=False) for node in self._declared]
        made += [each for each in declared if each is not None and each.end - each.first > 1]
        found = [each for each in made if each is not None]
        return sorted(found, key=lambda each: (each.first, -each.end, each.head))

    def _definition(self, node: Any, *, is_type: bool) -> Definition | None:
        whole = node
        for _ in range(MAX_OUTER):
            whole = self._outer.get(whole.id, whole)
        named = _named(node) or (_declared(whole) if whole.type == "type_definition" else None)
        if named is None:
            return None
        name = self._impl(node) if node.type == "impl_item" else self._name(named)
        if not name:
            return None
        head = self._row(named.start_byte)
        first = self._row(whole.start_byte)
        while (above := self._above.get(first - 1)) is not None:
            first = above
        end = self._row(whole.end_byte - 1) + 1
        return Definition(first, head, end, name, self._signature(whole, node), is_type)

    def _row(self, place: int) -> int:
        """Return the line (0-based) of a byte. A node's points are not used: py-tree-sitter 0.26.0
        counts the references to their numbers wrongly, which crashes the process.
        """
        return bisect_right(self._starts, place) - 1

    def _alone(self, nodes: Iterable[Any]) -> dict[int, int]:
        """Return the first line, by the last, of comments and attributes on lines without code."""
        found = {}
        for node in nodes:
            start, end = node.start_byte, node.end_byte
            first, last = self._row(start), self._row(max(start, end - 1))
            before = self._source[self._starts[first] : start]
            below = self._starts[last + 1] if last + 1 < len(self._starts) else None
            if not before.strip() and not self._source[end:below].strip():
                found[last] = first
        return found

    def _name(self, node: Any) -> str:
        text = self._text(node.start_byte, min(node.end_byte, node.start_byte + MAX_HEAD))
        return text.strip(_QUOTES)[:MAX_NAME]

    def _impl(self, node: Any) -> str:
        """Return the name of a Rust `impl`: its head without the bounds."""
        where = [child for child in node.children if child.type == "where_clause"]
        stop = where[0] if where else node.child_by_field_name("body")
        head = self._text(node.start_byte, node.end_byte if stop is None else stop.start_byte)
        return head.removeprefix("unsafe ")[:MAX_NAME].rstrip()

    def _signature(self, whole: Any, node: Any) -> str:
        start = max((end for each in (whole, node) for end in _decorated(each)), default=0)
        start = max(start, whole.start_byte)
        valued = next(filter(None, map(node.child_by_field_name, ("value", "right"))), node)
        body = valued.child_by_field_name("body")
        if body is None:
            text = self._text(start, whole.end_byte).partition("{")[0]
        else:
            text = self._text(start, body.start_byte)
        return _BEFORE_BODY.sub("", text)[:MAX_SIGNATURE].rstrip()

    def _text(self, start: int, end: int) -> str:
        """Return the text from `start` to `end`, on one line."""
        text = self._source[start : min(end, start + MAX_HEAD)].decode("utf-8", "ignore").strip()
        return " ".join(text.split())


def _by_inner(nodes: Iterable[Any]) -> dict[int, Any]:
    """Return the wrappers of definitions (`export`, `template`, `const`) by the wrapped node."""
    found = {}
    for node in nodes:
        field = OUTER[node.type]
        if field:
            inner = node.child_by_field_name(field)
        elif field is None:
            inner = node.named_children[-1]
        else:
            inner = node.named_children[0] if node.named_child_count == 1 else None
        if inner is not None:
            found[inner.id] = node
    return found


def _named(node: Any) -> Any:
    """Return the node that names a definition, or None if the definition has no name."""
    for field in ("name", "left", "key", "property"):
        if (named := node.child_by_field_name(field)) is not None:
            return named
    return node if node.type == "impl_item" else _declared(node)


def _declared(node: Any) -> Any:
    """Return the innermost declarator of C, or None if there is no declarator."""
    inner = node.child_by_field_name("declarator")
    for _ in range(MAX_DECLARATORS):
        if inner is None or inner.type in _LEAVES:
            return inner
        inside = inner.child_by_field_name("declarator")
        if inside is None and inner.type in _BRACKETS:
            inside = inner.named_children[-1] if inner.named_children else None
        if inside is None:
            return inner
        inner = inside
    return None


_LEAVES = frozenset(
    {
        "identifier", "field_identifier", "type_identifier", "qualified_identifier",
        "operator_name", "destructor_name",
    }
)  # fmt: skip
_BRACKETS = frozenset({"parenthesized_declarator", "reference_declarator", "attributed_declarator"})


def _decorated(node: Any) -> Iterable[int]:
    """Yield the ends, in bytes, of decorators and annotations in front of a definition."""
    for child in node.children[:MAX_DECLARATORS]:
        if child.type == "decorator":
            yield child.end_byte
        elif child.type == "modifiers":
            yield from (each.end_byte for each in child.children if "annotation" in each.type)
