"""Which lines of a file a fenced block replaces, as pictures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.agent.small.code_blocks import block_edits, code_blocks
from stet.agent.small.import_merge import LineEdit

FILE = '''\
"""Numbers."""

SIZE = 10


def half(n):
    # rounded down
    return n // 2


class Cart:
    def __init__(self):
        self.items = []

    def total(self):
        return sum(self.items)


def page(n):
    return n // SIZE
'''

PAGE = "def page(n):\n    return -(-n // SIZE)\n"
TOTAL = "def total(self):\n    return max(self.items)\n"


@pytest.mark.parametrize(
    ("block", "edits"),
    [
        (PAGE, [(19, 20, PAGE)]),
        (f"import math\n\n\n{PAGE}", [(19, 20, PAGE), (2, 1, "\nimport math\n")]),
        (TOTAL, [(15, 16, "    def total(self):\n        return max(self.items)\n")]),
        (
            "class Cart:\n    def total(self):\n        return max(self.items)\n",
            [(15, 16, "    def total(self):\n        return max(self.items)\n")],
        ),
        (
            "def third(n):\n    return n // 3\n\n\ndef page(n):\n    return third(n)\n",
            [
                (
                    19,
                    20,
                    "def third(n):\n    return n // 3\n\n\ndef page(n):\n    return third(n)\n",
                )
            ],
        ),
        (FILE.replace("SIZE = 10", "SIZE = 20"), [(1, 20, FILE.replace("SIZE = 10", "SIZE = 20"))]),
        (FILE, []),
        ("def page(n):\n    return n // SIZE\n", []),
        ("print(page(3))\n", None),
        ("    return -(-n // SIZE)\n", [(20, 20, "    return -(-n // SIZE)\n")]),
        ("return max(self.items)\n", [(16, 16, "        return max(self.items)\n")]),
        (
            "if n < 0:\n    return 0\n# rounded down\nreturn n // 2\n",
            [(7, 8, "    if n < 0:\n        return 0\n    # rounded down\n    return n // 2\n")],
        ),
        ("def other(n):\n    return page(n)\n", None),
        ("def page(n):\n    # ... rest of the code\n    ...\n", None),
        ("SIZE = 20\n", [(3, 3, "SIZE = 20\n")]),
        ("", None),
    ],
)
def test_functions_of_a_block_replace_those_of_the_file(
    block: str, edits: list[tuple[int, int, str]] | None
) -> None:
    found = block_edits(block, FILE, ".py")
    assert found == (None if edits is None else tuple(LineEdit(*one) for one in edits))


AVERAGE = '''\
def average(
    values,
):
    """Return the mean.

    0 for no values.
    """
    total = sum(values)
    return total / len(values)
'''


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ("if not values:\n    return 0\ntotal = sum(values)\nreturn total / len(values)\n", 8),
        (
            '"""Return the mean.\n\n0 for no values.\n"""\n'
            "if not values:\n    return 0\ntotal = sum(values)\nreturn total / len(values)\n",
            4,
        ),
    ],
)
def test_body_of_a_function_leaves_its_signature(body: str, first: int) -> None:
    indented = "".join(f"    {line}" if line.strip() else line for line in body.splitlines(True))
    assert block_edits(body, AVERAGE, ".py") == (LineEdit(first, 9, indented),)


HALF = "def halve(n):\n    # rounded down\n    return n // 2\n"
WITHOUT_HALF = FILE.replace("def half(n):\n    # rounded down\n    return n // 2\n\n\n", "")


@pytest.mark.parametrize(
    ("block", "request_text", "edits"),
    [
        pytest.param(HALF, "Rename half to halve.", [(6, 8, HALF)], id="a function is renamed"),
        pytest.param(
            "class Cart:\n    def sum_up(self):\n        return sum(self.items)\n",
            "Rename total() of Cart to sum_up().",
            [(15, 16, "    def sum_up(self):\n        return sum(self.items)\n")],
            id="a method is renamed",
        ),
        pytest.param(
            FILE.replace("def half", "def halve"),
            "Rename half to halve.",
            [(1, 20, FILE.replace("def half", "def halve"))],
            id="a function is renamed in the whole file",
        ),
        pytest.param(HALF, "Use halve here.", None, id="the request names only the new name"),
        pytest.param(
            WITHOUT_HALF, "Remove half().", [(1, 20, WITHOUT_HALF)], id="a function is removed"
        ),
        pytest.param(WITHOUT_HALF, "half() is wrong.", [], id="a function that was left out stays"),
    ],
)
def test_definition_is_renamed_or_removed_if_the_request_says_so(
    block: str, request_text: str, edits: list[tuple[int, int, str]] | None
) -> None:
    found = block_edits(block, FILE, ".py", request_text)
    assert found == (None if edits is None else tuple(LineEdit(*one) for one in edits))


IMPORTING = "import os\nfrom users import fetch\n\n\ndef f():\n    return fetch(os)\n"


@pytest.mark.parametrize(
    ("head", "body", "edited"),
    [
        pytest.param(
            "from users import load\n",
            "return load(os)",
            "import os\nfrom users import load\n",
            id="an import takes the place of one that is no longer used",
        ),
        pytest.param(
            "from users import load\n",
            "return load(fetch(os))",
            "import os\nfrom users import fetch\nfrom users import load\n",
            id="an import that is still used stays",
        ),
        pytest.param(
            "import json\n",
            "return json.dumps(fetch)",
            "import os\nfrom users import fetch\nimport json\n",
            id="another import is added",
        ),
    ],
)
def test_imports_of_a_block_are_merged(head: str, body: str, edited: str) -> None:
    block = f"{head}\n\ndef f():\n    {body}\n"
    lines = IMPORTING.splitlines(keepends=True)
    for one in block_edits(block, IMPORTING, ".py") or ():
        lines[one.first - 1 : one.last] = [one.text]
    assert "".join(lines) == f"{edited}\n\ndef f():\n    {body}\n"


INNER = '''\
import os


def f(n):
    """Round."""
    import math
    from json import dumps as text
    n = n + 1
    return text(math.ceil(n))
'''


@pytest.mark.parametrize(
    ("body", "edited"),
    [
        pytest.param(
            "    return text(math.ceil(n))\n",
            "    import math\n    from json import dumps as text\n    return text(math.ceil(n))\n",
            id="both are still used",
        ),
        pytest.param("    return -(-n // 1)\n", "    return -(-n // 1)\n", id="none is used"),
        pytest.param(
            "    import math\n    return math.ceil(n)\n",
            "    import math\n    return math.ceil(n)\n",
            id="the block has it",
        ),
    ],
)
def test_import_inside_a_function_stays_while_it_is_used(body: str, edited: str) -> None:
    head = 'def f(n):\n    """Round."""\n'
    lines = INNER.splitlines(keepends=True)
    for one in block_edits(head + body, INNER, ".py") or ():
        lines[one.first - 1 : one.last] = [one.text]
    assert "".join(lines) == f"import os\n\n\n{head}{edited}"


NOTE = "# Weather\n\nIt shows the wether of today.\n\n## Usage\n\nRun it.\n"


@pytest.mark.parametrize(
    ("block", "edits"),
    [
        ("It shows the weather of today.\n", [(3, 3, "It shows the weather of today.\n")]),
        (NOTE.replace("wether", "weather"), [(1, 7, NOTE.replace("wether", "weather"))]),
        ("Something else altogether, such as a poem.\n", None),
    ],
)
def test_block_of_prose_replaces_the_paragraph_that_it_resembles(
    block: str, edits: list[tuple[int, int, str]] | None
) -> None:
    found = block_edits(block, NOTE, ".md")
    assert found == (None if edits is None else tuple(LineEdit(*one) for one in edits))


def test_new_function_is_added_at_the_end_if_one_may_be_added() -> None:
    block = "import math\n\ndef root(n):\n    return math.sqrt(n)\n"
    found = block_edits(block, FILE, ".py", "Add root()")
    added = "\n\ndef root(n):\n    return math.sqrt(n)\n"
    assert found == (LineEdit(21, 20, added), LineEdit(2, 1, "\nimport math\n"))


@pytest.mark.parametrize(
    ("request_text", "functions"),
    [
        ("page() is wrong", ["page"]),
        ("half() is wrong", ["half"]),
        ("Fix the `total` of the cart", ["total"]),
        ("The numbers are wrong", ["half", "total", "page"]),
        ("What is wrong with SIZE?", ["half", "total", "page"]),
    ],
)
def test_functions_that_the_request_does_not_mean_stay_as_they_are(
    request_text: str, functions: list[str]
) -> None:
    changes = {
        "half": ("n // 2", "n / 2"),
        "total": ("sum(", "max("),
        "page": ("n // SIZE", "n % SIZE"),
    }
    block = expected = FILE
    for name, (old, new) in changes.items():
        block = block.replace(old, new)
        expected = expected.replace(old, new) if name in functions else expected
    [edit] = block_edits(block, FILE, ".py", request_text) or ()
    assert edit.text == expected


def test_code_of_another_language_is_found_by_its_functions() -> None:
    file = "function low(a) {\n  return a;\n}\n\nfunction high(a) {\n  return low(a);\n}\n"
    block = "function high(a) {\n  return -low(a);\n}\n"
    assert block_edits(block, file, ".js") == (LineEdit(5, 7, block),)


@pytest.mark.parametrize(
    ("answer", "blocks"),
    [
        ("Sure:\n```py\nx = 1\n```\nDone.", [("x = 1\n", "")]),
        (
            "In `src/a.py`:\n\n```\nx\n```\n\nb.py:\n```\ny\n```\n",
            [("x\n", "src/a.py"), ("y\n", "b.py")],
        ),
        ("```python title=lib/c.py\nx\n```", [("x\n", "lib/c.py")]),
        ("1. This\n   ```py\n   x\n     y\n   ```\n", [("x\n  y\n", "")]),
        ("```py\nx = 1\n", [("x = 1\n", "")]),
        ("No block, only `code`.", []),
    ],
)
def test_blocks_of_an_answer(answer: str, blocks: list[tuple[str, str]]) -> None:
    assert [(one.text, one.path) for one in code_blocks(answer)] == blocks


LINES = st.lists(
    st.sampled_from(
        ["def a():", "    x", "class B:", "    def c(self):", "", "import m", "# ...", "y"]
    )
)


@given(
    LINES,
    LINES,
    st.sampled_from([".py", ".js", ".md", ""]),
    st.sampled_from(["", "Add a()", "fix `c`"]),
)
def test_edits_are_within_the_file_and_disjoint(
    block: list[str], file: list[str], ending: str, request: str
) -> None:
    text = "\n".join(file)
    edits = block_edits("\n".join(block), text, ending, request)
    n_lines, limit = len(text.split("\n")), None
    for edit in edits or ():
        assert 1 <= edit.first <= edit.last + 1 <= n_lines + 1
        assert limit is None or edit.last < limit
        limit = edit.first


def test_dataclass_replaces_the_class_whose_constructor_it_generates() -> None:
    new = (
        "@dataclass\nclass Cart:\n    items: list\n\n    def total(self):\n"
        "        return sum(self.items)\n"
    )
    imports = "from dataclasses import dataclass\n"
    assert block_edits(f"{imports}\n\n{new}", FILE, ".py", "Make Cart a dataclass.") == (
        LineEdit(11, 16, new),
        LineEdit(2, 1, f"\n{imports}"),
    )
    without = new.replace("@dataclass\n", "")
    edits = block_edits(without, FILE, ".py", "Sum the items.")
    assert edits == ()
