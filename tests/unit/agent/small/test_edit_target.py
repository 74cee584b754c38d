"""The lines that a request is about, as pictures: `|` marks them, `$0` is the cursor."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.agent.small.edit_target import (
    Lines,
    code_names,
    is_short,
    lines_at,
    named_lines,
    outline_of,
)
from stet.text.document import TextDocument

STACK = """\
 import os


 class Stack:
     def push(self, item):
         self.items.append(item)

     def pop(self):
         return self.items.pop()


 class Queue:
     @traced
     def  pop(self):
         return self.items.pop(0)


 # The size of a stack.
 def size(stack):
     return len(stack.items)
"""


def document_of(picture: str, name: str = "a.py") -> TextDocument:
    """Return the text of a picture, whose first column is for marks."""
    text = "".join(line[1:] or "\n" for line in picture.splitlines(keepends=True))
    return TextDocument(f"file:///{name}", text.replace("$0", ""))


def cursor_of(picture: str) -> int:
    """Return the line of `$0`, 0-based."""
    return next(n for n, line in enumerate(picture.splitlines()) if "$0" in line)


def picture_of(document: TextDocument, lines: Lines | None) -> str:
    """Return the text with a mark before each of the lines."""
    first, end = lines or (0, 0)
    return "".join(
        "\n" if line == "\n" else ("|" if first <= number < end else " ") + line
        for number, line in enumerate(document.text.splitlines(keepends=True))
    )


def marked(picture: str, *lines: str) -> str:
    """Return a picture with a mark before the lines that contain one of these texts."""
    return "".join(
        ("|" if any(one in line for one in lines) else line[0]) + line[1:]
        for line in picture.splitlines(keepends=True)
    ).replace("$0", "")


@pytest.mark.parametrize(
    ("prompt", "lines"),
    [
        ("push() should return the item.", ["def push", "append"]),
        ("Queue.pop fails on an empty queue", ["@traced", "def  pop", "pop(0)"]),
        ("`size` must not fail", ["# The size", "def size", "len(stack"]),
        ("Let it be faster", []),
    ],
    ids=["a function", "a method of a named class", "with its comment", "nothing named"],
)
def test_named_lines_are_the_definition_that_the_request_names(
    prompt: str, lines: list[str]
) -> None:
    document = document_of(STACK)
    found = named_lines(document, outline_of(document), prompt, None)
    assert picture_of(document, found) == marked(STACK, *lines)


def test_named_lines_of_one_name_are_the_definition_at_the_cursor() -> None:
    document = document_of(STACK)
    outline = outline_of(document)
    heads = [named_lines(document, outline, "pop() must not fail", line) for line in (8, 14, None)]
    assert heads == [(7, 9), (12, 15), (7, 9)]


def test_named_lines_of_two_close_functions_are_all_between() -> None:
    document = document_of(STACK)
    assert named_lines(document, outline_of(document), "push and size", None) == (4, 20)


def test_named_lines_of_two_distant_functions_are_those_of_the_first_named() -> None:
    text = "def last():\n    pass\n" + "x = 1\n" * 100 + "def first():\n    pass\n"
    document = TextDocument("file:///a.py", text)
    assert named_lines(document, outline_of(document), "first() calls last()", None) == (102, 104)


@pytest.mark.parametrize(
    "picture",
    [
        " def f():\n|    def g():\n|        ret$0urn 1\n     return g\n",
        " class A:\n|    def f(self):\n|        p$0ass\n",
        "|class A:\n|    x$0 = 1\n",
        " x = $0\n def f():\n     pass\n",
    ],
    ids=["the innermost", "a method", "a class", "no definition"],
)
def test_lines_at_are_those_of_the_innermost_function(picture: str) -> None:
    document = document_of(picture)
    found = lines_at(outline_of(document), cursor_of(picture))
    assert picture_of(document, found) == picture.replace("$0", "")


@pytest.mark.parametrize(
    ("request_text", "names"),
    [
        ("median() and `find` ignore max_size", ("median", "find", "max_size")),
        ("Stack.pop fails, maxSize too", ("Stack", "pop", "maxSize")),
        ("Make it better", ()),
    ],
)
def test_code_names_are_called_quoted_dotted_or_joined(
    request_text: str, names: tuple[str, ...]
) -> None:
    assert code_names(request_text) == names


@pytest.mark.parametrize(
    ("text", "short"), [("line\n" * 80, True), ("line\n" * 81, False), ("x" * 3001, False)]
)
def test_is_short(text: str, short: bool) -> None:
    assert is_short(TextDocument("file:///a.md", text)) is short


@given(
    st.text(alphabet="def f():\n  xclass,#", max_size=80), st.text(max_size=20), st.integers(0, 9)
)
def test_lines_of_any_text_are_lines_of_the_text(text: str, prompt: str, line: int) -> None:
    document = TextDocument("file:///a.py", text)
    outline = outline_of(document)
    for found in (named_lines(document, outline, prompt, line), lines_at(outline, line)):
        if found is not None:
            first, end = found
            assert 0 <= first < end <= len(document.lines)
