"""`ai-edit` blocks found by their shape: what is one, what is not, and what hostile notes cost."""

import json
from textwrap import indent
from time import thread_time

import pytest

from stet.text.document import TextDocument
from stet.text.lines import split_lines
from stet.text.stripped_document import MAX_BLOCKS, find_imported, imported_at, strip_blocks


def block(before: str = "old", after: str = "new", **other: object) -> str:
    """A block as the plugin writes it."""
    fields = {"id": "abc", "type": "replace", "before": before, "after": after, **other}
    return f"```ai-edit\n{json.dumps(fields)}\n```\n#ai_edit\n"


def found(text: str) -> list[tuple[str, str]]:
    """Return the old and the new text of the blocks of a note."""
    return [(one.before, one.after) for one in find_imported(split_lines(text)).blocks]


@pytest.mark.parametrize(
    "text",
    [
        block(),
        f"---\nkey: |\n  ```\n---\n{block()}",
        block().replace("#ai_edit\n", ""),
        block().replace("#ai_edit", "\n#ai_edit"),
        block().replace("```", "`````"),
        block().replace("```\n#", "```   \n#"),
        block(more=1),
        json.dumps(block())[1:1] + block().replace(", ", ",\n  "),
        f"```\ncode\n```\n{block()}",
        f"    ```\n{block()}",
        f"a ``` b\n{block()}",
        block().removesuffix("\n"),
    ],
)
def test_these_are_blocks(text: str) -> None:
    end = "\n" if text.endswith("\n") else ""
    assert found(text) == [(f"old{end}", f"new{end}")]
    assert not find_imported(split_lines(text)).bad


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (block(id=1), "'id' must be a string"),
        (block(id=""), "'id' must have 1 to 200 characters"),
        (block(id="x" * 201), "'id' must have 1 to 200 characters"),
        (block(type="move"), "'type' must be add, delete or replace"),
        (block(after="\0"), "it contains a character that is not valid in a text file"),
        (block(after="\ud83d"), "it contains a character that is not valid in a text file"),
        (block(after="x" * 3_000_000), "it contains more than 2,000,000 characters"),
        ("```ai-edit\n[1]\n```\n", "its content is not a JSON object"),
        (f"```ai-edit\n{'[' * 100_000}\n```\n", "its content is not valid JSON"),
        ("```ai-edit\n```\n", "its content is not valid JSON"),
        (block().replace("```\n#ai_edit\n", ""), "it has no closing fence"),
        (block().replace("```", "~~~"), "its first line must be ```ai-edit and nothing else"),
        (block().replace("-edit\n", "-edit x\n"), "its first line must be ```ai-edit and nothing"),
        (f"  {block()}", "its first line must be ```ai-edit and nothing else"),
        (indent(block(), "  "), "its first line must be ```ai-edit and nothing else"),
        (f"~~~ai-edit\n{block()}~~~\n", "its first line must be ```ai-edit and nothing else"),
    ],
)
def test_these_are_reported_and_left_alone(text: str, problem: str) -> None:
    found = find_imported(split_lines(f"above\n{text}"))
    assert not found.blocks
    [bad] = found.bad
    assert bad.line == 1
    assert bad.problem.startswith(problem)
    assert strip_blocks(TextDocument("file:///a.md", text), ()) is None


@pytest.mark.parametrize(
    "text",
    [
        f"````\n{block()}````\n",
        f"~~~md\n{block()}~~~\n",
        f"- an item\n\n  ````\n{indent(block(), '  ')}  ````\n",
        f"````\n{block()}",
        "ai-edit\n",
    ],
)
def test_an_example_in_another_fence_is_neither(text: str) -> None:
    found = find_imported(split_lines(text))
    assert (found.blocks, found.bad) == ((), ())


def test_only_notes_have_blocks_and_their_text_is_read_past_them() -> None:
    text = f"a\n{block()}b\n{block('', 'more', type='add')}c\n"
    stripped = strip_blocks(TextDocument("file:///a.md", text), ())
    assert stripped is not None
    assert stripped.plain.text == "a\nold\nb\nc\n"
    assert [stripped.to_real_lines(line, line + 1) for line in range(4)] == [
        (0, 1), None, (5, 6), (10, 11),
    ]  # fmt: skip
    assert stripped.to_real_lines(2, 4) is None
    assert strip_blocks(TextDocument("file:///a.py", text), ()) is None


def test_there_are_so_many_and_no_more() -> None:
    found = find_imported(split_lines(block() * (MAX_BLOCKS + 5)))
    assert len(found.blocks) == MAX_BLOCKS
    assert len(found.bad) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["```ai-edit\n", "````ai-edit\n```\n", "`" * 50 + "\n", "~~~\n````\n", "```ai-edit\n{}\n```\n"],
)
def test_hostile_notes_cost_no_more_than_their_length(piece: str) -> None:
    lines = split_lines(piece * (1_000_000 // len(piece)))
    began = thread_time()
    _ = find_imported(lines)
    _ = imported_at(lines, ("abc",), 0, len(lines))
    assert thread_time() - began < 5
