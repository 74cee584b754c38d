"""What encloses a line: code of many languages, Markdown, and this project itself against `ast`."""

import ast
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stet
from stet.outline.indent_outline import Outline, Style, Symbol
from stet.outline.line_definitions import defined_name
from stet.review.resolve.prepared_edit import style_of
from stet.text.document import TextDocument
from stet.text.lines import split_lines

SOURCES = sorted(Path(stet.__file__).parent.glob("text/*.py"))


def document(text: str, ending: str = ".py") -> TextDocument:
    """A text written with an indent."""
    return TextDocument(f"file:///a{ending}", dedent(text).lstrip("\n"))


def places(text: str, ending: str = ".py") -> dict[str, str]:
    """What encloses each line that ends with a mark `#1`, `#2` and so on, or the like."""
    page = document(text, ending)
    read = Outline(page, style_of(page))
    found = {}
    for number, line in enumerate(page.lines):
        _, hash_mark, mark = line.rstrip().rpartition("«")
        if hash_mark:
            symbol = read.enclosing(number)
            found[mark.rstrip("»")] = ".".join(symbol.path) if symbol else ""
    return found


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("def area(self) -> int:", "area"),
        ("    async def area(self):", "area"),
        ("class Shape(Base):", "Shape"),
        ("export default async function load(url) {", "load"),
        ("export const load = async (url: string): Promise<void> => {", "load"),
        ("const area = side => side * side", "area"),
        ("  private async load(url: string): Promise<void> {", "load"),
        ("  area() {", "area"),
        ("export interface Shape {", "Shape"),
        ("export type Area = number", "Area"),
        ("pub(crate) async fn area<T>(side: T) -> T {", "area"),
        ("impl<T> Display for Shape<T> {", "impl<T> Display for Shape<T>"),
        ("macro_rules! square {", "square"),
        ("func (s *Shape) Area() float64 {", "Area"),
        ("func Area[T any](s T) T {", "Area"),
        ("type Shape struct {", "Shape"),
        ("static int area(const struct shape *s) {", "area"),
        ("unsigned long *area(", "area"),
        ("Shape::~Shape() {", "Shape::~Shape"),
        ("public static void main(String[] args) throws IOException {", "main"),
        ("public sealed interface Shape permits Circle {", "Shape"),
        ("  def self.area(side)", "self.area"),
        ("module Geometry::Flat", "Geometry::Flat"),
        ("local function area(side)", "area"),
        ("function M.shapes:area(side)", "M.shapes:area"),
        ("M.area = function(side)", "M.area"),
        ("install_all() {", "install_all"),
        ("defmodule Shapes.Flat do", "Shapes.Flat"),
        ("area <- function(side) {", "area"),
        ("fun area(side: Int): Int {", "area"),
        ("if (side > 0) {", None),
        ("} else if (side) {", None),
        ("for (const side of sides) {", None),
        ("return area(", None),
        ("x = area(side)", None),
        ("area(side)", None),
        ("print(area(side),", None),
        ("tuple(sorted(sides)), other(", None),
        ("classify = 1", None),
        ("definition of terms", None),
        ("", None),
    ],
)
def test_definitions_are_recognised_by_pattern(line: str, name: str | None) -> None:
    assert defined_name(line) == name


def test_brace_below_distinguishes_a_definition_from_a_declaration() -> None:
    assert defined_name("int area(int side)", "{\n") == "area"
    assert defined_name("int area(int side);", "{\n") is None
    assert defined_name("int area(int side)", "int other;\n") is None


def test_python_lines_belong_to_the_innermost_function_or_class() -> None:
    assert places(
        '''
        import os  # «import»
        @cache  # «decorator»
        def first(  # «def»
            side,  # «argument»
        ) -> int:  # «end of the head»
            if side:
                return 1  # «body»

            return 2

        LIMIT = 3  # «constant»

        class Shape:
            """A shape."""  # «docstring»

            @property
            def area(self):
                def inner():
                    return 1  # «inner»
                return inner  # «method»

            side = 1  # «attribute»
        '''
    ) == {
        "import": "",
        "decorator": "first",
        "def": "first",
        "argument": "first",
        "end of the head": "first",
        "body": "first",
        "constant": "",
        "docstring": "Shape",
        "inner": "Shape.area.inner",
        "method": "Shape.area",
        "attribute": "Shape",
    }


