"""The texts that users read, gathered from the sources of the server, the editors and the docs."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from pygments.lexer import Lexer
from pygments.lexers.javascript import TypeScriptLexer
from pygments.lexers.lisp import EmacsLispLexer
from pygments.lexers.scripting import LuaLexer
from pygments.token import Token

_LEXERS: dict[str, type[Lexer]] = {
    ".lua": LuaLexer,
    ".el": EmacsLispLexer,
    ".ts": TypeScriptLexer,
}
_CODE_BLOCK = re.compile(r"^```.*?^```$|<!--.*?-->", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")


def user_strings(path: Path) -> Iterator[str]:
    """Yield each text with a space that a source file can show, in the order of the file.

    Of Python, these are all literals but docstrings, with `{}` for each placeholder. Of Lua, Lisp
    and TypeScript, these are all string literals; of JSON, all strings; of Markdown, each paragraph
    without its code; of Vim help, each paragraph.
    """
    text = path.read_text()
    match path.suffix:
        case ".py":
            found = _python_strings(ast.parse(text))
        case ".json":
            found = _json_strings(json.loads(text))
        case ".md" | ".txt":
            found = iter(_CODE.sub("", _CODE_BLOCK.sub("", text)).split("\n\n"))
        case suffix:
            found = _literals(_LEXERS[suffix](), text)
    yield from (" ".join(one.split()) for one in found if " " in one.strip())


def _python_strings(tree: ast.Module) -> Iterator[str]:
    skipped = {id(part) for node in ast.walk(tree) for part in _parts_and_docstring(node)}
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr(values=values):
                parts = (one.value if isinstance(one, ast.Constant) else "{}" for one in values)
                yield "".join(map(str, parts))
            case ast.Constant(value=str(text)) if id(node) not in skipped:
                yield text
            case _:
                pass


def _parts_and_docstring(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the constants that are parts of an f-string, or the docstrings in a body."""
    if isinstance(node, ast.JoinedStr):
        yield from node.values
    body = getattr(node, "body", None)
    for statement in body if isinstance(body, list) else []:
        if isinstance(statement, ast.Expr):
            yield statement.value


def _json_strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from _json_strings(item)
        case list():
            for item in value:
                yield from _json_strings(item)
        case _:
            pass


def _literals(lexer: Lexer, text: str) -> Iterator[str]:
    """Yield the string literals of a program; one that holds placeholders as several."""
    literal = ""
    for token, part in lexer.get_tokens(text):
        if token in Token.Literal.String:
            literal += part
        elif literal:
            yield literal
            literal = ""
    if literal:
        yield literal
