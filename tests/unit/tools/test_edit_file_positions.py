"""What positions of one answer come to, in texts that are not the plain case."""

import pytest

from stet.tools.edit_file import EditFile, run_batch
from stet.tools.read_file import READ_FILE
from tests.support.agent_harness import make_tool_context, use
from tests.support.workspaces import make_workspace

URI = "file:///ws/a.py"
CODE = "def f():\n    return 1\nx = 1\n"
COUNTED = "     1\tone\n     2\ttwo\n"


async def after(text: str, *edits: tuple[str, str]) -> str:
    """`text` with the edits, position and content, of one answer accepted."""
    ctx = make_tool_context(make_workspace(opened={"/ws/a.py": text}))
    await use(READ_FILE, ctx, file="a.py")
    calls = [
        EditFile(file="a.py", position=position, content=content) for position, content in edits
    ]
    outcomes = await run_batch(calls, ctx)
    assert all(isinstance(outcome, str) for outcome in outcomes), outcomes
    document = ctx.reader.workspace.document(URI)
    assert document is not None
    ids = [hunk.id for hunk in ctx.reader.ledger.live(URI)]
    return ctx.reader.ledger.edit_of(document, ids).apply(text)


@pytest.mark.parametrize(
    ("position", "content", "expected"),
    [
        (
            "replace:1-2",
            "     1\tdef f():\n     2\t    return 2",
            "def f():\n    return 2\nx = 1\n",
        ),
        ("replace:2", "     2\t    return 2\n", "def f():\n    return 2\nx = 1\n"),
        ("replace:3", "     3\t", "def f():\n    return 1\n\n"),
        (
            "insert:3",
            "     3\ty = 2\r\n     4\tz = 1",
            "def f():\n    return 1\ny = 2\nz = 1\nx = 1\n",
        ),
        ("start", "     1\timport os", "import os\n" + CODE),
        ("end", "     4\ty = 2", CODE + "y = 2\n"),
    ],
)
async def test_line_numbers_that_were_copied_are_no_part_of_the_text(
    position: str, content: str, expected: str
) -> None:
    assert await after(CODE, (position, content)) == expected


@pytest.mark.parametrize(
    ("text", "position", "content"),
    [
        pytest.param(CODE, "insert:1", "     1\ta\nb", id="not all lines"),
        pytest.param(CODE, "insert:1", "     1\ta\n     3\tb", id="not consecutive"),
        pytest.param(CODE, "insert:1", "     7\ta\n     8\tb", id="not of that place"),
        pytest.param(CODE, "insert:1", "1\ta\n2\tb", id="a table"),
        pytest.param(COUNTED, "insert:1", "     1\ta\n", id="a text with numbers, above"),
        pytest.param(COUNTED, "insert:3", "     3\tthree\n", id="a text with numbers, below"),
    ],
)
async def test_what_only_looks_like_line_numbers_is_text(
    text: str, position: str, content: str
) -> None:
    lines = text.splitlines(keepends=True)
    line = int(position.partition(":")[2]) - 1
    expected = "".join([*lines[:line], content.removesuffix("\n") + "\n", *lines[line:]])
    assert await after(text, (position, content)) == expected


@pytest.mark.parametrize("final", ["", "\n"])
@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([("end", "X"), ("insert:3", "Y")], "a\nb\nX\nY"),
        ([("insert:3", "Y"), ("end", "X")], "a\nb\nY\nX"),
        ([("insert:3", "X"), ("insert:3", "Y")], "a\nb\nX\nY"),
        ([("insert:3", "Y"), ("insert:3", "b")], "a\nb\nY\nb"),
        ([("insert:2", "Y"), ("insert:2", "a")], "a\nY\na\nb"),
        ([("replace:2", "B"), ("insert:3", "Y")], "a\nB\nY"),
        ([("insert:3", "Y"), ("replace:2", "B")], "a\nB\nY"),
        ([("replace:1-2", "A"), ("insert:3", "Y")], "A\nY"),
        ([("replace:1", "A"), ("insert:3", "Y"), ("end", "Z")], "A\nb\nY\nZ"),
        ([("delete:1", ""), ("insert:3", "X"), ("insert:3", "Y")], "b\nX\nY"),
    ],
)
async def test_lines_inserted_at_one_place_keep_their_order_with_or_without_a_final_line_end(
    edits: list[tuple[str, str]], expected: str, final: str
) -> None:
    assert await after(f"a\nb{final}", *edits) == expected + final


@pytest.mark.parametrize(
    ("text", "edits", "expected"),
    [
        ("one\ntwo\n", [("start", "zero")], "zero\none\ntwo\n"),
        ("one\ntwo\n", [("insert:1", "zero")], "zero\none\ntwo\n"),
        ("one\ntwo\n", [("replace:1", "ONE")], "ONE\ntwo\n"),
        ("one\ntwo\n", [("replace:1", "\ufeffONE")], "ONE\ntwo\n"),
        ("one\ntwo\n", [("replace:1", "     1\t\ufeffONE")], "ONE\ntwo\n"),
        ("one\ntwo\n", [("delete:1", "")], "two\n"),
        ("one\ntwo\n", [("delete:1-2", "")], ""),
        ("one\ntwo\n", [("end", "\ufeffthree")], "one\ntwo\nthree\n"),
        (
            "one\ntwo\n",
            [("insert:1", "X"), ("insert:1", "one"), ("start", "Z")],
            "X\none\nZ\none\ntwo\n",
        ),
        ("one\ntwo\n", [("replace:1", "ONE"), ("insert:1", "X")], "X\nONE\ntwo\n"),
        ("one\ntwo\n", [("delete:1", ""), ("replace:2", "TWO")], "TWO\n"),
        ("one", [("insert:2", "X"), ("end", "Y"), ("start", "Z")], "Z\none\nX\nY"),
        ("", [("end", "X")], "X\n"),
        ("", [("start", "X")], "X\n"),
        ("---\nt: 1\n---\na\n", [("start", "X")], "---\nt: 1\n---\nX\na\n"),
        ("# A\nb\n", [("after:# A", "X")], "# A\nX\nb\n"),
    ],
)
async def test_a_byte_order_mark_stays_the_first_character(
    text: str, edits: list[tuple[str, str]], expected: str
) -> None:
    assert await after(f"\ufeff{text}", *edits) == f"\ufeff{expected}"


async def test_line_added_after_a_single_line_with_a_byte_order_mark_is_separate() -> None:
    with pytest.raises(AssertionError, match="overlap"):
        await after("\ufeffone", ("delete:1", ""), ("end", "X"))