def test_c_lines_belong_to_their_function_with_braces_at_the_margin() -> None:
    assert places(
        """
        #include <stdio.h> //«include»
        int first(int side)
        { //«open»
            int x;
        #ifdef DEEP
            x = 1; //«behind a directive»
        #endif
        again:
            x = 2; //«behind a label»
        } //«close»

        static int second(void) {
            return 1; //«second»
        }
        """,
        ".c",
    ) == {
        "include": "",
        "open": "first",
        "behind a directive": "first",
        "behind a label": "first",
        "close": "first",
        "second": "second",
    }


def test_methods_carry_their_class_and_blocks_are_no_methods() -> None:
    assert places(
        """
        export class Shape extends Base {
          side = 1; //«field»

          area() {
            if (this.side) {
              return 1; //«in a block»
            } else {
              return 2; //«in the other»
            }
          } //«close»
        } //«close class»

        const scale = (by) => {
          return by; //«arrow»
        };
        scale(2); //«call»
        """,
        ".js",
    ) == {
        "field": "Shape",
        "in a block": "Shape.area",
        "in the other": "Shape.area",
        "close": "Shape.area",
        "close class": "Shape",
        "arrow": "scale",
        "call": "",
    }


def test_new_text_belongs_to_the_scope_of_its_indent() -> None:
    page = document(
        """
        def first():
            return 1

        def second():
            return 2
        """
    )
    read = Outline(page, Style.CODE)
    assert read.enclosing(1, "    ") == Symbol(("first",), 0)
    assert read.enclosing(2, "    ") == Symbol(("first",), 0)
    assert read.enclosing(3, "") is None
    assert read.enclosing(0, "") is None
    assert read.enclosing(6, "    ") == Symbol(("second",), 3)
    assert read.enclosing(7, "") is None


def test_markdown_lines_belong_to_their_section_and_fences_hold_no_headings() -> None:
    text = """
        ---
        title: x
        ---
        Before. «before»

        # Guide #

        Words. «guide»

        ## Install
        ```sh
        # not a heading
        make «fence»
        ~~~
        ```
        Words. «install»

        Other
        -----
        Words. «setext»

        Next
        ====
        ### Deep «heading»
        #no heading
        Words. «deep»
        """
    assert places(text, ".md") == {
        "before": "",
        "guide": "Guide",
        "fence": "Guide.Install",
        "install": "Guide.Install",
        "setext": "Guide.Other",
        "heading": "Next.Deep «heading»",
        "deep": "Next.Deep «heading»",
    }


def test_plain_text_encloses_nothing() -> None:
    assert Outline(document("def f():\n    pass\n"), Style.PLAIN).enclosing(1) is None


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_outline_of_this_package_agrees_with_ast(path: Path) -> None:
    lines = split_lines(path.read_text())
    expected = _owners(ast.parse(path.read_text()), len(lines))
    read = Outline(TextDocument("file:///a.py", path.read_text()), Style.CODE)
    wrong = []
    for number, line in enumerate(lines):
        symbol = read.enclosing(number)
        if line.strip() and (symbol.path if symbol else ()) != expected[number]:
            wrong.append(f"{number + 1}: {line.strip()}")
    assert len(wrong) <= len(lines) // 50, wrong


@given(st.text(alphabet="#=-`~ \tdef():{}\nclass@x", max_size=200), st.sampled_from(Style))
def test_any_text_has_an_outline_and_symbols_begin_at_or_above_their_lines(
    text: str, style: Style
) -> None:
    lines = split_lines(text)
    read = Outline(TextDocument("file:///a.py", text), style)
    for number in range(len(lines)):
        for indent in (None, "", "  "):
            symbol = read.enclosing(number, indent)
            assert symbol is None or 0 <= symbol.line < len(lines)


def _owners(tree: ast.AST, n_lines: int) -> list[tuple[str, ...]]:
    """By line, the names of the functions and classes round it, outermost first."""
    owners: list[tuple[str, ...]] = [()] * n_lines

    def visit(node: ast.AST, path: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            below = path
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                below = (*path, child.name)
                first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                for number in range(first - 1, child.end_lineno or first):
                    owners[number] = below
            visit(child, below)

    visit(tree, ())
    return owners
