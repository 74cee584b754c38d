"""What counts as a definition in each language that has a grammar: queries in tree-sitter's language.

`@type` is what definitions lie in, `@function` any other definition, `@outer` what leads one in and
belongs to it, `@above` what belongs to the definition below it. Declarations without a body are none,
but for those of C, `@declared`, if they have a comment or go over several lines.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Grammar(NamedTuple):
    """A grammar and what is asked of it.

    Attributes:
        package: Its Python package.
        function: What in the package gives the language.
        endings: Of the files that it reads, with spaces between.
        query: Finds definitions.
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
"""Nodes that lead in a definition, each with where that is: in this field; None for the last node in it;
empty for the only one, where there are no others."""

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
_CPP = f"""{_C}
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
        "cpp": Grammar("tree_sitter_cpp", "language", ".cc .cpp .cxx .hh .hpp .hxx .inl", _CPP),
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
"""By name of the language."""
