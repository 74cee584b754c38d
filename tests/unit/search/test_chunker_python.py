"""Python cut into passages."""

import ast
import inspect
import json.decoder
import textwrap
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.outline.python_definitions import python_definitions
from stet.search.chunk import Chunk
from stet.search.chunker import chunk_file

MODULE = '''\
"""A module.

def not_this(): ...
"""
import os

LIMIT = 1

# What it is for.
@decorated(
    by=os,
)
class Server(Base, metaclass=Meta):
    """Serves."""

    port: int = 1

    def start(self) -> None:
        def inner() -> int:
            return """
def no():
"""
        # at its end

    # Above.
    @property
    async def run(
        self, a: dict[str, int] = {"a:": 1},  # a comment with a ):
    ) -> None: ...

    class Session:
        def stop(self): pass
    state = 2

if LIMIT:
    def main(): return 1
else:
    x = 2
'''


def test_a_module_is_cut_at_its_classes_and_functions() -> None:
    assert chunk_file(MODULE, "a.py") == (
        Chunk(0, 7),
        Chunk(8, 16, "Server", "", "class Server(Base, metaclass=Meta)", is_definition=True),
        Chunk(17, 23, "start", "Server", "def start(self) -> None", is_definition=True),
        Chunk(
            24,
            29,
            "run",
            "Server",
            'async def run( self, a: dict[str, int] = {"a:": 1}, ) -> None',
            is_definition=True,
        ),
        Chunk(30, 31, "Session", "Server", "class Session", is_definition=True),
        Chunk(31, 32, "stop", "Server.Session", "def stop(self)", is_definition=True),
        Chunk(32, 33, "", "Server"),
        Chunk(34, 35),
        Chunk(35, 36, "main", "", "def main()", is_definition=True),
        Chunk(36, 38),
    )


def test_a_function_keeps_those_in_it_unless_it_is_very_long() -> None:
    short = "def outer():\n    def inner():\n        pass\n    return inner\n"
    assert [each.name for each in chunk_file(short, "a.py")] == ["outer"]
    inner = "    def inner():\n        return 1\n\n"
    names = [(each.name, each.scope) for each in chunk_file(f"def outer():\n{inner * 50}", "a.py")]
    assert names == [("outer", ""), *[("inner", "outer")] * 50]


def test_a_long_function_is_cut_and_only_its_first_part_defines_it() -> None:
    text = "class A:\n    def f(self):\n" + "        x = 1\n" * 100
    assert chunk_file(text, "a.py") == (
        Chunk(0, 1, "A", "", "class A", is_definition=True),
        Chunk(1, 52, "f", "A", "def f(self)", is_definition=True),
        Chunk(52, 102, "f", "A"),
    )


@pytest.mark.parametrize(
    "line",
    [
        "x = \"'''\"",
        '# it\'s """ here',
        "x = 'a#b' + '''c'''",
        "x = '''a\\'''b'''",
        'x = """""" + ""',
        "x = r'\\'",
    ],
)
def test_quotes_in_strings_and_comments_hide_nothing(line: str) -> None:
    assert [each.name for each in chunk_file(f"{line}\n\ndef f(): ...\n", "a.pyi")] == ["", "f"]


def test_long_signature_is_shortened() -> None:
    (chunk,) = chunk_file(f"def f({'a, ' * 500}\n b): ...", "a.py")
    assert chunk.signature == f"def f({'a, ' * 98}".rstrip()
    assert chunk_file("def f(a", "a.py")[0].signature == "def f(a"


@pytest.mark.parametrize("module", [ast, inspect, json.decoder, textwrap, typing])
def test_what_a_compiler_finds_is_found(module: object) -> None:
    text = inspect.getsource(module)  # type: ignore[arg-type]
    lines = text.split("\n")
    found = {
        (each.head + 1, _without_comments(lines, each.end), each.name)
        for each in python_definitions(text, lines)
    }
    assert _definitions(ast.parse(text)) <= found


def _definitions(tree: ast.AST) -> set[tuple[int, int | None, str]]:
    found = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add((node.lineno, node.end_lineno, node.name))
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found |= _definitions(node)
    return found


def _without_comments(lines: list[str], end: int) -> int:
    while not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#"):
        end -= 1
    return end


BODIES = st.sampled_from(
    ["pass", "x = 1", '"""a\ndef no(): ...\nb"""', "# end", "return (\n1,\n)", "if x:\n    y = 1"]
)
FUNCTIONS = st.tuples(
    st.sampled_from(["f", "g"]),
    st.sampled_from(["", "@d\n", "# c\n@d(\n    1,\n)\n"]),
    st.sampled_from(["def {}():", "async def {}(\n    a=':',\n):", "def {}(a: 'b') -> c:  # d"]),
    st.lists(BODIES, min_size=1, max_size=4),
).map(
    lambda drawn: (
        drawn[1]
        + drawn[2].format(drawn[0])
        + "\n"
        + textwrap.indent("\n".join(drawn[3]), "    ")
        + "\n    return x\n"
    )
)
MODULES = st.recursive(
    FUNCTIONS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("\n".join),
        inner.map(lambda text: f"class A:\n{textwrap.indent(text, '    ')}"),
        inner.map(lambda text: f"if x:\n{textwrap.indent(text, '  ')}else:\n  y = 1\n"),
    ),
    max_leaves=12,
)


@given(MODULES)
def test_of_any_ordinary_module_the_same_is_found_as_by_a_compiler(text: str) -> None:
    lines = text.split("\n")
    found = {(each.head + 1, each.end, each.name) for each in python_definitions(text, lines)}
    assert found == _definitions(ast.parse(text))
